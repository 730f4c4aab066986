// Sizes along axes that a manual region leaves free may be left open: dims without manual axes lie inside as they do outside. Blocks of a dim
// with both are as the region's text says, and what arrives otherwise is moved to them.
// RUN: shard-opt %s --spmd-import=dynamic=all --spmd-raise --spmd-propagate | FileCheck %s
// RUN: shard-run %s --seed=3 --check --dynamic=all
// RUN: shard-run %s --seed=3 --check --dynamic=all --sizes=0:0=7,1 --sizes=1:1=1,0,5,2
// RUN: shard-run %s --seed=3 --check --dynamic=all --sizes=0:0=0,8 --sizes=1:1=0,8,0,0 --processes=4
// RUN: shard-run %s --seed=3 --check --dynamic=all --sizes=0:0=3,5 --sizes=1:1=2,2,2,2

// CHECK: spmd.manual{{.*}} in [#spmd.sharding<@mesh, [{"x" sizes [4, 4] by #spmd.formula<given [0, 0, 8]>}, {"y"}]>
// CHECK: stablehlo.collective_permute
// CHECK-SAME: spmd.shardings = [#spmd.sharding<@mesh, [{"x" sizes [4, 4] by #spmd.formula<given [0, 0, 8]>}, {}]>]
// The second region cuts columns along "y" by itself, and leaves "x" to cut them further.
// CHECK: spmd.manual{{.*}} in [#spmd.sharding<@mesh, [{}, {"y", "x"}]>]
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y", "x"}]>})
    -> (tensor<8x6xf32>, tensor<8x8xf32>) {
  // Each half of the columns gets the other's, and the sum of both.
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{?}, {"y"}]>] out_shardings=[<@mesh, [{?}, {"y"}]>] manual_axes={"y"} (%c: tensor<8x3xf32>) {
    %1 = "stablehlo.collective_permute"(%c) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0], [2, 3], [3, 2]]> : tensor<4x2xi64>}> : (tensor<8x3xf32>) -> tensor<8x3xf32>
    %2 = "stablehlo.all_reduce"(%c) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %3 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<8x3xf32>) -> tensor<8x3xf32>
    %4 = stablehlo.multiply %1, %2 : tensor<8x3xf32>
    sdy.return %4 : tensor<8x3xf32>
  } : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %5 = sdy.manual_computation(%b) in_shardings=[<@mesh, [{?}, {"y", "x", ?}]>] out_shardings=[<@mesh, [{?}, {"y", "x", ?}]>] manual_axes={"y"} (%c: tensor<8x4xf32>) {
    %6 = stablehlo.tanh %c : tensor<8x4xf32>
    sdy.return %6 : tensor<8x4xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %5 : tensor<8x6xf32>, tensor<8x8xf32>
}
