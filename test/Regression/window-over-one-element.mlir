// A window that is longer than its dim of one element, in front of which another
// dim has one element too: the row that is taken out of the dim lost the wrong
// of both, and what was written behind the result's end.
//
// RUN: shard-run %s --check=interpreter 2>&1 | FileCheck %s
// CHECK: output 0: f32 [1, 3, 1, 3] as interpreter: bitwise equal
// CHECK: output 1: f32 [1, 1, 2, 5] as interpreter: bitwise equal
func.func @main(%x: tensor<1x3x1x3xf32>, %y: tensor<1x1x2x5xf32>) -> (tensor<1x3x1x3xf32>, tensor<1x1x2x5xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 1, 3, 1>, padding = dense<[[0, 0], [0, 0], [2, 0], [0, 0]]> : tensor<4x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<1x3x1x3xf32>, tensor<f32>) -> tensor<1x3x1x3xf32>
  %1 = "stablehlo.reduce_window"(%y, %zero) <{window_dimensions = array<i64: 1, 4, 1, 1>, padding = dense<[[0, 0], [3, 0], [0, 0], [0, 0]]> : tensor<4x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<1x1x2x5xf32>, tensor<f32>) -> tensor<1x1x2x5xf32>
  return %0, %1 : tensor<1x3x1x3xf32>, tensor<1x1x2x5xf32>
}
