// Two rows on three ranks: products of rows, a sum over all ranks, and an
// exchange of rows.
sdy.mesh @mesh = <["x"=3]>
func.func @main(%a: tensor<2x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<6x5xf32>)
    -> (tensor<2x5xf32>, tensor<f32>, tensor<2x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %product = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x6xf32>, tensor<6x5xf32>) -> tensor<2x5xf32>
  %sum = stablehlo.reduce(%product init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x5xf32>, tensor<f32>) -> tensor<f32>
  %reversed = stablehlo.reverse %a, dims = [0] : tensor<2x6xf32>
  return %product, %sum, %reversed : tensor<2x5xf32>, tensor<f32>, tensor<2x6xf32>
}
