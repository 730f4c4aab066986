// RUN: shard-opt %s --pass-pipeline="builtin.module(func.func(spmd-drop-unit-sums))" | FileCheck %s

// The gradient of a broadcast: what is summed over rows is not summed over a dim of one element again.
// CHECK-LABEL: func.func @broadcast_gradient
//       CHECK:   %[[SUM:.*]] = stablehlo.reduce
//   CHECK-NOT:   stablehlo.reduce
//       CHECK:   return %[[SUM]]
func.func @broadcast_gradient(%x: tensor<8x4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = stablehlo.reshape %a : (tensor<4xf32>) -> tensor<1x4xf32>
  %c = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// What is no sum may be -0, which a sum from +0 is not.
// CHECK-LABEL: func.func @no_sum
//       CHECK:   stablehlo.reduce
func.func @no_sum(%x: tensor<1x4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %c = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// Nor is one that starts from -0, or from another number; and the largest is no sum.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-6: stablehlo.reduce
func.func @others(%x: tensor<8x4xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %minus = stablehlo.constant dense<-0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %a = stablehlo.reduce(%x init: %minus) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %b = stablehlo.reshape %a : (tensor<f32>) -> tensor<1xf32>
  %c = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<f32>
  %d = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %e = stablehlo.reshape %d : (tensor<f32>) -> tensor<1xf32>
  %f = stablehlo.reduce(%e init: %one) applies stablehlo.add across dimensions = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %h = stablehlo.reshape %g : (tensor<f32>) -> tensor<1xf32>
  %i = stablehlo.reduce(%h init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<f32>
  return %c, %f, %i : tensor<f32>, tensor<f32>, tensor<f32>
}

// A dim of two elements is summed.
// CHECK-LABEL: func.func @two
// CHECK-COUNT-2: stablehlo.reduce
func.func @two(%x: tensor<8x4x2xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %c = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}
