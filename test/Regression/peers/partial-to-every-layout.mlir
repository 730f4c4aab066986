// RUN: shard-run %s --check --rtol=0 --atol=0
// The last result has sizes for two ranks, so that the mesh is as in the file.
// Elsewhere (xla 40034) a value that was still to be summed became a mixed layout with wrong numbers.
spmd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<6x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>},
                %b: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<6x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>}, tensor<6x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
        tensor<6x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<6x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"y"}, {"x"}]>},
        tensor<6x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"y", "x"}, {}]>}, tensor<6x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x" sizes [3, 1]}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
  return %0, %0, %0, %0, %0, %0 : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
}
