// RUN: shard-run %s --check --seed=5
// RUN: shard-run %s --check=interpreter --seed=5
// Values of computed members, groups by a mesh that stands in the op, and a collective that is awaited later.
module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%arg0: tensor<8x4xf32>, %arg1: tensor<8x2xi32>) -> (tensor<8x4xf32>, tensor<8x2xi32>, tensor<8x4xf32>, tensor<8x8xf32>) {
    %0:4 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x", "y"}, {}]>, <@mesh, [{"x", "y"}, {}]>] out_shardings=[<@mesh, [{"x", "y"}, {}]>, <@mesh, [{"x", "y"}, {}]>, <@mesh, [{"x", "y"}, {}]>, <@mesh, [{"x", "y"}, {}]>] manual_axes={"x", "y"} (%a: tensor<2x4xf32>, %b: tensor<2x2xi32>) {
      %roots = stablehlo.constant dense<[3, 1]> : tensor<2xi32>
      %1:2 = "stablehlo.collective_broadcast"(%a, %b, %roots) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[3, 1, 0, 2]]> : tensor<1x4xi64>, has_dynamic_root} : (tensor<2x4xf32>, tensor<2x2xi32>, tensor<2xi32>) -> (tensor<2x4xf32>, tensor<2x2xi32>)
      %2 = "stablehlo.collective_broadcast"(%a) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, <name = "y", size = 2>]>, axes = [#stablehlo.axis_ref<name = "x">]>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
      %3 = "stablehlo.async_start"(%a) ({
      ^bb0(%c: tensor<2x4xf32>):
        %5 = "stablehlo.all_gather"(%c) {all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids} : (tensor<2x4xf32>) -> tensor<2x8xf32>
        stablehlo.return %5 : tensor<2x8xf32>
      }) : (tensor<2x4xf32>) -> !stablehlo.future<tensor<2x8xf32>>
      %4 = "stablehlo.async_done"(%3) : (!stablehlo.future<tensor<2x8xf32>>) -> tensor<2x8xf32>
      sdy.return %1#0, %1#1, %2, %4 : tensor<2x4xf32>, tensor<2x2xi32>, tensor<2x4xf32>, tensor<2x8xf32>
    } : (tensor<8x4xf32>, tensor<8x2xi32>) -> (tensor<8x4xf32>, tensor<8x2xi32>, tensor<8x4xf32>, tensor<8x8xf32>)
    return %0#0, %0#1, %0#2, %0#3 : tensor<8x4xf32>, tensor<8x2xi32>, tensor<8x4xf32>, tensor<8x8xf32>
  }
}
