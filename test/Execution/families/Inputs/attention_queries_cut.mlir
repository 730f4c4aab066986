module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x2x16x4xf32>, %arg1: tensor<1x2x12x4xf32>, %arg2: tensor<1x2x12x4xf32>, %arg3: tensor<1x2x16x4xf32>) -> (tensor<1x2x16x4xf32> {jax.result_info = "result[0]"}, tensor<1x2x16x4xf32> {jax.result_info = "result[1]"}, tensor<1x2x12x4xf32> {jax.result_info = "result[2]"}, tensor<1x2x12x4xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x4xf32>, tensor<1x2x12x4xf32>) -> tensor<1x2x16x12xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %1 = stablehlo.sqrt %cst : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1x2x16x12xf32>
    %3 = stablehlo.divide %0, %2 : tensor<1x2x16x12xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x16x12xf32>, tensor<f32>) -> tensor<1x2x16xf32>
    %5 = stablehlo.reshape %4 : (tensor<1x2x16xf32>) -> tensor<1x2x16x1xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x12xf32>
    %7 = stablehlo.compare EQ, %3, %6, FLOAT : (tensor<1x2x16x12xf32>, tensor<1x2x16x12xf32>) -> tensor<1x2x16x12xi1>
    %8 = stablehlo.convert %7 : (tensor<1x2x16x12xi1>) -> tensor<1x2x16x12xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<1x2x16x12xf32>, tensor<f32>) -> tensor<1x2x16xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %11 = stablehlo.maximum %10, %4 : tensor<1x2x16xf32>
    %12 = stablehlo.compare EQ, %4, %11, FLOAT : (tensor<1x2x16xf32>, tensor<1x2x16xf32>) -> tensor<1x2x16xi1>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<1x2x16xi1>, tensor<1x2x16xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %17 = stablehlo.compare EQ, %16, %11, FLOAT : (tensor<1x2x16xf32>, tensor<1x2x16xf32>) -> tensor<1x2x16xi1>
    %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %20 = stablehlo.select %17, %18, %19 : tensor<1x2x16xi1>, tensor<1x2x16xf32>
    %21 = stablehlo.divide %15, %20 : tensor<1x2x16xf32>
    %22 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<1x2x16xf32>) -> tensor<1x2x16x1xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x12xf32>
    %24 = stablehlo.subtract %3, %23 : tensor<1x2x16x12xf32>
    %25 = stablehlo.exponential %24 : tensor<1x2x16x12xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<1x2x16x12xf32>, tensor<f32>) -> tensor<1x2x16xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2] : (tensor<1x2x16xf32>) -> tensor<1x2x16x1xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x12xf32>
    %29 = stablehlo.divide %25, %28 : tensor<1x2x16x12xf32>
    %30 = stablehlo.multiply %27, %27 : tensor<1x2x16x1xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<1x2x16x1xf32>
    %32 = stablehlo.divide %31, %30 : tensor<1x2x16x1xf32>
    %33 = stablehlo.dot_general %29, %arg2, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x12xf32>, tensor<1x2x12x4xf32>) -> tensor<1x2x16x4xf32>
    %34 = stablehlo.dot_general %arg3, %29, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x4xf32>, tensor<1x2x16x12xf32>) -> tensor<1x2x4x12xf32>
    %35 = stablehlo.transpose %34, dims = [0, 1, 3, 2] : (tensor<1x2x4x12xf32>) -> tensor<1x2x12x4xf32>
    %36 = stablehlo.dot_general %arg3, %arg2, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x4xf32>, tensor<1x2x12x4xf32>) -> tensor<1x2x16x12xf32>
    %37 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x12xf32>
    %38 = stablehlo.multiply %36, %37 : tensor<1x2x16x12xf32>
    %39 = stablehlo.multiply %38, %25 : tensor<1x2x16x12xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.reduce(%39 init: %cst_10) applies stablehlo.add across dimensions = [3] : (tensor<1x2x16x12xf32>, tensor<f32>) -> tensor<1x2x16xf32>
    %41 = stablehlo.reshape %40 : (tensor<1x2x16xf32>) -> tensor<1x2x16x1xf32>
    %42 = stablehlo.negate %41 : tensor<1x2x16x1xf32>
    %43 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x12xf32>
    %44 = stablehlo.divide %36, %43 : tensor<1x2x16x12xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %45 = stablehlo.reduce(%42 init: %cst_11) applies stablehlo.add across dimensions = [0, 3] : (tensor<1x2x16x1xf32>, tensor<f32>) -> tensor<2x16xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [1, 2] : (tensor<2x16xf32>) -> tensor<1x2x16xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2] : (tensor<1x2x16xf32>) -> tensor<1x2x16x12xf32>
    %48 = stablehlo.add %44, %47 : tensor<1x2x16x12xf32>
    %49 = stablehlo.multiply %48, %25 : tensor<1x2x16x12xf32>
    %50 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1x2x16x12xf32>
    %51 = stablehlo.divide %49, %50 : tensor<1x2x16x12xf32>
    %52 = stablehlo.dot_general %51, %arg0, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x12xf32>, tensor<1x2x16x4xf32>) -> tensor<1x2x12x4xf32>
    %53 = stablehlo.dot_general %51, %arg1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x12xf32>, tensor<1x2x12x4xf32>) -> tensor<1x2x16x4xf32>
    return %33, %53, %52, %35 : tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>, tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>
  }
}
