module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x2x16x4xf32>, %arg1: tensor<1x2x16x4xf32>, %arg2: tensor<1x2x16x4xf32>, %arg3: tensor<16x16xi1>, %arg4: tensor<1x2x16x4xf32>) -> (tensor<1x2x16x4xf32> {jax.result_info = "result[0]"}, tensor<1x2x16x4xf32> {jax.result_info = "result[1]"}, tensor<1x2x16x4xf32> {jax.result_info = "result[2]"}, tensor<1x2x16x4xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<16x16xi32>
    %1 = stablehlo.iota dim = 1 : tensor<16x16xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x16xi32>
    %3 = stablehlo.add %0, %2 : tensor<16x16xi32>
    %4 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
    %5 = stablehlo.or %arg3, %4 : tensor<16x16xi1>
    %6 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>) -> tensor<1x2x16x16xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %7 = stablehlo.sqrt %cst : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<1x2x16x16xf32>
    %9 = stablehlo.divide %6, %8 : tensor<1x2x16x16xf32>
    %cst_0 = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %10:3 = call @_where(%5, %9, %cst_0) : (tensor<16x16xi1>, tensor<1x2x16x16xf32>, tensor<f32>) -> (tensor<1x2x16x16xf32>, tensor<1x2x16x16xi1>, tensor<1x2x16x16xf32>)
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11 = stablehlo.reduce(%10#0 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x16x16xf32>, tensor<f32>) -> tensor<1x2x16xf32>
    %12 = stablehlo.reshape %11 : (tensor<1x2x16xf32>) -> tensor<1x2x16x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x16xf32>
    %14 = stablehlo.compare EQ, %10#0, %13, FLOAT : (tensor<1x2x16x16xf32>, tensor<1x2x16x16xf32>) -> tensor<1x2x16x16xi1>
    %15 = stablehlo.convert %14 : (tensor<1x2x16x16xi1>) -> tensor<1x2x16x16xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<1x2x16x16xf32>, tensor<f32>) -> tensor<1x2x16xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %18 = stablehlo.maximum %17, %11 : tensor<1x2x16xf32>
    %19 = stablehlo.compare EQ, %11, %18, FLOAT : (tensor<1x2x16xf32>, tensor<1x2x16xf32>) -> tensor<1x2x16xi1>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %22 = stablehlo.select %19, %20, %21 : tensor<1x2x16xi1>, tensor<1x2x16xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %24 = stablehlo.compare EQ, %23, %18, FLOAT : (tensor<1x2x16xf32>, tensor<1x2x16xf32>) -> tensor<1x2x16xi1>
    %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %27 = stablehlo.select %24, %25, %26 : tensor<1x2x16xi1>, tensor<1x2x16xf32>
    %28 = stablehlo.divide %22, %27 : tensor<1x2x16xf32>
    %29 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2] : (tensor<1x2x16xf32>) -> tensor<1x2x16x1xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x16xf32>
    %31 = stablehlo.subtract %10#0, %30 : tensor<1x2x16x16xf32>
    %32 = stablehlo.exponential %31 : tensor<1x2x16x16xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%32 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<1x2x16x16xf32>, tensor<f32>) -> tensor<1x2x16xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2] : (tensor<1x2x16xf32>) -> tensor<1x2x16x1xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x16xf32>
    %36 = stablehlo.divide %32, %35 : tensor<1x2x16x16xf32>
    %37 = stablehlo.multiply %34, %34 : tensor<1x2x16x1xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<1x2x16x1xf32>
    %39 = stablehlo.divide %38, %37 : tensor<1x2x16x1xf32>
    %40 = stablehlo.dot_general %36, %arg2, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x16xf32>, tensor<1x2x16x4xf32>) -> tensor<1x2x16x4xf32>
    %41 = stablehlo.dot_general %arg4, %36, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x4xf32>, tensor<1x2x16x16xf32>) -> tensor<1x2x4x16xf32>
    %42 = stablehlo.transpose %41, dims = [0, 1, 3, 2] : (tensor<1x2x4x16xf32>) -> tensor<1x2x16x4xf32>
    %43 = stablehlo.dot_general %arg4, %arg2, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>) -> tensor<1x2x16x16xf32>
    %44 = stablehlo.broadcast_in_dim %39, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x16xf32>
    %45 = stablehlo.multiply %43, %44 : tensor<1x2x16x16xf32>
    %46 = stablehlo.multiply %45, %32 : tensor<1x2x16x16xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %47 = stablehlo.reduce(%46 init: %cst_11) applies stablehlo.add across dimensions = [3] : (tensor<1x2x16x16xf32>, tensor<f32>) -> tensor<1x2x16xf32>
    %48 = stablehlo.reshape %47 : (tensor<1x2x16xf32>) -> tensor<1x2x16x1xf32>
    %49 = stablehlo.negate %48 : tensor<1x2x16x1xf32>
    %50 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x16xf32>
    %51 = stablehlo.divide %43, %50 : tensor<1x2x16x16xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %52 = stablehlo.reduce(%49 init: %cst_12) applies stablehlo.add across dimensions = [0, 3] : (tensor<1x2x16x1xf32>, tensor<f32>) -> tensor<2x16xf32>
    %53 = stablehlo.broadcast_in_dim %52, dims = [1, 2] : (tensor<2x16xf32>) -> tensor<1x2x16xf32>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 2] : (tensor<1x2x16xf32>) -> tensor<1x2x16x16xf32>
    %55 = stablehlo.add %51, %54 : tensor<1x2x16x16xf32>
    %56 = stablehlo.multiply %55, %32 : tensor<1x2x16x16xf32>
    %57 = call @_where_0(%10#1, %10#2, %56) : (tensor<1x2x16x16xi1>, tensor<1x2x16x16xf32>, tensor<1x2x16x16xf32>) -> tensor<1x2x16x16xf32>
    %58 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<1x2x16x16xf32>
    %59 = stablehlo.divide %57, %58 : tensor<1x2x16x16xf32>
    %60 = stablehlo.dot_general %59, %arg0, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x16xf32>, tensor<1x2x16x4xf32>) -> tensor<1x2x16x4xf32>
    %61 = stablehlo.dot_general %59, %arg1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x16xf32>, tensor<1x2x16x4xf32>) -> tensor<1x2x16x4xf32>
    return %40, %61, %60, %42 : tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>
  }
  func.func private @_where(%arg0: tensor<16x16xi1>, %arg1: tensor<1x2x16x16xf32>, %arg2: tensor<f32>) -> (tensor<1x2x16x16xf32>, tensor<1x2x16x16xi1>, tensor<1x2x16x16xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<16x16xi1>) -> tensor<1x2x16x16xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x2x16x16xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<1x2x16x16xi1>, tensor<1x2x16x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x2x16x16xf32>
    return %3, %1, %4 : tensor<1x2x16x16xf32>, tensor<1x2x16x16xi1>, tensor<1x2x16x16xf32>
  }
  func.func private @_where_0(%arg0: tensor<1x2x16x16xi1>, %arg1: tensor<1x2x16x16xf32>, %arg2: tensor<1x2x16x16xf32>) -> tensor<1x2x16x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x2x16x16xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<1x2x16x16xi1>, tensor<1x2x16x16xf32>
    return %1 : tensor<1x2x16x16xf32>
  }
}
