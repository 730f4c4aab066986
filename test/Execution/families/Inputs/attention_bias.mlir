module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x2x16x4xf32>, %arg1: tensor<1x2x16x4xf32>, %arg2: tensor<1x2x16x4xf32>, %arg3: tensor<2x16x16xf32>, %arg4: tensor<1x2x16x4xf32>) -> (tensor<1x2x16x4xf32> {jax.result_info = "result[0]"}, tensor<1x2x16x4xf32> {jax.result_info = "result[1]"}, tensor<1x2x16x4xf32> {jax.result_info = "result[2]"}, tensor<1x2x16x4xf32> {jax.result_info = "result[3]"}, tensor<2x16x16xf32> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>) -> tensor<1x2x16x16xf32>
    %1 = stablehlo.broadcast_in_dim %arg3, dims = [1, 2, 3] : (tensor<2x16x16xf32>) -> tensor<1x2x16x16xf32>
    %2 = stablehlo.add %0, %1 : tensor<1x2x16x16xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x16x16xf32>, tensor<f32>) -> tensor<1x2x16xf32>
    %4 = stablehlo.reshape %3 : (tensor<1x2x16xf32>) -> tensor<1x2x16x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x16xf32>
    %6 = stablehlo.compare EQ, %2, %5, FLOAT : (tensor<1x2x16x16xf32>, tensor<1x2x16x16xf32>) -> tensor<1x2x16x16xi1>
    %7 = stablehlo.convert %6 : (tensor<1x2x16x16xi1>) -> tensor<1x2x16x16xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_0) applies stablehlo.add across dimensions = [3] : (tensor<1x2x16x16xf32>, tensor<f32>) -> tensor<1x2x16xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %10 = stablehlo.maximum %9, %3 : tensor<1x2x16xf32>
    %11 = stablehlo.compare EQ, %3, %10, FLOAT : (tensor<1x2x16xf32>, tensor<1x2x16xf32>) -> tensor<1x2x16xi1>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %14 = stablehlo.select %11, %12, %13 : tensor<1x2x16xi1>, tensor<1x2x16xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %16 = stablehlo.compare EQ, %15, %10, FLOAT : (tensor<1x2x16xf32>, tensor<1x2x16xf32>) -> tensor<1x2x16xi1>
    %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %19 = stablehlo.select %16, %17, %18 : tensor<1x2x16xi1>, tensor<1x2x16xf32>
    %20 = stablehlo.divide %14, %19 : tensor<1x2x16xf32>
    %21 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<1x2x16xf32>) -> tensor<1x2x16x1xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x16xf32>
    %23 = stablehlo.subtract %2, %22 : tensor<1x2x16x16xf32>
    %24 = stablehlo.exponential %23 : tensor<1x2x16x16xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_7) applies stablehlo.add across dimensions = [3] : (tensor<1x2x16x16xf32>, tensor<f32>) -> tensor<1x2x16xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<1x2x16xf32>) -> tensor<1x2x16x1xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x16xf32>
    %28 = stablehlo.divide %24, %27 : tensor<1x2x16x16xf32>
    %29 = stablehlo.multiply %26, %26 : tensor<1x2x16x1xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1x2x16x1xf32>
    %31 = stablehlo.divide %30, %29 : tensor<1x2x16x1xf32>
    %32 = stablehlo.dot_general %28, %arg2, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x16xf32>, tensor<1x2x16x4xf32>) -> tensor<1x2x16x4xf32>
    %33 = stablehlo.dot_general %arg4, %28, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x4xf32>, tensor<1x2x16x16xf32>) -> tensor<1x2x4x16xf32>
    %34 = stablehlo.transpose %33, dims = [0, 1, 3, 2] : (tensor<1x2x4x16xf32>) -> tensor<1x2x16x4xf32>
    %35 = stablehlo.dot_general %arg4, %arg2, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>) -> tensor<1x2x16x16xf32>
    %36 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x16xf32>
    %37 = stablehlo.multiply %35, %36 : tensor<1x2x16x16xf32>
    %38 = stablehlo.multiply %37, %24 : tensor<1x2x16x16xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.reduce(%38 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<1x2x16x16xf32>, tensor<f32>) -> tensor<1x2x16xf32>
    %40 = stablehlo.reshape %39 : (tensor<1x2x16xf32>) -> tensor<1x2x16x1xf32>
    %41 = stablehlo.negate %40 : tensor<1x2x16x1xf32>
    %42 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x16xf32>
    %43 = stablehlo.divide %35, %42 : tensor<1x2x16x16xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.reduce(%41 init: %cst_10) applies stablehlo.add across dimensions = [0, 3] : (tensor<1x2x16x1xf32>, tensor<f32>) -> tensor<2x16xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [1, 2] : (tensor<2x16xf32>) -> tensor<1x2x16xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1, 2] : (tensor<1x2x16xf32>) -> tensor<1x2x16x16xf32>
    %47 = stablehlo.add %43, %46 : tensor<1x2x16x16xf32>
    %48 = stablehlo.multiply %47, %24 : tensor<1x2x16x16xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %49 = stablehlo.reduce(%48 init: %cst_11) applies stablehlo.add across dimensions = [0] : (tensor<1x2x16x16xf32>, tensor<f32>) -> tensor<2x16x16xf32>
    %50 = stablehlo.dot_general %48, %arg0, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x16xf32>, tensor<1x2x16x4xf32>) -> tensor<1x2x16x4xf32>
    %51 = stablehlo.dot_general %48, %arg1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x16xf32>, tensor<1x2x16x4xf32>) -> tensor<1x2x16x4xf32>
    return %32, %51, %50, %34, %49 : tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>, tensor<2x16x16xf32>
  }
}
