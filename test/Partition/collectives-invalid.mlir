// RUN: shard-opt %s --spmd-propagate --spmd-partition --split-input-file --verify-diagnostics

spmd.mesh @mesh = <["x"=4]>
func.func @missing_rank(%x: tensor<8xf32>) -> tensor<16xf32> {
  %0 = spmd.manual(%x) in [#spmd.sharding<@mesh, [{"x"}]>] out [#spmd.sharding<@mesh, [{"x"}]>] along ["x"] {
  ^bb0(%a: tensor<2xf32>):
    // expected-error @below {{has no replica group for rank 2 of mesh}}
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<4xf32>
    spmd.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @unknown_rank(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = spmd.manual(%x) in [#spmd.sharding<@mesh, [{"x"}]>] out [#spmd.sharding<@mesh, [{"x"}]>] along ["x"] {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @below {{has rank 2 in a pair, but mesh}}
    %1 = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 2]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    spmd.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @parts(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = spmd.manual(%x) in [#spmd.sharding<@mesh, [{"x"}]>] out [#spmd.sharding<@mesh, [{"x"}]>] along ["x"] {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @below {{splits in 4 parts for groups of 2 members, expected as many}}
    %1 = "stablehlo.all_to_all"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<> : tensor<0x0xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    spmd.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @groups_by_axes(%x: tensor<8xf32>) -> tensor<16xf32> {
  %0 = spmd.manual(%x) in [#spmd.sharding<@mesh, [{"x"}]>] out [#spmd.sharding<@mesh, [{"x"}]>] along ["x"] {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @below {{unsupported: replica groups #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "a", size = 2>]>, axes = [#stablehlo.axis_ref<name = "a">]>, expected a matrix of ranks}}
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "a", size = 2>]>, axes = [#stablehlo.axis_ref<name = "a">]>}> : (tensor<4xf32>) -> tensor<8xf32>
    spmd.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// The axis along which ranks speak is free, and cuts another dim.
spmd.mesh @mesh = <["x"=2, "y"=2]>
func.func @along_what_cuts(%v: tensor<8x4xf32>) -> tensor<8x8xf32> {
  %0 = spmd.manual(%v) in [#spmd.sharding<@mesh, [{"x"}, {}]>] out [#spmd.sharding<@mesh, [{"x"}, {}]>] along ["x"] {
  ^bb0(%a: tensor<4x4xf32>):
    %1 = spmd.constrain %a <@mesh, [{"y"}, {}]> : tensor<4x4xf32>
    // expected-error @below {{'stablehlo.all_gather' op unsupported: communicates along free axis "y", along which its operand is cut; constrain the operand to be whole}}
    %2 = "stablehlo.all_gather"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, all_gather_dim = 1 : i64, use_global_device_ids, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x8xf32>
    spmd.return %2 : tensor<4x8xf32>
  } : (tensor<8x4xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
