// RUN: shard-opt %s --spmd-lower-to-linalg --canonicalize | FileCheck %s

// Windows of more than 32 places are looked at one after another.

// Windows are one image and one channel: which ones is said by the window, and
// is not carried along. Only the place in a line is.
// CHECK-LABEL: func.func @pooling_gradient(
//       CHECK:   scf.for %[[IMAGE:[a-z0-9]+]] = %{{.*}} to %c2{{.*}} step
//       CHECK:     scf.for %[[CHANNEL:[a-z0-9]+]] = %{{.*}} to %c3{{.*}} step
//       CHECK:       %{{.*}}:3 = scf.for {{.*}} -> (i1, f32, index)
//       CHECK:         tensor.extract %{{.*}}[%[[IMAGE]], %[[CHANNEL]], %{{.*}}]
//       CHECK:       tensor.insert %{{.*}} into %{{.*}}[%[[IMAGE]], %[[CHANNEL]], %{{.*}}]
func.func @pooling_gradient(%x: tensor<2x3x160xf32>, %dy: tensor<2x3x4xf32>) -> tensor<2x3x160xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %dy, %zero) <{window_dimensions = array<i64: 1, 1, 40>, window_strides = array<i64: 1, 1, 40>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %more = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<2x3x160xf32>, tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x160xf32>
  return %0 : tensor<2x3x160xf32>
}

// Padding is a place that has to be looked for, even if a window is one element.
// CHECK-LABEL: func.func @padded(
//       CHECK:   %{{.*}}:4 = scf.for {{.*}} -> (i1, f32, index, index)
func.func @padded(%x: tensor<3x160xf32>, %dy: tensor<4x4xf32>) -> tensor<3x160xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %dy, %zero) <{padding = dense<[[1, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 40>, window_strides = array<i64: 1, 40>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %more = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<3x160xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<3x160xf32>
  return %0 : tensor<3x160xf32>
}
