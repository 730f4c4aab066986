module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x2x16x4xf32>, %arg1: tensor<1x2x16x4xf32>, %arg2: tensor<1x2x16x4xf32>, %arg3: tensor<1x2x16x4xf32>) -> (tensor<1x2x16x4xf32> {jax.result_info = "result[0]"}, tensor<1x2x16x4xf32> {jax.result_info = "result[1]"}, tensor<1x2x16x4xf32> {jax.result_info = "result[2]"}, tensor<1x2x16x4xf32> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<true> : tensor<i1>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<16x16xi1>
    %1 = call @tril(%0) : (tensor<16x16xi1>) -> tensor<16x16xi1>
    %2 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>) -> tensor<1x2x16x16xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %3 = stablehlo.sqrt %cst : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<1x2x16x16xf32>
    %5 = stablehlo.divide %2, %4 : tensor<1x2x16x16xf32>
    %cst_0 = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %6:3 = call @_where(%1, %5, %cst_0) : (tensor<16x16xi1>, tensor<1x2x16x16xf32>, tensor<f32>) -> (tensor<1x2x16x16xf32>, tensor<1x2x16x16xi1>, tensor<1x2x16x16xf32>)
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.reduce(%6#0 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x16x16xf32>, tensor<f32>) -> tensor<1x2x16xf32>
    %8 = stablehlo.reshape %7 : (tensor<1x2x16xf32>) -> tensor<1x2x16x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x16xf32>
    %10 = stablehlo.compare EQ, %6#0, %9, FLOAT : (tensor<1x2x16x16xf32>, tensor<1x2x16x16xf32>) -> tensor<1x2x16x16xi1>
    %11 = stablehlo.convert %10 : (tensor<1x2x16x16xi1>) -> tensor<1x2x16x16xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<1x2x16x16xf32>, tensor<f32>) -> tensor<1x2x16xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %14 = stablehlo.maximum %13, %7 : tensor<1x2x16xf32>
    %15 = stablehlo.compare EQ, %7, %14, FLOAT : (tensor<1x2x16xf32>, tensor<1x2x16xf32>) -> tensor<1x2x16xi1>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %18 = stablehlo.select %15, %16, %17 : tensor<1x2x16xi1>, tensor<1x2x16xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %20 = stablehlo.compare EQ, %19, %14, FLOAT : (tensor<1x2x16xf32>, tensor<1x2x16xf32>) -> tensor<1x2x16xi1>
    %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1x2x16xf32>
    %23 = stablehlo.select %20, %21, %22 : tensor<1x2x16xi1>, tensor<1x2x16xf32>
    %24 = stablehlo.divide %18, %23 : tensor<1x2x16xf32>
    %25 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<1x2x16xf32>) -> tensor<1x2x16x1xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x16xf32>
    %27 = stablehlo.subtract %6#0, %26 : tensor<1x2x16x16xf32>
    %28 = stablehlo.exponential %27 : tensor<1x2x16x16xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.reduce(%28 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<1x2x16x16xf32>, tensor<f32>) -> tensor<1x2x16xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<1x2x16xf32>) -> tensor<1x2x16x1xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x16xf32>
    %32 = stablehlo.divide %28, %31 : tensor<1x2x16x16xf32>
    %33 = stablehlo.multiply %30, %30 : tensor<1x2x16x1xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<1x2x16x1xf32>
    %35 = stablehlo.divide %34, %33 : tensor<1x2x16x1xf32>
    %36 = stablehlo.dot_general %32, %arg2, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x16xf32>, tensor<1x2x16x4xf32>) -> tensor<1x2x16x4xf32>
    %37 = stablehlo.dot_general %arg3, %32, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x4xf32>, tensor<1x2x16x16xf32>) -> tensor<1x2x4x16xf32>
    %38 = stablehlo.transpose %37, dims = [0, 1, 3, 2] : (tensor<1x2x4x16xf32>) -> tensor<1x2x16x4xf32>
    %39 = stablehlo.dot_general %arg3, %arg2, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>) -> tensor<1x2x16x16xf32>
    %40 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x16xf32>
    %41 = stablehlo.multiply %39, %40 : tensor<1x2x16x16xf32>
    %42 = stablehlo.multiply %41, %28 : tensor<1x2x16x16xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.reduce(%42 init: %cst_11) applies stablehlo.add across dimensions = [3] : (tensor<1x2x16x16xf32>, tensor<f32>) -> tensor<1x2x16xf32>
    %44 = stablehlo.reshape %43 : (tensor<1x2x16xf32>) -> tensor<1x2x16x1xf32>
    %45 = stablehlo.negate %44 : tensor<1x2x16x1xf32>
    %46 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3] : (tensor<1x2x16x1xf32>) -> tensor<1x2x16x16xf32>
    %47 = stablehlo.divide %39, %46 : tensor<1x2x16x16xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.reduce(%45 init: %cst_12) applies stablehlo.add across dimensions = [0, 3] : (tensor<1x2x16x1xf32>, tensor<f32>) -> tensor<2x16xf32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [1, 2] : (tensor<2x16xf32>) -> tensor<1x2x16xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2] : (tensor<1x2x16xf32>) -> tensor<1x2x16x16xf32>
    %51 = stablehlo.add %47, %50 : tensor<1x2x16x16xf32>
    %52 = stablehlo.multiply %51, %28 : tensor<1x2x16x16xf32>
    %53 = call @_where_0(%6#1, %6#2, %52) : (tensor<1x2x16x16xi1>, tensor<1x2x16x16xf32>, tensor<1x2x16x16xf32>) -> tensor<1x2x16x16xf32>
    %54 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<1x2x16x16xf32>
    %55 = stablehlo.divide %53, %54 : tensor<1x2x16x16xf32>
    %56 = stablehlo.dot_general %55, %arg0, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x16xf32>, tensor<1x2x16x4xf32>) -> tensor<1x2x16x4xf32>
    %57 = stablehlo.dot_general %55, %arg1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x16x16xf32>, tensor<1x2x16x4xf32>) -> tensor<1x2x16x4xf32>
    return %36, %57, %56, %38 : tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>
  }
  func.func private @tril(%arg0: tensor<16x16xi1>) -> tensor<16x16xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<16x16xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x16xi32>
    %2 = stablehlo.add %0, %1 : tensor<16x16xi32>
    %3 = stablehlo.iota dim = 1 : tensor<16x16xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<16x16xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<16x16xi1>, tensor<16x16xi1>
    return %6 : tensor<16x16xi1>
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
