module @jit__lambda attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<20x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> (tensor<20x6xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"model", ?}, {?}]>] out_shardings=[<@mesh, [{"model", ?}, {?}]>] manual_axes={"model"} (%arg1: tensor<5x6xf32>) {
      %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
      %4 = sdy.sharding_constraint %3 <@mesh, [{?}, {?}]> : tensor<5x6xf32>
      %5 = stablehlo.multiply %arg1, %4 : tensor<5x6xf32>
      %6 = sdy.sharding_constraint %5 <@mesh, [{?}, {?}]> : tensor<5x6xf32>
      %7 = "stablehlo.collective_permute"(%6) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4]]> : tensor<8x2xi64>}> : (tensor<5x6xf32>) -> tensor<5x6xf32>
      %8 = stablehlo.add %6, %7 : tensor<5x6xf32>
      %9 = sdy.sharding_constraint %8 <@mesh, [{?}, {?}]> : tensor<5x6xf32>
      %10 = sdy.sharding_constraint %9 <@mesh, [{"data"}, {}]> : tensor<5x6xf32>
      %11 = func.call @cumsum(%10) : (tensor<5x6xf32>) -> tensor<5x6xf32>
      %12 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, []>] manual_axes={"data"} () {
        %c = stablehlo.constant dense<1> : tensor<ui32>
        %c_1 = stablehlo.constant dense<4> : tensor<ui32>
        %19 = stablehlo.partition_id : tensor<ui32>
        %20 = stablehlo.divide %19, %c : tensor<ui32>
        %21 = stablehlo.remainder %20, %c_1 : tensor<ui32>
        %22 = stablehlo.convert %21 : (tensor<ui32>) -> tensor<i32>
        sdy.return %22 : tensor<i32>
      } : () -> tensor<i32>
      %13 = stablehlo.convert %12 : (tensor<i32>) -> tensor<f32>
      %14 = sdy.sharding_constraint %13 <@mesh, []> : tensor<f32>
      %15 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
      %16 = sdy.sharding_constraint %15 <@mesh, [{?}, {?}]> : tensor<5x6xf32>
      %17 = stablehlo.multiply %11, %16 : tensor<5x6xf32>
      %18 = sdy.sharding_constraint %17 <@mesh, [{?}, {?}]> : tensor<5x6xf32>
      sdy.return %18 : tensor<5x6xf32>
    } : (tensor<20x6xf32>) -> tensor<20x6xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<20x6xf32>
    %2 = stablehlo.add %0, %1 : tensor<20x6xf32>
    return %2 : tensor<20x6xf32>
  }
  func.func private @cumsum(%arg0: tensor<5x6xf32>) -> tensor<5x6xf32> {
    %0 = call @cumsum_0(%arg0) : (tensor<5x6xf32>) -> tensor<5x6xf32>
    return %0 : tensor<5x6xf32>
  }
  func.func private @cumsum_0(%arg0: tensor<5x6xf32>) -> tensor<5x6xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[4, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 5, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %3 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<5x6xf32>, tensor<f32>) -> tensor<5x6xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{?}, {?}]> : tensor<5x6xf32>
    return %2 : tensor<5x6xf32>
  }
}
