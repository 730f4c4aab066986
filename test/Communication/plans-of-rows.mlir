// RUN: shard-opt %s --spmd-set-machine="machine=generic,link.latency=1ns" --spmd-import --spmd-propagate --spmd-partition --spmd-communicate | FileCheck %s
// Indices that do not change are planned for once, before the loop, and one plan
// serves a gather and a scatter.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: func @main(
//       CHECK:   %[[PLAN:.*]] = local.row_plan
//   CHECK-NOT:   row_plan
//       CHECK:   stablehlo.while
//       CHECK:   local.gather_rows %[[PLAN]] of
//       CHECK:   local.scatter_rows %[[PLAN]] by sum
//   CHECK-NOT:   row_plan
func.func @main(%nodes: tensor<403x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %edges: tensor<1601xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<403x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<5> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<403x64xf32>
  %0:3 = stablehlo.while(%i = %zero, %e = %edges, %h = %nodes) : tensor<i32>, tensor<1601xi32>, tensor<403x64xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.broadcast_in_dim %e, dims = [0] : (tensor<1601xi32>) -> tensor<1601x1xi32>
    %2 = "stablehlo.gather"(%h, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<403x64xf32>, tensor<1601x1xi32>) -> tensor<1601x64xf32>
    %3 = stablehlo.tanh %2 : tensor<1601x64xf32>
    %4 = "stablehlo.scatter"(%none, %1, %3) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %6 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %6 : tensor<f32>
    }) : (tensor<403x64xf32>, tensor<1601x1xi32>, tensor<1601x64xf32>) -> tensor<403x64xf32>
    %5 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %5, %e, %4 : tensor<i32>, tensor<1601xi32>, tensor<403x64xf32>
  }
  return %0#2 : tensor<403x64xf32>
}
