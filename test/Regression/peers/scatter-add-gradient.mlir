// RUN: shard-run %s --check --rtol=0 --atol=0
// RUN: shard-run %s --check --rtol=0 --atol=0 --mesh=x=3,y=2
// RUN: shard-run %s --check --rtol=0 --atol=0 --mesh=x=1,y=4
// Elsewhere (xla 42481) the gradient of an embedding on several axes was reduced along the wrong ones.
spmd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%table: tensor<9x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"y"}]>},
                %rows: tensor<8x1xi32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %gradient: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<9x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"y"}]>}, tensor<9x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"y"}, {"x"}]>}) {
  %0 = "stablehlo.scatter"(%table, %rows, %gradient) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %r = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) : (tensor<9x6xf32>, tensor<8x1xi32>, tensor<8x6xf32>) -> tensor<9x6xf32>
  %1 = stablehlo.negate %0 : tensor<9x6xf32>
  return %0, %1 : tensor<9x6xf32>, tensor<9x6xf32>
}
