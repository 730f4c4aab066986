// RUN: shard-run %s --check
// RUN: shard-run %s --check=interpreter --mesh=x=2
// Rows of no elements, as argwhere of a scalar joins them; and a part of no rows beside others.
sdy.mesh @mesh = <["x"=3]>
func.func @main(%x: tensor<1x0xi32>, %y: tensor<2x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %z: tensor<0x3xf32>)
    -> (tensor<2x0xi32>, tensor<2x3xf32>) {
  %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<1x0xi32>, tensor<1x0xi32>) -> tensor<2x0xi32>
  %1 = stablehlo.concatenate %z, %y, dim = 0 : (tensor<0x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x0xi32>, tensor<2x3xf32>
}
