// RUN: shard-run %s --check --seed=3
// RUN: shard-run %s --check --seed=4 --sizes=0:1=5,0,2 --sizes=1:0=1,1,3
// Reducers that no collective of a library knows, over blocks whose sizes differ along the axis that stays free: one
// with a constant, one that is scattered, one in another order than that of ranks.
spmd.mesh @mesh = <["x"=2, "y"=3]>
func.func @main(%x: tensor<8x7xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {"y"}]>},
                %z: tensor<5x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"y"}, {"x"}]>})
    -> (tensor<8x7xf32>, tensor<4x7xf32>, tensor<5x8xf32>) {
  %0:3 = spmd.manual(%x, %z) in [#spmd.sharding<@mesh, [{"x"}, {"y"}]>, #spmd.sharding<@mesh, [{"y"}, {"x"}]>]
      out [#spmd.sharding<@mesh, [{"x"}, {"y"}]>, #spmd.sharding<@mesh, [{"x"}, {"y"}]>, #spmd.sharding<@mesh, [{"y"}, {"x"}]>] along ["x"] {
  ^bb0(%a: tensor<4x7xf32>, %b: tensor<5x4xf32>):
    %1 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 3], [1, 4], [2, 5]]> : tensor<3x2xi64>, use_global_device_ids}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %half = stablehlo.constant dense<0.5> : tensor<f32>
      %4 = stablehlo.multiply %r, %half : tensor<f32>
      %5 = stablehlo.subtract %l, %4 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4x7xf32>) -> tensor<4x7xf32>
    %2 = "stablehlo.reduce_scatter"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 3], [1, 4], [2, 5]]> : tensor<3x2xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %4 = stablehlo.sine %r : tensor<f32>
      %5 = stablehlo.maximum %l, %4 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4x7xf32>) -> tensor<2x7xf32>
    %3 = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[3, 0], [4, 1], [5, 2]]> : tensor<3x2xi64>, use_global_device_ids}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %4 = stablehlo.subtract %l, %r : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<5x4xf32>) -> tensor<5x4xf32>
    spmd.return %1, %2, %3 : tensor<4x7xf32>, tensor<2x7xf32>, tensor<5x4xf32>
  } : (tensor<8x7xf32>, tensor<5x8xf32>) -> (tensor<8x7xf32>, tensor<4x7xf32>, tensor<5x8xf32>)
  return %0#0, %0#1, %0#2 : tensor<8x7xf32>, tensor<4x7xf32>, tensor<5x8xf32>
}
