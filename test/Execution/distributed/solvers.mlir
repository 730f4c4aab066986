// RUN: shard-run %s --check --seed=1
// RUN: shard-run %s --check --mesh=x=3 --seed=2
// RUN: shard-run %s --check --seed=3 --sizes=0:1=2,0 --sizes=1:1=0,2
// Factorisations and solves whose matrices arrive cut: the batch is cut meanwhile.
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<5x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>},
                %b: tensor<5x2x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) -> (tensor<5x2x2xf32>, tensor<5x2x3xf32>) {
  %t = stablehlo.transpose %a, dims = [0, 2, 1] : (tensor<5x2x2xf32>) -> tensor<5x2x2xf32>
  %p = stablehlo.dot_general %a, %t, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<5x2x2xf32>, tensor<5x2x2xf32>) -> tensor<5x2x2xf32>
  %i = stablehlo.iota dim = 1 : tensor<5x2x2xi32>
  %j = stablehlo.iota dim = 2 : tensor<5x2x2xi32>
  %e = stablehlo.compare EQ, %i, %j, SIGNED : (tensor<5x2x2xi32>, tensor<5x2x2xi32>) -> tensor<5x2x2xi1>
  %d = stablehlo.convert %e : (tensor<5x2x2xi1>) -> tensor<5x2x2xf32>
  %m = stablehlo.add %p, %d : tensor<5x2x2xf32>
  %0 = stablehlo.cholesky %m, lower = true : tensor<5x2x2xf32>
  %1 = "stablehlo.triangular_solve"(%0, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<5x2x2xf32>, tensor<5x2x3xf32>) -> tensor<5x2x3xf32>
  return %0, %1 : tensor<5x2x2xf32>, tensor<5x2x3xf32>
}
