module @odd_groups {
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(%arg0: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16x6xf32>, tensor<16x12xf32>, tensor<16x6xf32>, tensor<8x6xf32>, tensor<16x6xf32>, tensor<4xf32>) {
    %0:6 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4x6xf32>) {
      // The larger magnitude of ranks 0 and 3, and of 2 and 1.
      %1 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 3], [2, 1]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %half = stablehlo.constant dense<5.000000e-01> : tensor<f32>
        %5 = stablehlo.abs %a : tensor<f32>
        %6 = stablehlo.abs %b : tensor<f32>
        %7 = stablehlo.compare GE, %5, %6, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %8 = stablehlo.select %7, %a, %b : tensor<i1>, tensor<f32>
        %9 = stablehlo.multiply %8, %half : tensor<f32>
        stablehlo.return %9 : tensor<f32>
      }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
      %2 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[3, 0], [1, 2]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<4x6xf32>) -> tensor<4x12xf32>
      %3 = "stablehlo.all_to_all"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[3, 2, 1, 0]]> : tensor<1x4xi64>, split_count = 4 : i64, split_dimension = 0 : i64}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
      %4 = "stablehlo.reduce_scatter"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[3, 0], [1, 2]]> : tensor<2x2xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %5 = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %5 : tensor<f32>
      }) : (tensor<4x6xf32>) -> tensor<2x6xf32>
      %10 = "stablehlo.collective_broadcast"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[2, 1, 0]]> : tensor<1x3xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
      %11 = stablehlo.partition_id : tensor<ui32>
      %12 = stablehlo.replica_id : tensor<ui32>
      %13 = stablehlo.add %11, %12 : tensor<ui32>
      %14 = stablehlo.convert %13 : (tensor<ui32>) -> tensor<f32>
      %15 = stablehlo.reshape %14 : (tensor<f32>) -> tensor<1xf32>
      sdy.return %1, %2, %3, %4, %10, %15 : tensor<4x6xf32>, tensor<4x12xf32>, tensor<4x6xf32>, tensor<2x6xf32>, tensor<4x6xf32>, tensor<1xf32>
    } : (tensor<16x6xf32>) -> (tensor<16x6xf32>, tensor<16x12xf32>, tensor<16x6xf32>, tensor<8x6xf32>, tensor<16x6xf32>, tensor<4xf32>)
    return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5 : tensor<16x6xf32>, tensor<16x12xf32>, tensor<16x6xf32>, tensor<8x6xf32>, tensor<16x6xf32>, tensor<4xf32>
  }
}
