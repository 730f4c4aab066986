module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x7x5x8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<8xf32>, %arg3: tensor<4x7x5x8xf32>) -> (tensor<4x7x5x8xf32> {jax.result_info = "result[0]"}, tensor<4x7x5x8xf32> {jax.result_info = "result[1]"}, tensor<8xf32> {jax.result_info = "result[2]"}, tensor<8xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<4x7x5x8xf32>) -> tensor<4x7x5x1x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<4x7x5x1x8xf32>, tensor<f32>) -> tensor<4x1xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 3] : (tensor<4x1xf32>) -> tensor<4x1x1x1x1xf32>
    %cst_0 = stablehlo.constant dense<2.800000e+02> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x1x1x1x1xf32>
    %4 = stablehlo.divide %2, %3 : tensor<4x1x1x1x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2, 3, 4] : (tensor<4x1x1x1x1xf32>) -> tensor<4x7x5x1x8xf32>
    %6 = stablehlo.subtract %0, %5 : tensor<4x7x5x1x8xf32>
    %7 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2, 3, 4] : (tensor<4x1x1x1x1xf32>) -> tensor<4x7x5x1x8xf32>
    %8 = stablehlo.subtract %0, %7 : tensor<4x7x5x1x8xf32>
    %9 = stablehlo.multiply %8, %8 : tensor<4x7x5x1x8xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x7x5x1x8xf32>
    %11 = stablehlo.multiply %10, %8 : tensor<4x7x5x1x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%9 init: %cst_2) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<4x7x5x1x8xf32>, tensor<f32>) -> tensor<4x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 3] : (tensor<4x1xf32>) -> tensor<4x1x1x1x1xf32>
    %cst_3 = stablehlo.constant dense<2.800000e+02> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x1x1x1x1xf32>
    %15 = stablehlo.divide %13, %14 : tensor<4x1x1x1x1xf32>
    %cst_4 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x1x1x1x1xf32>
    %17 = stablehlo.add %15, %16 : tensor<4x1x1x1x1xf32>
    %18 = stablehlo.rsqrt %17 : tensor<4x1x1x1x1xf32>
    %19 = stablehlo.divide %18, %17 : tensor<4x1x1x1x1xf32>
    %cst_5 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x1x1x1x1xf32>
    %21 = stablehlo.multiply %20, %19 : tensor<4x1x1x1x1xf32>
    %22 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3, 4] : (tensor<4x1x1x1x1xf32>) -> tensor<4x7x5x1x8xf32>
    %23 = stablehlo.multiply %6, %22 : tensor<4x7x5x1x8xf32>
    %24 = stablehlo.reshape %23 : (tensor<4x7x5x1x8xf32>) -> tensor<4x7x5x8xf32>
    %25 = stablehlo.broadcast_in_dim %arg1, dims = [3] : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2, 3] : (tensor<1x1x1x8xf32>) -> tensor<4x7x5x8xf32>
    %27 = stablehlo.multiply %24, %26 : tensor<4x7x5x8xf32>
    %28 = stablehlo.broadcast_in_dim %arg2, dims = [3] : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2, 3] : (tensor<1x1x1x8xf32>) -> tensor<4x7x5x8xf32>
    %30 = stablehlo.add %27, %29 : tensor<4x7x5x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.reduce(%arg3 init: %cst_6) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x7x5x8xf32>, tensor<f32>) -> tensor<8xf32>
    %32 = stablehlo.reshape %31 : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%32 init: %cst_7) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %34 = stablehlo.multiply %24, %arg3 : tensor<4x7x5x8xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.reduce(%34 init: %cst_8) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x7x5x8xf32>, tensor<f32>) -> tensor<8xf32>
    %36 = stablehlo.reshape %35 : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %37 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2, 3] : (tensor<1x1x1x8xf32>) -> tensor<4x7x5x8xf32>
    %38 = stablehlo.multiply %arg3, %37 : tensor<4x7x5x8xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.reduce(%36 init: %cst_9) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %40 = stablehlo.reshape %38 : (tensor<4x7x5x8xf32>) -> tensor<4x7x5x1x8xf32>
    %41 = stablehlo.multiply %6, %40 : tensor<4x7x5x1x8xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.reduce(%41 init: %cst_10) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<4x7x5x1x8xf32>, tensor<f32>) -> tensor<4x1xf32>
    %43 = stablehlo.reshape %42 : (tensor<4x1xf32>) -> tensor<4x1x1x1x1xf32>
    %44 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3, 4] : (tensor<4x1x1x1x1xf32>) -> tensor<4x7x5x1x8xf32>
    %45 = stablehlo.multiply %40, %44 : tensor<4x7x5x1x8xf32>
    %46 = stablehlo.multiply %43, %21 : tensor<4x1x1x1x1xf32>
    %cst_11 = stablehlo.constant dense<2.800000e+02> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x1x1x1x1xf32>
    %48 = stablehlo.divide %46, %47 : tensor<4x1x1x1x1xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %49 = stablehlo.reduce(%48 init: %cst_12) applies stablehlo.add across dimensions = [1, 2, 3, 4] : (tensor<4x1x1x1x1xf32>, tensor<f32>) -> tensor<4xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 3] : (tensor<4x1xf32>) -> tensor<4x7x5x1x8xf32>
    %52 = stablehlo.multiply %51, %11 : tensor<4x7x5x1x8xf32>
    %53 = stablehlo.negate %52 : tensor<4x7x5x1x8xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.reduce(%53 init: %cst_13) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<4x7x5x1x8xf32>, tensor<f32>) -> tensor<4x1xf32>
    %55 = stablehlo.reshape %54 : (tensor<4x1xf32>) -> tensor<4x1x1x1x1xf32>
    %56 = stablehlo.negate %45 : tensor<4x7x5x1x8xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %57 = stablehlo.reduce(%56 init: %cst_14) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<4x7x5x1x8xf32>, tensor<f32>) -> tensor<4x1xf32>
    %58 = stablehlo.reshape %57 : (tensor<4x1xf32>) -> tensor<4x1x1x1x1xf32>
    %59 = stablehlo.add %52, %45 : tensor<4x7x5x1x8xf32>
    %60 = stablehlo.add %55, %58 : tensor<4x1x1x1x1xf32>
    %cst_15 = stablehlo.constant dense<2.800000e+02> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<4x1x1x1x1xf32>
    %62 = stablehlo.divide %60, %61 : tensor<4x1x1x1x1xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %63 = stablehlo.reduce(%62 init: %cst_16) applies stablehlo.add across dimensions = [1, 2, 3, 4] : (tensor<4x1x1x1x1xf32>, tensor<f32>) -> tensor<4xf32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %65 = stablehlo.broadcast_in_dim %64, dims = [0, 3] : (tensor<4x1xf32>) -> tensor<4x7x5x1x8xf32>
    %66 = stablehlo.add %59, %65 : tensor<4x7x5x1x8xf32>
    %67 = stablehlo.reshape %66 : (tensor<4x7x5x1x8xf32>) -> tensor<4x7x5x8xf32>
    return %30, %67, %39, %33 : tensor<4x7x5x8xf32>, tensor<4x7x5x8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}
