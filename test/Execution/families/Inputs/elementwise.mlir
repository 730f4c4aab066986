module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<12x1xf32>, %arg3: tensor<12x8xf32>) -> (tensor<12x8xf32> {jax.result_info = "result[0]"}, tensor<12x8xf32> {jax.result_info = "result[1]"}, tensor<8xf32> {jax.result_info = "result[2]"}, tensor<12x1xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<12x8xf32>
    %2 = stablehlo.multiply %arg0, %1 : tensor<12x8xf32>
    %3 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<12x1xf32>) -> tensor<12x8xf32>
    %4 = stablehlo.add %2, %3 : tensor<12x8xf32>
    %5 = stablehlo.tanh %4 : tensor<12x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %7 = stablehlo.subtract %6, %5 : tensor<12x8xf32>
    %8 = stablehlo.negate %arg0 : tensor<12x8xf32>
    %9 = stablehlo.multiply %8, %arg0 : tensor<12x8xf32>
    %10 = stablehlo.exponential %9 : tensor<12x8xf32>
    %11 = stablehlo.add %5, %10 : tensor<12x8xf32>
    %12 = stablehlo.multiply %arg3, %10 : tensor<12x8xf32>
    %13 = stablehlo.multiply %8, %12 : tensor<12x8xf32>
    %14 = stablehlo.multiply %12, %arg0 : tensor<12x8xf32>
    %15 = stablehlo.negate %14 : tensor<12x8xf32>
    %16 = stablehlo.add %13, %15 : tensor<12x8xf32>
    %17 = stablehlo.multiply %arg3, %7 : tensor<12x8xf32>
    %18 = stablehlo.multiply %17, %5 : tensor<12x8xf32>
    %19 = stablehlo.add %17, %18 : tensor<12x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<12x8xf32>, tensor<f32>) -> tensor<12xf32>
    %21 = stablehlo.reshape %20 : (tensor<12xf32>) -> tensor<12x1xf32>
    %22 = stablehlo.multiply %arg0, %19 : tensor<12x8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<12x8xf32>, tensor<f32>) -> tensor<8xf32>
    %24 = stablehlo.reshape %23 : (tensor<8xf32>) -> tensor<1x8xf32>
    %25 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<12x8xf32>
    %26 = stablehlo.multiply %19, %25 : tensor<12x8xf32>
    %27 = stablehlo.add %16, %26 : tensor<12x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%24 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<1x8xf32>, tensor<f32>) -> tensor<8xf32>
    return %11, %27, %28, %21 : tensor<12x8xf32>, tensor<12x8xf32>, tensor<8xf32>, tensor<12x1xf32>
  }
}
