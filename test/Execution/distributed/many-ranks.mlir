// Halos that reach past several ranks, all-to-alls, sums up to each row, the first of many, rows by index: on 64 ranks and on 256, in uneven blocks, beside one rank.
// Of 53 rows eleven of 64 ranks have none.
// RUN: shard-run %s --check --rtol=1e-5 --atol=1e-5 --seed=1
// RUN: shard-run %s --check --rtol=1e-5 --atol=1e-5 --seed=2 --mesh=x=256
// The same in even blocks, of extents that the ranks divide.
// RUN: sed -e 's/200x6/256x6/g; s/\[199, 0\]/[255, 0]/; s/200, 1>/256, 1>/; s/53/64/g; s/130/128/g; s/40x/64x/g' %s > %t.mlir
// RUN: shard-run %t.mlir --check --rtol=1e-5 --atol=1e-5 --seed=3
sdy.mesh @mesh = <["x"=64]>
func.func @main(%a: tensor<200x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %b: tensor<53x130xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %c: tensor<53xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                %rows: tensor<40xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<200x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<130x53xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<200x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<5xf32>, tensor<5xi32>, tensor<40x130xf32>, tensor<53xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // Nine rows: more than the neighbours have.
  %0 = "stablehlo.reduce_window"(%a, %zero) <{padding = dense<[[4, 4], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 9, 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %m = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<200x6xf32>, tensor<f32>) -> tensor<200x6xf32>
  %1 = stablehlo.transpose %b, dims = [1, 0] : (tensor<53x130xf32>) -> tensor<130x53xf32>
  %2 = "stablehlo.reduce_window"(%a, %zero) <{padding = dense<[[199, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 200, 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %m = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<200x6xf32>, tensor<f32>) -> tensor<200x6xf32>
  %3:2 = chlo.top_k(%c, k = 5) : tensor<53xf32> -> (tensor<5xf32>, tensor<5xi32>)
  %size = stablehlo.constant dense<53> : tensor<40xi32>
  %rest = stablehlo.remainder %rows, %size : tensor<40xi32>
  %index = stablehlo.abs %rest : tensor<40xi32>
  %4 = "stablehlo.gather"(%b, %index) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 130>}>
      : (tensor<53x130xf32>, tensor<40xi32>) -> tensor<40x130xf32>
  %5 = stablehlo.reverse %c, dims = [0] : tensor<53xf32>
  return %0, %1, %2, %3#0, %3#1, %4, %5 : tensor<200x6xf32>, tensor<130x53xf32>, tensor<200x6xf32>, tensor<5xf32>, tensor<5xi32>, tensor<40x130xf32>, tensor<53xf32>
}
