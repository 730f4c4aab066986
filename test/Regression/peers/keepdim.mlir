// RUN: shard-run %s --check --rtol=0 --atol=0
// RUN: shard-run %s --check --rtol=0 --atol=0 --mesh=x=3,y=2
// RUN: shard-run %s --check --rtol=0 --atol=0 --sizes=0:0=5,1
// Elsewhere (ShardTensor) sums that keep the reduced dim, as one element, had wrong shapes or sums.
spmd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<6x5xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<1x5xf32>, tensor<6x5xf32>, tensor<1x1xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<6x5xf32>, tensor<f32>) -> tensor<5xf32>
  %0 = stablehlo.reshape %s : (tensor<5xf32>) -> tensor<1x5xf32>
  %b = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x5xf32>) -> tensor<6x5xf32>
  %1 = stablehlo.subtract %a, %b : tensor<6x5xf32>
  %t = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1x5xf32>, tensor<f32>) -> tensor<1xf32>
  %2 = stablehlo.reshape %t : (tensor<1xf32>) -> tensor<1x1xf32>
  return %0, %1, %2 : tensor<1x5xf32>, tensor<6x5xf32>, tensor<1x1xf32>
}
