module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x8x8x1x4xf32>, %arg1: tensor<1x8x8x1x4xf32>, %arg2: tensor<1x8x8x1x4xf32>, %arg3: tensor<1x8x8x1x4xf32>) -> (tensor<1x8x8x1x4xf32> {jax.result_info = "result[0]"}, tensor<1x8x8x1x4xf32> {jax.result_info = "result[1]"}, tensor<1x8x8x1x4xf32> {jax.result_info = "result[2]"}, tensor<1x8x8x1x4xf32> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = call @_pad(%arg1, %c) : (tensor<1x8x8x1x4xf32>, tensor<i32>) -> (tensor<1x10x10x1x4xf32>, tensor<f32>)
    %1 = stablehlo.slice %0#0 [0:1, 0:8, 0:8, 0:1, 0:4] : (tensor<1x10x10x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %2 = stablehlo.slice %0#0 [0:1, 0:8, 1:9, 0:1, 0:4] : (tensor<1x10x10x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %3 = stablehlo.slice %0#0 [0:1, 0:8, 2:10, 0:1, 0:4] : (tensor<1x10x10x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %4 = stablehlo.slice %0#0 [0:1, 1:9, 0:8, 0:1, 0:4] : (tensor<1x10x10x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %5 = stablehlo.slice %0#0 [0:1, 1:9, 1:9, 0:1, 0:4] : (tensor<1x10x10x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %6 = stablehlo.slice %0#0 [0:1, 1:9, 2:10, 0:1, 0:4] : (tensor<1x10x10x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %7 = stablehlo.slice %0#0 [0:1, 2:10, 0:8, 0:1, 0:4] : (tensor<1x10x10x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %8 = stablehlo.slice %0#0 [0:1, 2:10, 1:9, 0:1, 0:4] : (tensor<1x10x10x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %9 = stablehlo.slice %0#0 [0:1, 2:10, 2:10, 0:1, 0:4] : (tensor<1x10x10x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %10 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 4, 5] : (tensor<1x8x8x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %11 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2, 4, 5] : (tensor<1x8x8x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %12 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 4, 5] : (tensor<1x8x8x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %13 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2, 4, 5] : (tensor<1x8x8x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %14 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2, 4, 5] : (tensor<1x8x8x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %15 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2, 4, 5] : (tensor<1x8x8x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %16 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 4, 5] : (tensor<1x8x8x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %17 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 4, 5] : (tensor<1x8x8x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %18 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 4, 5] : (tensor<1x8x8x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %19 = stablehlo.concatenate %10, %11, %12, %13, %14, %15, %16, %17, %18, dim = 3 : (tensor<1x8x8x1x1x4xf32>, tensor<1x8x8x1x1x4xf32>, tensor<1x8x8x1x1x4xf32>, tensor<1x8x8x1x1x4xf32>, tensor<1x8x8x1x1x4xf32>, tensor<1x8x8x1x1x4xf32>, tensor<1x8x8x1x1x4xf32>, tensor<1x8x8x1x1x4xf32>, tensor<1x8x8x1x1x4xf32>) -> tensor<1x8x8x9x1x4xf32>
    %20 = stablehlo.dot_general %arg0, %19, batching_dims = [0, 1, 2, 3] x [0, 1, 2, 4], contracting_dims = [4] x [5], precision = [DEFAULT, DEFAULT] : (tensor<1x8x8x1x4xf32>, tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x9xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %21 = stablehlo.reduce(%20 init: %cst) applies stablehlo.maximum across dimensions = [4] : (tensor<1x8x8x1x9xf32>, tensor<f32>) -> tensor<1x8x8x1xf32>
    %22 = stablehlo.reshape %21 : (tensor<1x8x8x1xf32>) -> tensor<1x8x8x1x1xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3, 4] : (tensor<1x8x8x1x1xf32>) -> tensor<1x8x8x1x9xf32>
    %24 = stablehlo.compare EQ, %20, %23, FLOAT : (tensor<1x8x8x1x9xf32>, tensor<1x8x8x1x9xf32>) -> tensor<1x8x8x1x9xi1>
    %25 = stablehlo.convert %24 : (tensor<1x8x8x1x9xi1>) -> tensor<1x8x8x1x9xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_0) applies stablehlo.add across dimensions = [4] : (tensor<1x8x8x1x9xf32>, tensor<f32>) -> tensor<1x8x8x1xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x8x8x1xf32>
    %28 = stablehlo.maximum %27, %21 : tensor<1x8x8x1xf32>
    %29 = stablehlo.compare EQ, %21, %28, FLOAT : (tensor<1x8x8x1xf32>, tensor<1x8x8x1xf32>) -> tensor<1x8x8x1xi1>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x8x8x1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x8x8x1xf32>
    %32 = stablehlo.select %29, %30, %31 : tensor<1x8x8x1xi1>, tensor<1x8x8x1xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x8x8x1xf32>
    %34 = stablehlo.compare EQ, %33, %28, FLOAT : (tensor<1x8x8x1xf32>, tensor<1x8x8x1xf32>) -> tensor<1x8x8x1xi1>
    %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x8x8x1xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<1x8x8x1xf32>
    %37 = stablehlo.select %34, %35, %36 : tensor<1x8x8x1xi1>, tensor<1x8x8x1xf32>
    %38 = stablehlo.divide %32, %37 : tensor<1x8x8x1xf32>
    %39 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2, 3] : (tensor<1x8x8x1xf32>) -> tensor<1x8x8x1x1xf32>
    %40 = stablehlo.broadcast_in_dim %39, dims = [0, 1, 2, 3, 4] : (tensor<1x8x8x1x1xf32>) -> tensor<1x8x8x1x9xf32>
    %41 = stablehlo.subtract %20, %40 : tensor<1x8x8x1x9xf32>
    %42 = stablehlo.exponential %41 : tensor<1x8x8x1x9xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.reduce(%42 init: %cst_7) applies stablehlo.add across dimensions = [4] : (tensor<1x8x8x1x9xf32>, tensor<f32>) -> tensor<1x8x8x1xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2, 3] : (tensor<1x8x8x1xf32>) -> tensor<1x8x8x1x1xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2, 3, 4] : (tensor<1x8x8x1x1xf32>) -> tensor<1x8x8x1x9xf32>
    %46 = stablehlo.divide %42, %45 : tensor<1x8x8x1x9xf32>
    %47 = stablehlo.multiply %44, %44 : tensor<1x8x8x1x1xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1x8x8x1x1xf32>
    %49 = stablehlo.divide %48, %47 : tensor<1x8x8x1x1xf32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %50:2 = call @_pad(%arg2, %c_9) : (tensor<1x8x8x1x4xf32>, tensor<i32>) -> (tensor<1x10x10x1x4xf32>, tensor<f32>)
    %51 = stablehlo.slice %50#0 [0:1, 0:8, 0:8, 0:1, 0:4] : (tensor<1x10x10x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %52 = stablehlo.slice %50#0 [0:1, 0:8, 1:9, 0:1, 0:4] : (tensor<1x10x10x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %53 = stablehlo.slice %50#0 [0:1, 0:8, 2:10, 0:1, 0:4] : (tensor<1x10x10x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %54 = stablehlo.slice %50#0 [0:1, 1:9, 0:8, 0:1, 0:4] : (tensor<1x10x10x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %55 = stablehlo.slice %50#0 [0:1, 1:9, 1:9, 0:1, 0:4] : (tensor<1x10x10x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %56 = stablehlo.slice %50#0 [0:1, 1:9, 2:10, 0:1, 0:4] : (tensor<1x10x10x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %57 = stablehlo.slice %50#0 [0:1, 2:10, 0:8, 0:1, 0:4] : (tensor<1x10x10x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %58 = stablehlo.slice %50#0 [0:1, 2:10, 1:9, 0:1, 0:4] : (tensor<1x10x10x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %59 = stablehlo.slice %50#0 [0:1, 2:10, 2:10, 0:1, 0:4] : (tensor<1x10x10x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %60 = stablehlo.broadcast_in_dim %51, dims = [0, 1, 2, 4, 5] : (tensor<1x8x8x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %61 = stablehlo.broadcast_in_dim %52, dims = [0, 1, 2, 4, 5] : (tensor<1x8x8x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %62 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 2, 4, 5] : (tensor<1x8x8x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %63 = stablehlo.broadcast_in_dim %54, dims = [0, 1, 2, 4, 5] : (tensor<1x8x8x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %64 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2, 4, 5] : (tensor<1x8x8x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %65 = stablehlo.broadcast_in_dim %56, dims = [0, 1, 2, 4, 5] : (tensor<1x8x8x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %66 = stablehlo.broadcast_in_dim %57, dims = [0, 1, 2, 4, 5] : (tensor<1x8x8x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %67 = stablehlo.broadcast_in_dim %58, dims = [0, 1, 2, 4, 5] : (tensor<1x8x8x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %68 = stablehlo.broadcast_in_dim %59, dims = [0, 1, 2, 4, 5] : (tensor<1x8x8x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %69 = stablehlo.concatenate %60, %61, %62, %63, %64, %65, %66, %67, %68, dim = 3 : (tensor<1x8x8x1x1x4xf32>, tensor<1x8x8x1x1x4xf32>, tensor<1x8x8x1x1x4xf32>, tensor<1x8x8x1x1x4xf32>, tensor<1x8x8x1x1x4xf32>, tensor<1x8x8x1x1x4xf32>, tensor<1x8x8x1x1x4xf32>, tensor<1x8x8x1x1x4xf32>, tensor<1x8x8x1x1x4xf32>) -> tensor<1x8x8x9x1x4xf32>
    %70 = stablehlo.dot_general %46, %69, batching_dims = [0, 1, 2, 3] x [0, 1, 2, 4], contracting_dims = [4] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x8x8x1x9xf32>, tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %71 = stablehlo.dot_general %arg3, %46, batching_dims = [0, 1, 2, 3] x [0, 1, 2, 3], contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<1x8x8x1x4xf32>, tensor<1x8x8x1x9xf32>) -> tensor<1x8x8x1x4x9xf32>
    %72 = stablehlo.transpose %71, dims = [0, 1, 2, 5, 3, 4] : (tensor<1x8x8x1x4x9xf32>) -> tensor<1x8x8x9x1x4xf32>
    %73 = stablehlo.dot_general %arg3, %69, batching_dims = [0, 1, 2, 3] x [0, 1, 2, 4], contracting_dims = [4] x [5], precision = [DEFAULT, DEFAULT] : (tensor<1x8x8x1x4xf32>, tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x9xf32>
    %74 = stablehlo.slice %72 [0:1, 0:8, 0:8, 0:1, 0:1, 0:4] : (tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %75 = stablehlo.reshape %74 : (tensor<1x8x8x1x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %76 = stablehlo.slice %72 [0:1, 0:8, 0:8, 1:2, 0:1, 0:4] : (tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %77 = stablehlo.reshape %76 : (tensor<1x8x8x1x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %78 = stablehlo.slice %72 [0:1, 0:8, 0:8, 2:3, 0:1, 0:4] : (tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %79 = stablehlo.reshape %78 : (tensor<1x8x8x1x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %80 = stablehlo.slice %72 [0:1, 0:8, 0:8, 3:4, 0:1, 0:4] : (tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %81 = stablehlo.reshape %80 : (tensor<1x8x8x1x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %82 = stablehlo.slice %72 [0:1, 0:8, 0:8, 4:5, 0:1, 0:4] : (tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %83 = stablehlo.reshape %82 : (tensor<1x8x8x1x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %84 = stablehlo.slice %72 [0:1, 0:8, 0:8, 5:6, 0:1, 0:4] : (tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %85 = stablehlo.reshape %84 : (tensor<1x8x8x1x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %86 = stablehlo.slice %72 [0:1, 0:8, 0:8, 6:7, 0:1, 0:4] : (tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %87 = stablehlo.reshape %86 : (tensor<1x8x8x1x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %88 = stablehlo.slice %72 [0:1, 0:8, 0:8, 7:8, 0:1, 0:4] : (tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %89 = stablehlo.reshape %88 : (tensor<1x8x8x1x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %90 = stablehlo.slice %72 [0:1, 0:8, 0:8, 8:9, 0:1, 0:4] : (tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %91 = stablehlo.reshape %90 : (tensor<1x8x8x1x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %92 = stablehlo.pad %91, %cst_10, low = [0, 2, 2, 0, 0], high = [0, 0, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x8x1x4xf32>, tensor<f32>) -> tensor<1x10x10x1x4xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %93 = stablehlo.pad %89, %cst_11, low = [0, 2, 1, 0, 0], high = [0, 0, 1, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x8x1x4xf32>, tensor<f32>) -> tensor<1x10x10x1x4xf32>
    %94 = stablehlo.add %92, %93 : tensor<1x10x10x1x4xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %95 = stablehlo.pad %87, %cst_12, low = [0, 2, 0, 0, 0], high = [0, 0, 2, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x8x1x4xf32>, tensor<f32>) -> tensor<1x10x10x1x4xf32>
    %96 = stablehlo.add %94, %95 : tensor<1x10x10x1x4xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %97 = stablehlo.pad %85, %cst_13, low = [0, 1, 2, 0, 0], high = [0, 1, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x8x1x4xf32>, tensor<f32>) -> tensor<1x10x10x1x4xf32>
    %98 = stablehlo.add %96, %97 : tensor<1x10x10x1x4xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %99 = stablehlo.pad %83, %cst_14, low = [0, 1, 1, 0, 0], high = [0, 1, 1, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x8x1x4xf32>, tensor<f32>) -> tensor<1x10x10x1x4xf32>
    %100 = stablehlo.add %98, %99 : tensor<1x10x10x1x4xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %101 = stablehlo.pad %81, %cst_15, low = [0, 1, 0, 0, 0], high = [0, 1, 2, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x8x1x4xf32>, tensor<f32>) -> tensor<1x10x10x1x4xf32>
    %102 = stablehlo.add %100, %101 : tensor<1x10x10x1x4xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %103 = stablehlo.pad %79, %cst_16, low = [0, 0, 2, 0, 0], high = [0, 2, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x8x1x4xf32>, tensor<f32>) -> tensor<1x10x10x1x4xf32>
    %104 = stablehlo.add %102, %103 : tensor<1x10x10x1x4xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %105 = stablehlo.pad %77, %cst_17, low = [0, 0, 1, 0, 0], high = [0, 2, 1, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x8x1x4xf32>, tensor<f32>) -> tensor<1x10x10x1x4xf32>
    %106 = stablehlo.add %104, %105 : tensor<1x10x10x1x4xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %107 = stablehlo.pad %75, %cst_18, low = [0, 0, 0, 0, 0], high = [0, 2, 2, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x8x1x4xf32>, tensor<f32>) -> tensor<1x10x10x1x4xf32>
    %108 = stablehlo.add %106, %107 : tensor<1x10x10x1x4xf32>
    %109 = call @_pad_0(%50#1, %108) : (tensor<f32>, tensor<1x10x10x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %110 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2, 3, 4] : (tensor<1x8x8x1x1xf32>) -> tensor<1x8x8x1x9xf32>
    %111 = stablehlo.multiply %73, %110 : tensor<1x8x8x1x9xf32>
    %112 = stablehlo.multiply %111, %42 : tensor<1x8x8x1x9xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %113 = stablehlo.reduce(%112 init: %cst_19) applies stablehlo.add across dimensions = [4] : (tensor<1x8x8x1x9xf32>, tensor<f32>) -> tensor<1x8x8x1xf32>
    %114 = stablehlo.reshape %113 : (tensor<1x8x8x1xf32>) -> tensor<1x8x8x1x1xf32>
    %115 = stablehlo.negate %114 : tensor<1x8x8x1x1xf32>
    %116 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2, 3, 4] : (tensor<1x8x8x1x1xf32>) -> tensor<1x8x8x1x9xf32>
    %117 = stablehlo.divide %73, %116 : tensor<1x8x8x1x9xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %118 = stablehlo.reduce(%115 init: %cst_20) applies stablehlo.add across dimensions = [0, 3, 4] : (tensor<1x8x8x1x1xf32>, tensor<f32>) -> tensor<8x8xf32>
    %119 = stablehlo.broadcast_in_dim %118, dims = [1, 2] : (tensor<8x8xf32>) -> tensor<1x8x8x1xf32>
    %120 = stablehlo.broadcast_in_dim %119, dims = [0, 1, 2, 3] : (tensor<1x8x8x1xf32>) -> tensor<1x8x8x1x9xf32>
    %121 = stablehlo.add %117, %120 : tensor<1x8x8x1x9xf32>
    %122 = stablehlo.multiply %121, %42 : tensor<1x8x8x1x9xf32>
    %123 = stablehlo.dot_general %122, %arg0, batching_dims = [0, 1, 2, 3] x [0, 1, 2, 3], contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<1x8x8x1x9xf32>, tensor<1x8x8x1x4xf32>) -> tensor<1x8x8x1x9x4xf32>
    %124 = stablehlo.transpose %123, dims = [0, 1, 2, 4, 3, 5] : (tensor<1x8x8x1x9x4xf32>) -> tensor<1x8x8x9x1x4xf32>
    %125 = stablehlo.dot_general %122, %19, batching_dims = [0, 1, 2, 3] x [0, 1, 2, 4], contracting_dims = [4] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x8x8x1x9xf32>, tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %126 = stablehlo.slice %124 [0:1, 0:8, 0:8, 0:1, 0:1, 0:4] : (tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %127 = stablehlo.reshape %126 : (tensor<1x8x8x1x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %128 = stablehlo.slice %124 [0:1, 0:8, 0:8, 1:2, 0:1, 0:4] : (tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %129 = stablehlo.reshape %128 : (tensor<1x8x8x1x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %130 = stablehlo.slice %124 [0:1, 0:8, 0:8, 2:3, 0:1, 0:4] : (tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %131 = stablehlo.reshape %130 : (tensor<1x8x8x1x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %132 = stablehlo.slice %124 [0:1, 0:8, 0:8, 3:4, 0:1, 0:4] : (tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %133 = stablehlo.reshape %132 : (tensor<1x8x8x1x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %134 = stablehlo.slice %124 [0:1, 0:8, 0:8, 4:5, 0:1, 0:4] : (tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %135 = stablehlo.reshape %134 : (tensor<1x8x8x1x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %136 = stablehlo.slice %124 [0:1, 0:8, 0:8, 5:6, 0:1, 0:4] : (tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %137 = stablehlo.reshape %136 : (tensor<1x8x8x1x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %138 = stablehlo.slice %124 [0:1, 0:8, 0:8, 6:7, 0:1, 0:4] : (tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %139 = stablehlo.reshape %138 : (tensor<1x8x8x1x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %140 = stablehlo.slice %124 [0:1, 0:8, 0:8, 7:8, 0:1, 0:4] : (tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %141 = stablehlo.reshape %140 : (tensor<1x8x8x1x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %142 = stablehlo.slice %124 [0:1, 0:8, 0:8, 8:9, 0:1, 0:4] : (tensor<1x8x8x9x1x4xf32>) -> tensor<1x8x8x1x1x4xf32>
    %143 = stablehlo.reshape %142 : (tensor<1x8x8x1x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %144 = stablehlo.pad %143, %cst_21, low = [0, 2, 2, 0, 0], high = [0, 0, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x8x1x4xf32>, tensor<f32>) -> tensor<1x10x10x1x4xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %145 = stablehlo.pad %141, %cst_22, low = [0, 2, 1, 0, 0], high = [0, 0, 1, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x8x1x4xf32>, tensor<f32>) -> tensor<1x10x10x1x4xf32>
    %146 = stablehlo.add %144, %145 : tensor<1x10x10x1x4xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %147 = stablehlo.pad %139, %cst_23, low = [0, 2, 0, 0, 0], high = [0, 0, 2, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x8x1x4xf32>, tensor<f32>) -> tensor<1x10x10x1x4xf32>
    %148 = stablehlo.add %146, %147 : tensor<1x10x10x1x4xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %149 = stablehlo.pad %137, %cst_24, low = [0, 1, 2, 0, 0], high = [0, 1, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x8x1x4xf32>, tensor<f32>) -> tensor<1x10x10x1x4xf32>
    %150 = stablehlo.add %148, %149 : tensor<1x10x10x1x4xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %151 = stablehlo.pad %135, %cst_25, low = [0, 1, 1, 0, 0], high = [0, 1, 1, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x8x1x4xf32>, tensor<f32>) -> tensor<1x10x10x1x4xf32>
    %152 = stablehlo.add %150, %151 : tensor<1x10x10x1x4xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %153 = stablehlo.pad %133, %cst_26, low = [0, 1, 0, 0, 0], high = [0, 1, 2, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x8x1x4xf32>, tensor<f32>) -> tensor<1x10x10x1x4xf32>
    %154 = stablehlo.add %152, %153 : tensor<1x10x10x1x4xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %155 = stablehlo.pad %131, %cst_27, low = [0, 0, 2, 0, 0], high = [0, 2, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x8x1x4xf32>, tensor<f32>) -> tensor<1x10x10x1x4xf32>
    %156 = stablehlo.add %154, %155 : tensor<1x10x10x1x4xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %157 = stablehlo.pad %129, %cst_28, low = [0, 0, 1, 0, 0], high = [0, 2, 1, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x8x1x4xf32>, tensor<f32>) -> tensor<1x10x10x1x4xf32>
    %158 = stablehlo.add %156, %157 : tensor<1x10x10x1x4xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %159 = stablehlo.pad %127, %cst_29, low = [0, 0, 0, 0, 0], high = [0, 2, 2, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x8x1x4xf32>, tensor<f32>) -> tensor<1x10x10x1x4xf32>
    %160 = stablehlo.add %158, %159 : tensor<1x10x10x1x4xf32>
    %161 = call @_pad_0(%0#1, %160) : (tensor<f32>, tensor<1x10x10x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    return %70, %125, %161, %109 : tensor<1x8x8x1x4xf32>, tensor<1x8x8x1x4xf32>, tensor<1x8x8x1x4xf32>, tensor<1x8x8x1x4xf32>
  }
  func.func private @_pad(%arg0: tensor<1x8x8x1x4xf32>, %arg1: tensor<i32>) -> (tensor<1x10x10x1x4xf32>, tensor<f32>) {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [0, 1, 1, 0, 0], high = [0, 1, 1, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x8x8x1x4xf32>, tensor<f32>) -> tensor<1x10x10x1x4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    return %1, %cst : tensor<1x10x10x1x4xf32>, tensor<f32>
  }
  func.func private @_pad_0(%arg0: tensor<f32>, %arg1: tensor<1x10x10x1x4xf32>) -> tensor<1x8x8x1x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.pad %arg1, %cst, low = [0, -1, -1, 0, 0], high = [0, -1, -1, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x10x10x1x4xf32>, tensor<f32>) -> tensor<1x8x8x1x4xf32>
    %1 = stablehlo.slice %0 [0:1, 0:8, 0:8, 0:1, 0:4] : (tensor<1x8x8x1x4xf32>) -> tensor<1x8x8x1x4xf32>
    return %1 : tensor<1x8x8x1x4xf32>
  }
}
