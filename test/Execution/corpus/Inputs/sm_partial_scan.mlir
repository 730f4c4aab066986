module @jit__lambda attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<6x8xf32> {jax.result_info = "result[0]"}, tensor<3xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<6x8xf32>
    %2:2 = sdy.manual_computation(%1, %arg1) in_shardings=[<@mesh, [{?}, {?}]>, <@mesh, [{?}, {?}]>] out_shardings=[<@mesh, [{?}, {?}]>, <@mesh, [{?}]>] manual_axes={"model"} (%arg2: tensor<6x8xf32>, %arg3: tensor<8x8xf32>) {
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3xf32>
      %4 = sdy.sharding_constraint %3 <@mesh, [{?}]> : tensor<3xf32>
      %c = stablehlo.constant dense<0> : tensor<i32>
      %5:4 = stablehlo.while(%iterArg = %arg3, %iterArg_1 = %c, %iterArg_2 = %arg2, %iterArg_3 = %4) : tensor<8x8xf32>, tensor<i32>, tensor<6x8xf32>, tensor<3xf32>
      cond {
        %c_4 = stablehlo.constant dense<3> : tensor<i32>
        %9 = sdy.sharding_constraint %iterArg_1 <@mesh, []> : tensor<i32>
        %10 = sdy.sharding_constraint %c_4 <@mesh, []> : tensor<i32>
        %11 = stablehlo.compare LT, %9, %10, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %11 : tensor<i1>
      } do {
        %9:2 = func.call @closed_call(%iterArg, %iterArg_2) : (tensor<8x8xf32>, tensor<6x8xf32>) -> (tensor<6x8xf32>, tensor<f32>)
        %10 = func.call @dynamic_update_index_in_dim(%iterArg_3, %9#1, %iterArg_1) : (tensor<3xf32>, tensor<f32>, tensor<i32>) -> tensor<3xf32>
        %c_4 = stablehlo.constant dense<1> : tensor<i32>
        %11 = sdy.sharding_constraint %iterArg_1 <@mesh, []> : tensor<i32>
        %12 = sdy.sharding_constraint %c_4 <@mesh, []> : tensor<i32>
        %13 = stablehlo.add %11, %12 : tensor<i32>
        %14 = sdy.sharding_constraint %13 <@mesh, []> : tensor<i32>
        stablehlo.return %iterArg, %14, %9#0, %10 : tensor<8x8xf32>, tensor<i32>, tensor<6x8xf32>, tensor<3xf32>
      }
      %6 = sdy.sharding_constraint %5#1 <@mesh, []> : tensor<i32>
      %7 = sdy.sharding_constraint %5#2 <@mesh, [{?}, {?}]> : tensor<6x8xf32>
      %8 = sdy.sharding_constraint %5#3 <@mesh, [{?}]> : tensor<3xf32>
      sdy.return %7, %8 : tensor<6x8xf32>, tensor<3xf32>
    } : (tensor<6x8xf32>, tensor<8x8xf32>) -> (tensor<6x8xf32>, tensor<3xf32>)
    return %2#0, %2#1 : tensor<6x8xf32>, tensor<3xf32>
  }
  func.func private @closed_call(%arg0: tensor<8x8xf32>, %arg1: tensor<6x8xf32>) -> (tensor<6x8xf32>, tensor<f32>) {
    %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {?}]> : tensor<6x8xf32>
    %2 = stablehlo.tanh %1 : tensor<6x8xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{?}, {?}]> : tensor<6x8xf32>
    %4 = "stablehlo.reduce_scatter"(%3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %17 = stablehlo.add %arg2, %arg3 : tensor<f32>
      %18 = sdy.sharding_constraint %17 <@mesh, []> : tensor<f32>
      stablehlo.return %18 : tensor<f32>
    }) : (tensor<6x8xf32>) -> tensor<6x2xf32>
    %5 = "stablehlo.all_gather"(%4) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> : (tensor<6x2xf32>) -> tensor<6x8xf32>
    %cst = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %7 = sdy.sharding_constraint %6 <@mesh, [{?}, {?}]> : tensor<6x8xf32>
    %8 = stablehlo.multiply %5, %7 : tensor<6x8xf32>
    %9 = sdy.sharding_constraint %8 <@mesh, [{?}, {?}]> : tensor<6x8xf32>
    %10 = stablehlo.add %9, %arg1 : tensor<6x8xf32>
    %11 = sdy.sharding_constraint %10 <@mesh, [{?}, {?}]> : tensor<6x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%4 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x2xf32>, tensor<f32>) -> tensor<f32>
    %13 = sdy.sharding_constraint %12 <@mesh, []> : tensor<f32>
    %14 = "stablehlo.all_reduce"(%13) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %17 = stablehlo.add %arg2, %arg3 : tensor<f32>
      %18 = sdy.sharding_constraint %17 <@mesh, []> : tensor<f32>
      stablehlo.return %18 : tensor<f32>
    }) : (tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %15 = stablehlo.divide %14, %cst_1 : tensor<f32>
    %16 = sdy.sharding_constraint %15 <@mesh, []> : tensor<f32>
    return %11, %16 : tensor<6x8xf32>, tensor<f32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<3xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> tensor<3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{?}]> : tensor<1xf32>
    %2 = stablehlo.dynamic_update_slice %arg0, %1, %arg2 : (tensor<3xf32>, tensor<1xf32>, tensor<i32>) -> tensor<3xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{?}]> : tensor<3xf32>
    return %3 : tensor<3xf32>
  }
}
