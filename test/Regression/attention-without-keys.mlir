// RUN: %npz write %t.npz 'in0=<f4:3x2:1,2,3,4,5,6' 'in1=<f4:0x2:' 'out0=<f4:3x2:0'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --no-raise
// Without keys there are no probabilities, and the sum of no products is 0; raised, it was divided by a sum of no exponentials:
// NaN (program 398 of `--empty`, seed 81002).
spmd.mesh @mesh = <["x"=2]>
func.func @main(%q: tensor<3x2xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [2, 1]}, {}]>}, %k: tensor<0x2xf32>)
    -> (tensor<3x2xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [2, 1]}, {}]>}) {
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %score = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<3x2xf32>, tensor<0x2xf32>) -> tensor<3x0xf32>
  %max = stablehlo.reduce(%score init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<3x0xf32>, tensor<f32>) -> tensor<3xf32>
  %maxes = stablehlo.broadcast_in_dim %max, dims = [0] : (tensor<3xf32>) -> tensor<3x0xf32>
  %less = stablehlo.subtract %score, %maxes : tensor<3x0xf32>
  %exp = stablehlo.exponential %less : tensor<3x0xf32>
  %sum = stablehlo.reduce(%exp init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<3x0xf32>, tensor<f32>) -> tensor<3xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<3xf32>) -> tensor<3x0xf32>
  %p = stablehlo.divide %exp, %sums : tensor<3x0xf32>
  %out = stablehlo.dot_general %p, %k, contracting_dims = [1] x [0] : (tensor<3x0xf32>, tensor<0x2xf32>) -> tensor<3x2xf32>
  return %out : tensor<3x2xf32>
}
