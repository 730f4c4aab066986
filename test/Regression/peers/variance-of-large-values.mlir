// RUN: shard-run %s --check --rtol=1e-4 --atol=1e-4
// RUN: shard-run %s --check --rtol=1e-4 --atol=1e-4 --sizes=0:1=9,0,6,1
// RUN: shard-run %s --input=2x16xf32=1001,999,1001,999,1001,999,1001,999,1001,999,1001,999,1001,999,1001,999,1002,998,1002,998,1002,998,1002,998,1002,998,1002,998,1002,998,1002,998 | FileCheck %s
// Group normalisation whose batch and whose space are cut. Elsewhere (ShardTensor) a cut batch was normalised as one, and
// the variance came from E[x²] - E[x]², which cancels where the mean is 1000.
// CHECK: 1 4
spmd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<2x16xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<2xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<16.0> : tensor<2xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x16xf32>, tensor<f32>) -> tensor<2xf32>
  %mean = stablehlo.divide %s, %n : tensor<2xf32>
  %b = stablehlo.broadcast_in_dim %mean, dims = [0] : (tensor<2xf32>) -> tensor<2x16xf32>
  %d = stablehlo.subtract %a, %b : tensor<2x16xf32>
  %q = stablehlo.multiply %d, %d : tensor<2x16xf32>
  %t = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x16xf32>, tensor<f32>) -> tensor<2xf32>
  %0 = stablehlo.divide %t, %n : tensor<2xf32>
  return %0 : tensor<2xf32>
}
