// RUN: shard-run %s --check --rtol=0 --atol=0
// RUN: shard-run %s --check --rtol=0 --atol=0 --mesh=x=3,y=5
// Elsewhere (MLIR's shard dialect) of these reshards on 2x4 ranks some made a wrong local type, some a shard of the whole,
// some crashed.
spmd.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x", "y"}, {}]>})
    -> (tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"y"}, {"x"}]>}, tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>},
        tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"y"}, {}]>}, tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>},
        tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"y", "x"}, {}]>}) {
  return %a, %a, %b, %b, %b : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
