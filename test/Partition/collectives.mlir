// RUN: shard-opt %s --spmd-propagate --spmd-partition --split-input-file | FileCheck %s

// Each coordinate of the free axis communicates on its own; who gets nothing gets zeros.
// CHECK-LABEL: func.func @free_axis(
//       CHECK:   %[[ZERO:.*]] = stablehlo.constant dense<0.0
//       CHECK:   [<dim 0 along ["m"] : [0:4, 4:8] -> [8:12, 0:4]>] fill %[[ZERO]] : tensor<f32>
//  CHECK-SAME:     tensor<4x3xf32> -> tensor<4x3xf32>
//       CHECK:   local.all_reduce max %{{.*}} along ["m"]
spmd.mesh @mesh = <["d"=2, "m"=2]>
func.func @free_axis(%x: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"m"}, {"d"}]>}) -> tensor<8x6xf32> {
  %0 = spmd.manual(%x) in [#spmd.sharding<@mesh, [{"m"}, {?}]>] out [#spmd.sharding<@mesh, [{"m"}, {?}]>] along ["m"] {
  ^bb0(%a: tensor<4x6xf32>):
    %1 = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %3 = stablehlo.maximum %l, %r : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    spmd.return %2 : tensor<4x6xf32>
  } : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

// Members count in the order of their group.
// CHECK-LABEL: func.func @order(
//       CHECK:   local.all_gather %{{.*}} [<dim 0 along ["x"] : [2:4, 0:2] -> [0:4, 0:4]>]
spmd.mesh @mesh = <["x"=2]>
func.func @order(%x: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  %0 = spmd.manual(%x) in [#spmd.sharding<@mesh, [{"x"}]>] out [#spmd.sharding<@mesh, [{}]>] along ["x"] {
  ^bb0(%a: tensor<2xf32>):
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<4xf32>
    spmd.return %1 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The rank's number is read from a table.
// CHECK-LABEL: func.func @number(
//       CHECK:   %[[RANK:.*]] = local.lookup [0, 1, 2, 3] along ["x", "y"]
//       CHECK:   arith.index_cast %[[RANK]]
spmd.mesh @mesh = <["x"=2, "y"=2]>
func.func @number(%x: tensor<ui32>) -> tensor<4xui32> {
  %0 = spmd.manual(%x) in [#spmd.sharding<@mesh, []>] out [#spmd.sharding<@mesh, [{"x", "y"}]>] along ["x", "y"] {
  ^bb0(%a: tensor<ui32>):
    %1 = stablehlo.partition_id : tensor<ui32>
    %2 = stablehlo.add %a, %1 : tensor<ui32>
    %3 = stablehlo.reshape %2 : (tensor<ui32>) -> tensor<1xui32>
    spmd.return %3 : tensor<1xui32>
  } : (tensor<ui32>) -> tensor<4xui32>
  return %0 : tensor<4xui32>
}
