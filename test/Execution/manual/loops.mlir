// RUN: shard-run %s --check --seed=3
// Ranks of other coordinates along "y" run the loop more often; it communicates along "x".
module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func public @main(%arg0: tensor<8x16xf32>) -> (tensor<8x16xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x", "y"} (%arg1: tensor<4x4xf32>) {
      %c = stablehlo.constant dense<1> : tensor<ui32>
      %c_0 = stablehlo.constant dense<4> : tensor<ui32>
      %1 = stablehlo.partition_id : tensor<ui32>
      %2 = stablehlo.divide %1, %c : tensor<ui32>
      %3 = stablehlo.remainder %2, %c_0 : tensor<ui32>
      %4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<i32>
      %c_1 = stablehlo.constant dense<1> : tensor<i32>
      %5 = stablehlo.add %4, %c_1 : tensor<i32>
      %c_2 = stablehlo.constant dense<0> : tensor<i32>
      %6 = stablehlo.multiply %c_2, %5 : tensor<i32>
      %7:3 = stablehlo.while(%iterArg = %5, %iterArg_3 = %6, %iterArg_4 = %arg1) : tensor<i32>, tensor<i32>, tensor<4x4xf32>
      cond {
        %8 = stablehlo.compare LT, %iterArg_3, %iterArg, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %8 : tensor<i1>
      } do {
        %c_5 = stablehlo.constant dense<1> : tensor<i32>
        %8 = stablehlo.add %iterArg_3, %c_5 : tensor<i32>
        %9 = "stablehlo.all_reduce"(%iterArg_4) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
        ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
          %14 = stablehlo.add %arg2, %arg3 : tensor<f32>
          stablehlo.return %14 : tensor<f32>
        }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
        %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
        %10 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
        %11 = stablehlo.multiply %9, %10 : tensor<4x4xf32>
        %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
        %12 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
        %13 = stablehlo.add %11, %12 : tensor<4x4xf32>
        stablehlo.return %iterArg, %8, %13 : tensor<i32>, tensor<i32>, tensor<4x4xf32>
      }
      sdy.return %7#2 : tensor<4x4xf32>
    } : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}
