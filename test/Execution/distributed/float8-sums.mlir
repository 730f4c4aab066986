// RUN: shard-run %s --seed=5 --check=interpreter
// RUN: shard-run %s --seed=5 --check --rtol=0.13
// Floats of eight bits are combined as f32 and rounded once: sums, products, largest elements, a sum that is scattered, and updates added by
// index.
spmd.mesh @mesh = <["x"=3]>
func.func @main(%x: tensor<7x5xf8E4M3FN> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %y: tensor<7x5xf8E5M2> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [0, 5, 2]}, {}]>},
                %i: tensor<7xi32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>})
    -> (tensor<5xf8E4M3FN>, tensor<5xf8E5M2> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}, tensor<5xf8E5M2>, tensor<4x5xf8E4M3FN>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f8E4M3FN>
  %none = stablehlo.constant dense<0.0> : tensor<f8E5M2>
  %least = stablehlo.constant dense<0xFC> : tensor<f8E5M2>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<7x5xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<5xf8E4M3FN>
  %1 = stablehlo.reduce(%y init: %none) applies stablehlo.add across dimensions = [0] : (tensor<7x5xf8E5M2>, tensor<f8E5M2>) -> tensor<5xf8E5M2>
  %2 = stablehlo.reduce(%y init: %least) applies stablehlo.maximum across dimensions = [0] : (tensor<7x5xf8E5M2>, tensor<f8E5M2>) -> tensor<5xf8E5M2>
  %rows = stablehlo.constant dense<0.0> : tensor<4x5xf8E4M3FN>
  %four = stablehlo.constant dense<4> : tensor<7xi32>
  %at = stablehlo.remainder %i, %four : tensor<7xi32>
  %3 = "stablehlo.scatter"(%rows, %at, %x) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f8E4M3FN>, %new: tensor<f8E4M3FN>):
    %sum = stablehlo.add %old, %new : tensor<f8E4M3FN>
    stablehlo.return %sum : tensor<f8E4M3FN>
  }) : (tensor<4x5xf8E4M3FN>, tensor<7xi32>, tensor<7x5xf8E4M3FN>) -> tensor<4x5xf8E4M3FN>
  return %0, %1, %2, %3 : tensor<5xf8E4M3FN>, tensor<5xf8E5M2>, tensor<5xf8E5M2>, tensor<4x5xf8E4M3FN>
}
