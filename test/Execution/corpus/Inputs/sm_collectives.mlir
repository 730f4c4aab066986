module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16x6xf32> {jax.result_info = "result[0]"}, tensor<16x4x6xf32> {jax.result_info = "result[1]"}, tensor<16x24xf32> {jax.result_info = "result[2]"}, tensor<16x6xf32> {jax.result_info = "result[3]"}, tensor<4xf32> {jax.result_info = "result[4]"}, tensor<16x6xf32> {jax.result_info = "result[5]"}, tensor<4x6xf32> {jax.result_info = "result[6]"}, tensor<24xf32> {jax.result_info = "result[7]"}, tensor<4xi32> {jax.result_info = "result[8]"}, tensor<4xf32> {jax.result_info = "result[9]"}, tensor<16x6xf32> {jax.result_info = "result[10]"}) {
    %0:11 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<4x6xf32>) {
      %1 = "stablehlo.collective_permute"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [2, 0]]> : tensor<2x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
      %2 = stablehlo.broadcast_in_dim %arg1, dims = [0, 2] : (tensor<4x6xf32>) -> tensor<4x1x6xf32>
      %3 = "stablehlo.all_gather"(%2) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<4x1x6xf32>) -> tensor<4x4x6xf32>
      %4 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<4x6xf32>) -> tensor<4x24xf32>
      %5 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %25 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
        stablehlo.return %25 : tensor<f32>
      }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.reduce(%arg1 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
      %7 = "stablehlo.all_reduce"(%6) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %25 = stablehlo.minimum %arg2, %arg3 : tensor<f32>
        stablehlo.return %25 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %8 = "stablehlo.all_to_all"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, split_count = 4 : i64, split_dimension = 0 : i64}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
      %9 = "stablehlo.reduce_scatter"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %25 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %25 : tensor<f32>
      }) : (tensor<4x6xf32>) -> tensor<1x6xf32>
      %10 = "stablehlo.reduce_scatter"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %25 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %25 : tensor<f32>
      }) : (tensor<4x6xf32>) -> tensor<1x6xf32>
      %11 = stablehlo.reshape %10 : (tensor<1x6xf32>) -> tensor<6xf32>
      %c = stablehlo.constant dense<1> : tensor<ui32>
      %c_0 = stablehlo.constant dense<4> : tensor<ui32>
      %12 = stablehlo.partition_id : tensor<ui32>
      %13 = stablehlo.divide %12, %c : tensor<ui32>
      %14 = stablehlo.remainder %13, %c_0 : tensor<ui32>
      %15 = stablehlo.convert %14 : (tensor<ui32>) -> tensor<i32>
      %16 = stablehlo.slice %arg1 [0:1, 0:1] : (tensor<4x6xf32>) -> tensor<1x1xf32>
      %17 = stablehlo.reshape %16 : (tensor<1x1xf32>) -> tensor<f32>
      %18 = "stablehlo.collective_permute"(%17) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 3]]> : tensor<1x2xi64>}> : (tensor<f32>) -> tensor<f32>
      %19 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %25 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %25 : tensor<f32>
      }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
      %20 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %21 = stablehlo.broadcast_in_dim %15, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      %22 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %23 = stablehlo.add %21, %22 : tensor<1xi32>
      %24 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<f32>) -> tensor<1xf32>
      sdy.return %1, %3, %4, %5, %20, %8, %9, %11, %23, %24, %19 : tensor<4x6xf32>, tensor<4x4x6xf32>, tensor<4x24xf32>, tensor<4x6xf32>, tensor<1xf32>, tensor<4x6xf32>, tensor<1x6xf32>, tensor<6xf32>, tensor<1xi32>, tensor<1xf32>, tensor<4x6xf32>
    } : (tensor<16x6xf32>) -> (tensor<16x6xf32>, tensor<16x4x6xf32>, tensor<16x24xf32>, tensor<16x6xf32>, tensor<4xf32>, tensor<16x6xf32>, tensor<4x6xf32>, tensor<24xf32>, tensor<4xi32>, tensor<4xf32>, tensor<16x6xf32>)
    return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7, %0#8, %0#9, %0#10 : tensor<16x6xf32>, tensor<16x4x6xf32>, tensor<16x24xf32>, tensor<16x6xf32>, tensor<4xf32>, tensor<16x6xf32>, tensor<4x6xf32>, tensor<24xf32>, tensor<4xi32>, tensor<4xf32>, tensor<16x6xf32>
  }
}
