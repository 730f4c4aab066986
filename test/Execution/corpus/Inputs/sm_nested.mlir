module @jit__lambda attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<5x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<16x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> (tensor<5x16xf32> {jax.result_info = "result[0]"}, tensor<16x3xf32> {jax.result_info = "result[1]"}) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{?}, {"model", ?}]>, <@mesh, [{"model", ?}, {?}]>] out_shardings=[<@mesh, [{?}, {?}]>] manual_axes={"model"} (%arg2: tensor<5x4xf32>, %arg3: tensor<4x3xf32>) {
      %8 = sdy.manual_computation(%arg2, %arg3) in_shardings=[<@mesh, [{?}, {"data", ?}]>, <@mesh, [{"data", ?}, {?}]>] out_shardings=[<@mesh, [{?}, {?}]>] manual_axes={"data"} (%arg4: tensor<5x2xf32>, %arg5: tensor<2x3xf32>) {
        %10 = stablehlo.dot_general %arg4, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x2xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
        %11 = "stablehlo.all_reduce"(%10) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
        ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
          %12 = stablehlo.add %arg6, %arg7 : tensor<f32>
          stablehlo.return %12 : tensor<f32>
        }) : (tensor<5x3xf32>) -> tensor<5x3xf32>
        sdy.return %11 : tensor<5x3xf32>
      } : (tensor<5x4xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
      %9 = "stablehlo.all_reduce"(%8) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %10 = stablehlo.add %arg4, %arg5 : tensor<f32>
        %11 = sdy.sharding_constraint %10 <@mesh, []> : tensor<f32>
        stablehlo.return %11 : tensor<f32>
      }) : (tensor<5x3xf32>) -> tensor<5x3xf32>
      sdy.return %9 : tensor<5x3xf32>
    } : (tensor<5x16xf32>, tensor<16x3xf32>) -> tensor<5x3xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
    %2 = stablehlo.multiply %1, %0 : tensor<5x3xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
    %4 = stablehlo.multiply %3, %2 : tensor<5x3xf32>
    %cst_1 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
    %6 = stablehlo.divide %4, %5 : tensor<5x3xf32>
    %7:2 = sdy.manual_computation(%6, %arg1, %arg0) in_shardings=[<@mesh, [{?}, {?}]>, <@mesh, [{"model", ?}, {?}]>, <@mesh, [{?}, {"model", ?}]>] out_shardings=[<@mesh, [{?}, {"model", ?}]>, <@mesh, [{"model", ?}, {?}]>] manual_axes={"model"} (%arg2: tensor<5x3xf32>, %arg3: tensor<4x3xf32>, %arg4: tensor<5x4xf32>) {
      %8 = "stablehlo.all_reduce"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
        %14 = stablehlo.add %arg5, %arg6 : tensor<f32>
        %15 = sdy.sharding_constraint %14 <@mesh, []> : tensor<f32>
        stablehlo.return %15 : tensor<f32>
      }) : (tensor<5x3xf32>) -> tensor<5x3xf32>
      %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
      %10 = sdy.sharding_constraint %9 <@mesh, [{?}, {?}]> : tensor<5x3xf32>
      %11 = stablehlo.divide %8, %10 : tensor<5x3xf32>
      %12 = sdy.sharding_constraint %11 <@mesh, [{?}, {?}]> : tensor<5x3xf32>
      %13:2 = sdy.manual_computation(%12, %arg3, %arg4) in_shardings=[<@mesh, [{?}, {?}]>, <@mesh, [{"data", ?}, {?}]>, <@mesh, [{?}, {"data", ?}]>] out_shardings=[<@mesh, [{?}, {"data", ?}]>, <@mesh, [{"data", ?}, {?}]>] manual_axes={"data"} (%arg5: tensor<5x3xf32>, %arg6: tensor<2x3xf32>, %arg7: tensor<5x2xf32>) {
        %14 = "stablehlo.all_reduce"(%arg5) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
        ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
          %18 = stablehlo.add %arg8, %arg9 : tensor<f32>
          stablehlo.return %18 : tensor<f32>
        }) : (tensor<5x3xf32>) -> tensor<5x3xf32>
        %15 = stablehlo.dot_general %14, %arg7, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x3xf32>, tensor<5x2xf32>) -> tensor<3x2xf32>
        %16 = stablehlo.transpose %15, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
        %17 = stablehlo.dot_general %14, %arg6, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<5x3xf32>, tensor<2x3xf32>) -> tensor<5x2xf32>
        sdy.return %17, %16 : tensor<5x2xf32>, tensor<2x3xf32>
      } : (tensor<5x3xf32>, tensor<4x3xf32>, tensor<5x4xf32>) -> (tensor<5x4xf32>, tensor<4x3xf32>)
      sdy.return %13#0, %13#1 : tensor<5x4xf32>, tensor<4x3xf32>
    } : (tensor<5x3xf32>, tensor<16x3xf32>, tensor<5x16xf32>) -> (tensor<5x16xf32>, tensor<16x3xf32>)
    return %7#0, %7#1 : tensor<5x16xf32>, tensor<16x3xf32>
  }
}
