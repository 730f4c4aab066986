// RUN: shard-run %s --check --rtol=0 --atol=0
// RUN: shard-run %s --check --rtol=0 --atol=0 --ranks=3
// RUN: shard-run %s --check --rtol=0 --atol=0 --ranks=8
// RUN: shard-run %s --input=8xf32=8,0,0,0,0,0,0,0 --sizes=0:0=1,2,5,0 | FileCheck %s
// Elsewhere (pytorch 163241, mean losses of ShardTensor) the mean of uneven shards was the mean of their means.
// CHECK: 1
spmd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<8.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.divide %0, %n : tensor<f32>
  return %1 : tensor<f32>
}
