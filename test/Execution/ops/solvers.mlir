// [[4, 2], [2, 5]] = L Lt with L = [[2, 0], [1, 2]]; and L x = [2, 5] for x = [1, 2].
// RUN: %npz write %t.npz 'in0=<f4:2x2:4,2,2,5' 'in1=<f4:2x1:2,5' 'out0=<f4:2x2:2,0,1,2' 'out1=<f4:2x1:1,2' \
// RUN:   'out2=<f4:2x2:2,1,0,2'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz
func.func public @main(%a: tensor<2x2xf32>, %b: tensor<2x1xf32>)
    -> (tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x2xf32>) {
  %0 = stablehlo.cholesky %a, lower = true : tensor<2x2xf32>
  %1 = "stablehlo.triangular_solve"(%0, %b) <{left_side = true, lower = true, unit_diagonal = false,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  %2 = stablehlo.cholesky %a, lower = false : tensor<2x2xf32>
  return %0, %1, %2 : tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x2xf32>
}
