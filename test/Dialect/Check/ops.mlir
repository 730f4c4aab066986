// RUN: shard-opt %s | shard-opt | FileCheck %s
// RUN: shard-opt %s --mlir-print-op-generic | shard-opt | FileCheck %s

// CHECK-LABEL: func.func @expectations(
//  CHECK-SAME:   %[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<2xf32>
func.func @expectations(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<i1> {
  // CHECK: check.expect_eq %[[A]], %[[B]] : tensor<2xf32>
  check.expect_eq %a, %b : tensor<2xf32>
  // CHECK: check.expect_eq_const %[[A]], dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  check.expect_eq_const %a, dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: check.expect_almost_eq %[[A]], %[[B]] : tensor<2xf32>
  check.expect_almost_eq %a, %b : tensor<2xf32>
  // CHECK: check.expect_almost_eq_const %[[A]], dense<1.000000e+00> : tensor<2xf32> {tolerance = 1.000000e-01 : f64}
  check.expect_almost_eq_const %a, dense<1.0> : tensor<2xf32> {tolerance = 0.1 : f64}
  // CHECK: check.expect_close %[[A]], %[[B]]
  // CHECK-SAME: : tensor<2xf32>, tensor<2xf32>
  check.expect_close %a, %b, max_ulp_difference = 3, min_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  // CHECK: check.eq %[[A]], %[[B]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<i1>
  %0 = check.eq %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<i1>
  return %0 : tensor<i1>
}
