// RUN: shard-run %s --check --rtol=0 --atol=0
// RUN: shard-run %s --check --rtol=0 --atol=0 --sizes=0:0=0,5 --sizes=1:0=6,1
// Uneven rows, a contracted dim cut elsewhere than the other operand's, rows of the result cut by the axis that was
// contracted, one axis asked for on rows and columns. Elsewhere (MLIR's shard dialect) each of them crashed.
spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<5x7xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<7x3xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %c: tensor<5x7xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x" sizes [2, 5]}]>}, %d: tensor<7x3xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<5x3xf32>, tensor<5x3xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}, tensor<5x3xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<5x7xf32>, tensor<7x3xf32>) -> tensor<5x3xf32>
  %1 = stablehlo.dot_general %c, %b, contracting_dims = [1] x [0] : (tensor<5x7xf32>, tensor<7x3xf32>) -> tensor<5x3xf32>
  %2 = stablehlo.dot_general %a, %d, contracting_dims = [1] x [0] : (tensor<5x7xf32>, tensor<7x3xf32>) -> tensor<5x3xf32>
  return %0, %1, %2 : tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>
}
