// RUN: shard-run %s --check --rtol=0 --atol=0
// Elsewhere (pytorch 172812, 179502) views of uneven shards held other numbers.
spmd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<12x5xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [5, 0, 4, 3]}, {}]>},
                %b: tensor<3x7x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x" sizes [1, 3, 0, 3]}, {}]>})
    -> (tensor<4x3x5xf32>, tensor<60xf32>, tensor<6x10xf32>, tensor<21x4xf32>, tensor<3x28xf32>, tensor<7x12xf32>) {
  %0 = stablehlo.reshape %a : (tensor<12x5xf32>) -> tensor<4x3x5xf32>
  %1 = stablehlo.reshape %a : (tensor<12x5xf32>) -> tensor<60xf32>
  %2 = stablehlo.reshape %a : (tensor<12x5xf32>) -> tensor<6x10xf32>
  %3 = stablehlo.reshape %b : (tensor<3x7x4xf32>) -> tensor<21x4xf32>
  %4 = stablehlo.reshape %b : (tensor<3x7x4xf32>) -> tensor<3x28xf32>
  %5 = stablehlo.reshape %b : (tensor<3x7x4xf32>) -> tensor<7x12xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<4x3x5xf32>, tensor<60xf32>, tensor<6x10xf32>, tensor<21x4xf32>, tensor<3x28xf32>, tensor<7x12xf32>
}
