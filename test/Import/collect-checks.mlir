// RUN: shard-opt %s --spmd-expand-checks --spmd-collect-checks | FileCheck %s

// CHECK: func.func @main() -> (tensor<2xf32> {spmd.check = #spmd.check<kind = almost_eq, tolerance = 1.000000e-03 : f64>, spmd.name = "check.expect_almost_eq at {{[^"]*}}collect-checks.mlir:{{[0-9]+}}"},
// CHECK-SAME: tensor<2xf32> {spmd.check = #spmd.check<kind = expected>
// CHECK-SAME: tensor<2xf32> {spmd.check = #spmd.check<kind = eq>
// CHECK-SAME: tensor<2xf32> {spmd.check = #spmd.check<kind = close, max_ulps = 3>
// CHECK-SAME: tensor<2xf32> {spmd.check = #spmd.check<kind = close, min_ulps = 18446744073709551615, max_ulps = 18446744073709551615>
func.func @main() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: %[[A:.*]] = stablehlo.add
  %1 = stablehlo.add %0, %0 : tensor<2xf32>
  stablehlo.custom_call @check.expect_almost_eq(%1, %0) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  // CHECK: %[[C:.*]] = stablehlo.constant dense<[2.000000e+00, 4.000000e+00]>
  check.expect_eq_const %1, dense<[2.0, 4.0]> : tensor<2xf32>
  check.expect_close %1, %0 : tensor<2xf32>, tensor<2xf32>
  // As far apart as a NaN is from a number.
  check.expect_close %1, %0, max_ulp_difference = 18446744073709551615, min_ulp_difference = 18446744073709551615 : tensor<2xf32>, tensor<2xf32>
  // CHECK-NOT: check.
  // CHECK: return %[[A]], %{{.*}}, %[[A]], %[[C]], %[[A]]
  return
}
