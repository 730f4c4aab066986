module @jit_g attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 2 : i64}, {name = "z", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}, %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<32x8xf32> {jax.result_info = "result[0]"}, tensor<128x8xf32> {jax.result_info = "result[1]"}, tensor<8xi32> {jax.result_info = "result[2]"}, tensor<32x8xf32> {jax.result_info = "result[3]"}, tensor<32x2xf32> {jax.result_info = "result[4]"}, tensor<128x2xf32> {jax.result_info = "result[5]"}, tensor<32x4xf32> {jax.result_info = "result[6]"}) {
    %0:7 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x", "y"}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{"x", "y", "z"}, {}]>, <@mesh, [{"x", "y", "z"}, {}]>, <@mesh, [{"x", "y", "z"}]>, <@mesh, [{"x", "y", "z"}, {}]>, <@mesh, [{"x", "y", "z"}, {}]>, <@mesh, [{"x", "y", "z"}, {}]>, <@mesh, [{"x", "y", "z"}, {}]>] manual_axes={"x", "y", "z"} (%arg2: tensor<4x8xf32>, %arg3: tensor<8x4xf32>) {
      %1 = "stablehlo.all_reduce"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4, 1, 5], [2, 6, 3, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %20 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %20 : tensor<f32>
      }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
      %2 = "stablehlo.all_gather"(%arg2) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4, 1, 5], [2, 6, 3, 7]]> : tensor<2x4xi64>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<16x8xf32>
      %c = stablehlo.constant dense<2> : tensor<ui32>
      %c_0 = stablehlo.constant dense<2> : tensor<ui32>
      %3 = stablehlo.partition_id : tensor<ui32>
      %4 = stablehlo.divide %3, %c : tensor<ui32>
      %5 = stablehlo.remainder %4, %c_0 : tensor<ui32>
      %6 = stablehlo.convert %5 : (tensor<ui32>) -> tensor<i32>
      %c_1 = stablehlo.constant dense<1> : tensor<i32>
      %7 = stablehlo.multiply %6, %c_1 : tensor<i32>
      %c_2 = stablehlo.constant dense<0> : tensor<i32>
      %8 = stablehlo.add %c_2, %7 : tensor<i32>
      %c_3 = stablehlo.constant dense<1> : tensor<ui32>
      %c_4 = stablehlo.constant dense<2> : tensor<ui32>
      %9 = stablehlo.partition_id : tensor<ui32>
      %10 = stablehlo.divide %9, %c_3 : tensor<ui32>
      %11 = stablehlo.remainder %10, %c_4 : tensor<ui32>
      %12 = stablehlo.convert %11 : (tensor<ui32>) -> tensor<i32>
      %c_5 = stablehlo.constant dense<2> : tensor<i32>
      %13 = stablehlo.multiply %12, %c_5 : tensor<i32>
      %14 = stablehlo.add %8, %13 : tensor<i32>
      %15 = "stablehlo.collective_permute"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 5], [5, 1], [1, 0], [2, 7], [7, 3], [3, 2]]> : tensor<6x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
      %16 = "stablehlo.reduce_scatter"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 1, 3], [4, 6, 5, 7]]> : tensor<2x4xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %20 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %20 : tensor<f32>
      }) : (tensor<4x8xf32>) -> tensor<4x2xf32>
      %17 = "stablehlo.all_to_all"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 4, 2, 6], [1, 5, 3, 7]]> : tensor<2x4xi64>, split_count = 4 : i64, split_dimension = 1 : i64}> : (tensor<4x8xf32>) -> tensor<16x2xf32>
      %18 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %19 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
      sdy.return %1, %2, %18, %15, %16, %17, %19 : tensor<4x8xf32>, tensor<16x8xf32>, tensor<1xi32>, tensor<4x8xf32>, tensor<4x2xf32>, tensor<16x2xf32>, tensor<4x4xf32>
    } : (tensor<16x8xf32>, tensor<8x4xf32>) -> (tensor<32x8xf32>, tensor<128x8xf32>, tensor<8xi32>, tensor<32x8xf32>, tensor<32x2xf32>, tensor<128x2xf32>, tensor<32x4xf32>)
    return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6 : tensor<32x8xf32>, tensor<128x8xf32>, tensor<8xi32>, tensor<32x8xf32>, tensor<32x2xf32>, tensor<128x2xf32>, tensor<32x4xf32>
  }
}
