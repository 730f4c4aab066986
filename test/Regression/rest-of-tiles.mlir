// Rows of shards in tiles of 10, fours and ones: 160, 96, 128, 128 are multiples of four, what tens leave of them is not.
// RUN: shard-run %s --sizes=0:0=160,96,128,128 --check
// RUN: shard-run %s --sizes=0:0=256,0,128,128 --check
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<512x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x4xf32>) -> tensor<512x4xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<512x8xf32>, tensor<8x4xf32>) -> tensor<512x4xf32>
  return %0 : tensor<512x4xf32>
}
