// Two sums that start from one constant: each needs a buffer of its own. CSE makes one
// of the fills, and the second sum once came out as the first.
// RUN: %npz write %t.npz 'in0=<f4:4x6:1' 'out0=<f4:4:6' 'out1=<f4:4:-6'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz
func.func public @main(%a: tensor<4x6xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %minus = stablehlo.negate %a : tensor<4x6xf32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.reduce(%minus init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
