// RUN: shard-opt %s --spmd-set-machine="machine=generic,link.latency=1ns" --split-input-file --spmd-import --spmd-propagate --spmd-partition | FileCheck %s
// Rows that indices name travel, and no others.

// A large table: each rank asks the others for the rows that it wants.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: func @main(
//  CHECK-SAME:   %[[TABLE:.*]]: tensor<1000x64xf32> {
//   CHECK-NOT:   all_gather
//       CHECK:   %[[PLAN:.*]] = local.row_plan %{{.*}} vector 1 components [0] slices [1] rows [<dim 0 along ["x"] : [0:1000, 1000:2000, 2000:3000, 3000:4000] -> [0:1, 0:1, 0:1, 0:1]>] batch [<dim 0 along ["x"] : [0:50, 50:100, 100:150, 150:200] -> {{.*}}>]
//       CHECK:   local.gather_rows %[[PLAN]] of %[[TABLE]] first 0 {{.*}} : tensor<1000x64xf32> -> tensor<50x64xf32>
func.func @main(%table: tensor<4000x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %indices: tensor<200x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<200x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = "stablehlo.gather"(%table, %indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<4000x64xf32>, tensor<200x1xi32>) -> tensor<200x64xf32>
  return %0 : tensor<200x64xf32>
}

// -----

// A tiny one is gathered: less moves than the ranks would say to one another.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: func @main(
//       CHECK:   %[[WHOLE:.*]] = local.all_gather %{{.*}} : tensor<2x3xf32> -> tensor<8x3xf32>
//   CHECK-NOT:   row_plan
//       CHECK:   "stablehlo.gather"(%[[WHOLE]],
func.func @main(%table: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %indices: tensor<200x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<200x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = "stablehlo.gather"(%table, %indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<8x3xf32>, tensor<200x1xi32>) -> tensor<200x3xf32>
  return %0 : tensor<200x3xf32>
}

// -----

// Updates go to who owns what they name; nothing is summed over ranks.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: func @main(
//   CHECK-NOT:   all_reduce
//   CHECK-NOT:   all_gather
//       CHECK:   %[[PLAN:.*]] = local.row_plan
//       CHECK:   local.scatter_rows %[[PLAN]] by sum %{{.*}} into %{{.*}} : tensor<50x64xf32>, tensor<1000x64xf32>
func.func @main(%table: tensor<4000x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %indices: tensor<200x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %updates: tensor<200x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4000x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = "stablehlo.scatter"(%table, %indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4000x64xf32>, tensor<200x1xi32>, tensor<200x64xf32>) -> tensor<4000x64xf32>
  return %0 : tensor<4000x64xf32>
}

// -----

// Where all ranks have the updates, owners take theirs: indices count from the
// block, and what is outside of it is dropped.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: func @main(
//   CHECK-NOT:   row_plan
//       CHECK:   %[[BEGIN:.*]] = local.lookup [0, 1000, 2000, 3000] along ["x"]
//       CHECK:   %[[LOCAL:.*]] = stablehlo.subtract %{{.*}} : tensor<200x1xi64>
//       CHECK:   "stablehlo.scatter"(%{{.*}}, %[[LOCAL]], %{{.*}})
func.func @main(%table: tensor<4000x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %indices: tensor<200x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
                %updates: tensor<200x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
    -> (tensor<4000x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = "stablehlo.scatter"(%table, %indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4000x64xf32>, tensor<200x1xi32>, tensor<200x64xf32>) -> tensor<4000x64xf32>
  return %0 : tensor<4000x64xf32>
}

// -----

// A slice asks for its rows, each rank for its part of them.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: func @main(
//   CHECK-NOT:   all_gather
//       CHECK:   local.row_plan %{{.*}} vector 0 components [0] slices [200] rows [<dim 0 along ["x"] : [0:1000, 1000:2000, 2000:3000, 3000:4000] -> [0:50, 50:100, 100:150, 150:200]>] batch []
//       CHECK:   local.gather_rows {{.*}} : tensor<1000x64xf32> -> tensor<50x64xf32>
func.func @main(%table: tensor<4000x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %start: tensor<i32>, %zero: tensor<i32>)
    -> (tensor<200x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dynamic_slice %table, %start, %zero, sizes = [200, 64] : (tensor<4000x64xf32>, tensor<i32>, tensor<i32>) -> tensor<200x64xf32>
  return %0 : tensor<200x64xf32>
}

// -----

// Of a slice of all rows but ten, each rank reads ten rows more than it takes, wherever the slice begins.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: func @main(
//   CHECK-NOT:   local.{{all_gather|row_plan}}
//       CHECK:   %[[GROWN:.*]] = local.halo_exchange {{.*}} -> tensor<1005x64xf32>
//   CHECK-NOT:   local.{{all_gather|row_plan|halo_exchange}}
//       CHECK:   stablehlo.dynamic_slice %[[GROWN]], {{.*}}, sizes = [995, 64]
func.func @main(%table: tensor<3990x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %start: tensor<i32>, %zero: tensor<i32>)
    -> (tensor<3980x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dynamic_slice %table, %start, %zero, sizes = [3980, 64] : (tensor<3990x64xf32>, tensor<i32>, tensor<i32>) -> tensor<3980x64xf32>
  return %0 : tensor<3980x64xf32>
}

// -----

// Of a slice that leaves out more rows than a rank has, rows are asked for.
sdy.mesh @mesh = <["x"=40]>
// CHECK-LABEL: func @main(
//   CHECK-NOT:   local.{{all_gather|halo_exchange}}
//       CHECK:   local.row_plan
func.func @main(%table: tensor<4000x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %start: tensor<i32>, %zero: tensor<i32>)
    -> (tensor<3880x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dynamic_slice %table, %start, %zero, sizes = [3880, 64] : (tensor<4000x64xf32>, tensor<i32>, tensor<i32>) -> tensor<3880x64xf32>
  return %0 : tensor<3880x64xf32>
}

// -----

// Owners write their part of an update that all ranks have: nothing moves.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: func @main(
//   CHECK-NOT:   local.{{all_gather|row_plan|all_reduce|rebalance}}
//       CHECK:   %[[PART:.*]] = tensor.extract_slice
//       CHECK:   tensor.insert_slice %[[PART]] into %{{.*}} : tensor<?x64xf32> into tensor<1000x64xf32>
func.func @main(%table: tensor<4000x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %update: tensor<200x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %start: tensor<i32>, %zero: tensor<i32>)
    -> (tensor<4000x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dynamic_update_slice %table, %update, %start, %zero : (tensor<4000x64xf32>, tensor<200x64xf32>, tensor<i32>, tensor<i32>) -> tensor<4000x64xf32>
  return %0 : tensor<4000x64xf32>
}
