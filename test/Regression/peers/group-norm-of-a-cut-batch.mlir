// RUN: shard-run %s --check --rtol=1e-5 --atol=1e-6
// RUN: shard-run %s --check --rtol=1e-5 --atol=1e-6 --mesh=x=3,y=2
// RUN: shard-run %s --check --rtol=1e-5 --atol=1e-6 --sizes=0:0=4,0 --sizes=0:2=1,6
// Elsewhere (ShardTensor) statistics were taken over the whole batch where it was cut.
spmd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<4x6x7xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}, {"y"}]>}) -> tensor<4x6x7xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<21.0> : tensor<4x2xf32>
  %eps = stablehlo.constant dense<1.0e-5> : tensor<4x2xf32>
  %g = stablehlo.reshape %a : (tensor<4x6x7xf32>) -> tensor<4x2x3x7xf32>
  %s = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [2, 3] : (tensor<4x2x3x7xf32>, tensor<f32>) -> tensor<4x2xf32>
  %mean = stablehlo.divide %s, %n : tensor<4x2xf32>
  %b = stablehlo.broadcast_in_dim %mean, dims = [0, 1] : (tensor<4x2xf32>) -> tensor<4x2x3x7xf32>
  %d = stablehlo.subtract %g, %b : tensor<4x2x3x7xf32>
  %q = stablehlo.multiply %d, %d : tensor<4x2x3x7xf32>
  %t = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [2, 3] : (tensor<4x2x3x7xf32>, tensor<f32>) -> tensor<4x2xf32>
  %v = stablehlo.divide %t, %n : tensor<4x2xf32>
  %e = stablehlo.add %v, %eps : tensor<4x2xf32>
  %r = stablehlo.rsqrt %e : tensor<4x2xf32>
  %rb = stablehlo.broadcast_in_dim %r, dims = [0, 1] : (tensor<4x2xf32>) -> tensor<4x2x3x7xf32>
  %m = stablehlo.multiply %d, %rb : tensor<4x2x3x7xf32>
  %0 = stablehlo.reshape %m : (tensor<4x2x3x7xf32>) -> tensor<4x6x7xf32>
  return %0 : tensor<4x6x7xf32>
}
