// RUN: shard-opt %s --split-input-file --spmd-expand-checks | FileCheck %s

// A file's only function is run, if it checks something.
// CHECK-LABEL: func.func @main(
func.func @any_name() {
  %0 = stablehlo.constant dense<true> : tensor<i1>
  check.expect_eq_const %0, dense<true> : tensor<i1>
  return
}

// -----

// CHECK-LABEL: func.func @within(
//  CHECK-SAME:   %[[A:.*]]: tensor<3xf32>, %[[B:.*]]: tensor<3xf32>
func.func @within(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<i1> {
  // CHECK: stablehlo.compare EQ, %[[A]], %[[B]]
  // CHECK: stablehlo.compare LE
  // CHECK: stablehlo.reduce
  %0 = stablehlo.custom_call @check.eq(%a, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<i1>
  return %0 : tensor<i1>
}
