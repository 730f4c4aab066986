module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<f32>, %arg3: tensor<12xf32>, %arg4: tensor<8xf32>) -> (tensor<8xf32> {jax.result_info = "result[0]"}, tensor<f32> {jax.result_info = "result[1]"}, tensor<12xf32> {jax.result_info = "result[2]"}, tensor<8xf32> {jax.result_info = "result[3]"}, tensor<12x8xf32> {jax.result_info = "result[4]"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [0] : (tensor<12x8xf32>, tensor<f32>) -> tensor<8xf32>
    %1 = stablehlo.reshape %0 : (tensor<8xf32>) -> tensor<1x8xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<12x8xf32>
    %3 = stablehlo.compare EQ, %arg0, %2, FLOAT : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xi1>
    %4 = stablehlo.convert %3 : (tensor<12x8xi1>) -> tensor<12x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<12x8xf32>, tensor<f32>) -> tensor<8xf32>
    %cst_1 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %6 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<12x8xf32>, tensor<f32>) -> tensor<f32>
    %7 = stablehlo.reshape %6 : (tensor<f32>) -> tensor<1x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<12x8xf32>
    %9 = stablehlo.compare EQ, %arg0, %8, FLOAT : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xi1>
    %10 = stablehlo.convert %9 : (tensor<12x8xi1>) -> tensor<12x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<12x8xf32>, tensor<f32>) -> tensor<f32>
    %12 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<12x8xf32>) -> tensor<8x12xf32>
    %13 = stablehlo.reshape %12 : (tensor<8x12xf32>) -> tensor<8x12xf32>
    %14 = stablehlo.slice %13 [0:4, 0:12] : (tensor<8x12xf32>) -> tensor<4x12xf32>
    %15 = stablehlo.slice %13 [4:8, 0:12] : (tensor<8x12xf32>) -> tensor<4x12xf32>
    %16 = stablehlo.multiply %14, %15 : tensor<4x12xf32>
    %17 = stablehlo.slice %16 [0:2, 0:12] : (tensor<4x12xf32>) -> tensor<2x12xf32>
    %18 = stablehlo.slice %16 [2:4, 0:12] : (tensor<4x12xf32>) -> tensor<2x12xf32>
    %19 = stablehlo.multiply %17, %18 : tensor<2x12xf32>
    %20 = stablehlo.slice %19 [0:1, 0:12] : (tensor<2x12xf32>) -> tensor<1x12xf32>
    %21 = stablehlo.slice %19 [1:2, 0:12] : (tensor<2x12xf32>) -> tensor<1x12xf32>
    %22 = stablehlo.multiply %20, %21 : tensor<1x12xf32>
    %23 = stablehlo.reshape %22 : (tensor<1x12xf32>) -> tensor<12xf32>
    %24 = stablehlo.multiply %arg0, %arg0 : tensor<12x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<12x8xf32>, tensor<f32>) -> tensor<8xf32>
    %26 = stablehlo.sqrt %25 : tensor<8xf32>
    %cst_4 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %28 = stablehlo.divide %27, %26 : tensor<8xf32>
    %29 = stablehlo.multiply %arg4, %28 : tensor<8xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [1] : (tensor<8xf32>) -> tensor<12x8xf32>
    %31 = stablehlo.multiply %arg0, %30 : tensor<12x8xf32>
    %32 = stablehlo.multiply %30, %arg0 : tensor<12x8xf32>
    %33 = stablehlo.add %31, %32 : tensor<12x8xf32>
    %34 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<12xf32>) -> tensor<1x12xf32>
    %35 = stablehlo.multiply %20, %34 : tensor<1x12xf32>
    %36 = stablehlo.multiply %34, %21 : tensor<1x12xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.pad %35, %cst_5, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<1x12xf32>, tensor<f32>) -> tensor<2x12xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.pad %36, %cst_6, low = [0, 0], high = [1, 0], interior = [0, 0] : (tensor<1x12xf32>, tensor<f32>) -> tensor<2x12xf32>
    %39 = stablehlo.add %37, %38 : tensor<2x12xf32>
    %40 = stablehlo.multiply %17, %39 : tensor<2x12xf32>
    %41 = stablehlo.multiply %39, %18 : tensor<2x12xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.pad %40, %cst_7, low = [2, 0], high = [0, 0], interior = [0, 0] : (tensor<2x12xf32>, tensor<f32>) -> tensor<4x12xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.pad %41, %cst_8, low = [0, 0], high = [2, 0], interior = [0, 0] : (tensor<2x12xf32>, tensor<f32>) -> tensor<4x12xf32>
    %44 = stablehlo.add %42, %43 : tensor<4x12xf32>
    %45 = stablehlo.multiply %14, %44 : tensor<4x12xf32>
    %46 = stablehlo.multiply %44, %15 : tensor<4x12xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %47 = stablehlo.pad %45, %cst_9, low = [4, 0], high = [0, 0], interior = [0, 0] : (tensor<4x12xf32>, tensor<f32>) -> tensor<8x12xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.pad %46, %cst_10, low = [0, 0], high = [4, 0], interior = [0, 0] : (tensor<4x12xf32>, tensor<f32>) -> tensor<8x12xf32>
    %49 = stablehlo.add %47, %48 : tensor<8x12xf32>
    %50 = stablehlo.transpose %49, dims = [1, 0] : (tensor<8x12xf32>) -> tensor<12x8xf32>
    %51 = stablehlo.add %33, %50 : tensor<12x8xf32>
    %52 = stablehlo.divide %arg2, %11 : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %52, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %54 = stablehlo.multiply %53, %10 : tensor<12x8xf32>
    %55 = stablehlo.add %51, %54 : tensor<12x8xf32>
    %56 = stablehlo.divide %arg1, %5 : tensor<8xf32>
    %57 = stablehlo.broadcast_in_dim %56, dims = [1] : (tensor<8xf32>) -> tensor<12x8xf32>
    %58 = stablehlo.multiply %57, %4 : tensor<12x8xf32>
    %59 = stablehlo.add %55, %58 : tensor<12x8xf32>
    return %0, %6, %23, %26, %59 : tensor<8xf32>, tensor<f32>, tensor<12xf32>, tensor<8xf32>, tensor<12x8xf32>
  }
}
