// RUN: shard-opt %s --spmd-import --split-input-file | FileCheck %s

// The free axis of a dim that is manual too: blocks of 5 rows, cut alike.
// CHECK-LABEL: func.func @main(
//       CHECK:   spmd.manual(%{{.*}}) in [#spmd.sharding<@mesh, [{"m", "d" sizes [3, 2, 3, 2]}, {?}]>]
//  CHECK-SAME:     out [#spmd.sharding<@mesh, [{"m"}, {}]>] along ["m"] {
//       CHECK:   ^bb0(%[[BLOCK:.*]]: tensor<5x4xf32>):
//       CHECK:     spmd.constrain %[[BLOCK]] <@mesh, [{?}, {"d"}]>
//       CHECK:     spmd.return %{{.*}} : tensor<5x4xf32>
sdy.mesh @mesh = <["d"=2, "m"=2]>
func.func @main(%x: tensor<10x4xf32>) -> tensor<10x4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"m", "d"}, {?}]>] out_shardings=[<@mesh, [{"m"}, {}]>] manual_axes={"m"} (%y: tensor<5x4xf32>) {
    %1 = func.call @callee(%y) : (tensor<5x4xf32>) -> tensor<5x4xf32>
    sdy.return %1 : tensor<5x4xf32>
  } : (tensor<10x4xf32>) -> tensor<10x4xf32>
  return %0 : tensor<10x4xf32>
}
func.func private @callee(%x: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %0 = sdy.sharding_constraint %x <@mesh, [{?}, {"d"}]> : tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// -----

// Groups as axes of a mesh become ranks; one replica has number 0.
// CHECK-LABEL: func.func @main(
//       CHECK:   stablehlo.constant dense<0> : tensor<ui32>
//       CHECK:   replica_groups = dense<{{\[\[}}0, 2], [1, 3]]>
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<ui32>) {
  %0:2 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>, <@mesh, []>] manual_axes={"x", "y"} (%y: tensor<2xf32>) {
    %1 = "stablehlo.all_reduce"(%y) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %3 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    %2 = stablehlo.replica_id : tensor<ui32>
    sdy.return %1, %2 : tensor<2xf32>, tensor<ui32>
  } : (tensor<4xf32>) -> (tensor<4xf32>, tensor<ui32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<ui32>
}
