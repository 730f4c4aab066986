// RUN: shard-run %s --threads=3 --check --rtol=0 --atol=0 --seed=1
// The panel of a product whose summed dim has another size on each rank, one for each thread: its size was
// computed in the loop over threads, and used in front of it.
spmd.mesh @mesh = <["i"=3, "data"=2]>
func.func @main(%x: tensor<3x10x5xi32>,
                %w: tensor<3x10x2xi32> {spmd.sharding = #spmd.sharding<@mesh, [{"data" sizes [0, 3], ?}, {"i" sizes [2, 8, 0]}, {}]>})
    -> tensor<3x3x5xi32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1], pad = [[3, 0]], lhs_dilate = [1], rhs_dilate = [3]} {
    batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x10x5xi32>, tensor<3x10x2xi32>) -> tensor<3x3x5xi32>
  return %0 : tensor<3x3x5xi32>
}
