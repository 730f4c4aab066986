// A shard of more lanes than the estimate's: an operand that is copied to a panel goes there a vector at a time.
// RUN: shard-run %s --ranks=2 --seed=960990 --check --rtol=0 --atol=0 --dynamic=all --sizes=0:0=4,0
// RUN: shard-run %s --ranks=2 --seed=960990 --check --rtol=0 --atol=0 --dynamic=all --sizes=0:0=1,3
spmd.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4x2xf64> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}, %y: tensor<10x2xf64>) -> tensor<10x4xf64> {
  %products = stablehlo.dot_general %y, %x, contracting_dims = [1] x [1] : (tensor<10x2xf64>, tensor<4x2xf64>) -> tensor<10x4xf64>
  return %products : tensor<10x4xf64>
}
