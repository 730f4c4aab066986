// RUN: shard-run %s --check --seed=1
// One group combines 8192 elements, in slices, the other none: their posts stay in step.
spmd.mesh @mesh = <["a"=2, "b"=2]>
func.func @main(%x: tensor<1024x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"a"}]>},
                %w: tensor<6x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"a"}, {"b" sizes [0, 8]}]>})
    -> (tensor<1024x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"b" sizes [4, 4]}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1024x6xf32>, tensor<6x8xf32>) -> tensor<1024x8xf32>
  %1 = spmd.constrain %0 <@mesh, [{}, {"b" sizes [0, 8]}]> : tensor<1024x8xf32>
  return %1 : tensor<1024x8xf32>
}
