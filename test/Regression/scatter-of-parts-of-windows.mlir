// Windows of updates that indices move are cut along a dim in which they do not fill the
// input: each rank's part begins where the index and the part's place in the window say.
// (It began at the index itself.) Updates are so many that what ranks make of theirs is
// combined. Compared with one rank and with the interpreter.
// RUN: shard-run %s --seed=3 --check --check=interpreter
// RUN: shard-run %s --seed=3 --check --check=interpreter --sizes=2:2=5,0
// RUN: shard-run %s --seed=3 --check --check=interpreter --sizes=2:2=1,4
// RUN: shard-run %s --seed=3 --check --check=interpreter --mesh=x=3
// RUN: shard-run %s --seed=3 --check --check=interpreter --dynamic=all --sizes=2:2=2,3
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<3x9x2xf32>,
                %i: tensor<8x2xi32>,
                %u: tensor<8x2x5x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}, {}]>})
    -> (tensor<3x9x2xf32>, tensor<3x9x2xf32>) {
  %low = stablehlo.constant dense<0> : tensor<8x2xi32>
  %high = stablehlo.constant dense<[[1, 4], [1, 4], [1, 4], [1, 4], [1, 4], [1, 4], [1, 4], [1, 4]]> : tensor<8x2xi32>
  %j = stablehlo.clamp %low, %i, %high : tensor<8x2xi32>
  %0 = "stablehlo.scatter"(%a, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2, 3], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x9x2xf32>, tensor<8x2xi32>, tensor<8x2x5x2xf32>) -> tensor<3x9x2xf32>
  // Components of an index are of dims in any order.
  %r = stablehlo.reverse %j, dims = [1] : tensor<8x2xi32>
  %1 = "stablehlo.scatter"(%a, %r, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2, 3], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.maximum %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x9x2xf32>, tensor<8x2xi32>, tensor<8x2x5x2xf32>) -> tensor<3x9x2xf32>
  return %0, %1 : tensor<3x9x2xf32>, tensor<3x9x2xf32>
}
