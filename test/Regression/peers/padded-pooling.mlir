// RUN: shard-run %s --check --rtol=0 --atol=0
// RUN: shard-run %s --check --rtol=0 --atol=0 --ranks=3
// RUN: shard-run %s --check --rtol=0 --atol=0 --sizes=0:1=3,5
// RUN: shard-run %s --input=1x8xf32=-1,-2,-3,-4,-5,-6,-7,-8 | FileCheck %s
// Elsewhere (ShardTensor) the padding of a pooling was put around every shard.
// CHECK: -1 -2 -4 -6 -8
spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<1x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<1x5xf32>, tensor<1x4xf32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %low) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %r = stablehlo.maximum %p, %q : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) : (tensor<1x8xf32>, tensor<f32>) -> tensor<1x5xf32>
  %1 = "stablehlo.reduce_window"(%a, %zero) <{window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %r = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) : (tensor<1x8xf32>, tensor<f32>) -> tensor<1x4xf32>
  return %0, %1 : tensor<1x5xf32>, tensor<1x4xf32>
}
