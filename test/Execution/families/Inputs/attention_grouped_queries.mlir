module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x4x16x4xf32>, %arg1: tensor<1x2x16x4xf32>, %arg2: tensor<1x2x16x4xf32>, %arg3: tensor<1x4x16x4xf32>) -> (tensor<1x4x16x4xf32> {jax.result_info = "result[0]"}, tensor<1x4x16x4xf32> {jax.result_info = "result[1]"}, tensor<1x2x16x4xf32> {jax.result_info = "result[2]"}, tensor<1x2x16x4xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1, 3, 4] : (tensor<1x2x16x4xf32>) -> tensor<1x2x2x16x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x2x16x4xf32>) -> tensor<1x4x16x4xf32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1, 3, 4] : (tensor<1x2x16x4xf32>) -> tensor<1x2x2x16x4xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x2x2x16x4xf32>) -> tensor<1x4x16x4xf32>
    %4 = stablehlo.dot_general %arg0, %1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x4x16x4xf32>, tensor<1x4x16x4xf32>) -> tensor<1x4x16x16xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %5 = stablehlo.sqrt %cst : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<1x4x16x16xf32>
    %7 = stablehlo.divide %4, %6 : tensor<1x4x16x16xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<1x4x16x16xf32>, tensor<f32>) -> tensor<1x4x16xf32>
    %9 = stablehlo.reshape %8 : (tensor<1x4x16xf32>) -> tensor<1x4x16x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<1x4x16x1xf32>) -> tensor<1x4x16x16xf32>
    %11 = stablehlo.compare EQ, %7, %10, FLOAT : (tensor<1x4x16x16xf32>, tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xi1>
    %12 = stablehlo.convert %11 : (tensor<1x4x16x16xi1>) -> tensor<1x4x16x16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<1x4x16x16xf32>, tensor<f32>) -> tensor<1x4x16xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x4x16xf32>
    %15 = stablehlo.maximum %14, %8 : tensor<1x4x16xf32>
    %16 = stablehlo.compare EQ, %8, %15, FLOAT : (tensor<1x4x16xf32>, tensor<1x4x16xf32>) -> tensor<1x4x16xi1>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x4x16xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x4x16xf32>
    %19 = stablehlo.select %16, %17, %18 : tensor<1x4x16xi1>, tensor<1x4x16xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x4x16xf32>
    %21 = stablehlo.compare EQ, %20, %15, FLOAT : (tensor<1x4x16xf32>, tensor<1x4x16xf32>) -> tensor<1x4x16xi1>
    %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<1x4x16xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<1x4x16xf32>
    %24 = stablehlo.select %21, %22, %23 : tensor<1x4x16xi1>, tensor<1x4x16xf32>
    %25 = stablehlo.divide %19, %24 : tensor<1x4x16xf32>
    %26 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<1x4x16xf32>) -> tensor<1x4x16x1xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3] : (tensor<1x4x16x1xf32>) -> tensor<1x4x16x16xf32>
    %28 = stablehlo.subtract %7, %27 : tensor<1x4x16x16xf32>
    %29 = stablehlo.exponential %28 : tensor<1x4x16x16xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.reduce(%29 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<1x4x16x16xf32>, tensor<f32>) -> tensor<1x4x16xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2] : (tensor<1x4x16xf32>) -> tensor<1x4x16x1xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<1x4x16x1xf32>) -> tensor<1x4x16x16xf32>
    %33 = stablehlo.divide %29, %32 : tensor<1x4x16x16xf32>
    %34 = stablehlo.multiply %31, %31 : tensor<1x4x16x1xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<1x4x16x1xf32>
    %36 = stablehlo.divide %35, %34 : tensor<1x4x16x1xf32>
    %37 = stablehlo.dot_general %33, %3, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x4x16x16xf32>, tensor<1x4x16x4xf32>) -> tensor<1x4x16x4xf32>
    %38 = stablehlo.dot_general %arg3, %33, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x4x16x4xf32>, tensor<1x4x16x16xf32>) -> tensor<1x4x4x16xf32>
    %39 = stablehlo.transpose %38, dims = [0, 1, 3, 2] : (tensor<1x4x4x16xf32>) -> tensor<1x4x16x4xf32>
    %40 = stablehlo.dot_general %arg3, %3, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x4x16x4xf32>, tensor<1x4x16x4xf32>) -> tensor<1x4x16x16xf32>
    %41 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2, 3] : (tensor<1x4x16x1xf32>) -> tensor<1x4x16x16xf32>
    %42 = stablehlo.multiply %40, %41 : tensor<1x4x16x16xf32>
    %43 = stablehlo.multiply %42, %29 : tensor<1x4x16x16xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.reduce(%43 init: %cst_10) applies stablehlo.add across dimensions = [3] : (tensor<1x4x16x16xf32>, tensor<f32>) -> tensor<1x4x16xf32>
    %45 = stablehlo.reshape %44 : (tensor<1x4x16xf32>) -> tensor<1x4x16x1xf32>
    %46 = stablehlo.negate %45 : tensor<1x4x16x1xf32>
    %47 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<1x4x16x1xf32>) -> tensor<1x4x16x16xf32>
    %48 = stablehlo.divide %40, %47 : tensor<1x4x16x16xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %49 = stablehlo.reduce(%46 init: %cst_11) applies stablehlo.add across dimensions = [0, 3] : (tensor<1x4x16x1xf32>, tensor<f32>) -> tensor<4x16xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [1, 2] : (tensor<4x16xf32>) -> tensor<1x4x16xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2] : (tensor<1x4x16xf32>) -> tensor<1x4x16x16xf32>
    %52 = stablehlo.add %48, %51 : tensor<1x4x16x16xf32>
    %53 = stablehlo.multiply %52, %29 : tensor<1x4x16x16xf32>
    %54 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<1x4x16x16xf32>
    %55 = stablehlo.divide %53, %54 : tensor<1x4x16x16xf32>
    %56 = stablehlo.dot_general %55, %arg0, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x4x16x16xf32>, tensor<1x4x16x4xf32>) -> tensor<1x4x16x4xf32>
    %57 = stablehlo.dot_general %55, %1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x4x16x16xf32>, tensor<1x4x16x4xf32>) -> tensor<1x4x16x4xf32>
    %58 = stablehlo.reshape %39 : (tensor<1x4x16x4xf32>) -> tensor<1x2x2x16x4xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %59 = stablehlo.reduce(%58 init: %cst_12) applies stablehlo.add across dimensions = [0, 2] : (tensor<1x2x2x16x4xf32>, tensor<f32>) -> tensor<2x16x4xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [1, 2, 3] : (tensor<2x16x4xf32>) -> tensor<1x2x16x4xf32>
    %61 = stablehlo.reshape %56 : (tensor<1x4x16x4xf32>) -> tensor<1x2x2x16x4xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %62 = stablehlo.reduce(%61 init: %cst_13) applies stablehlo.add across dimensions = [0, 2] : (tensor<1x2x2x16x4xf32>, tensor<f32>) -> tensor<2x16x4xf32>
    %63 = stablehlo.broadcast_in_dim %62, dims = [1, 2, 3] : (tensor<2x16x4xf32>) -> tensor<1x2x16x4xf32>
    return %37, %57, %63, %60 : tensor<1x4x16x4xf32>, tensor<1x4x16x4xf32>, tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>
  }
}
