module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x3xf32>, %arg1: tensor<12x3xf32>, %arg2: tensor<16x2xf32>, %arg3: tensor<12x2xf32>) -> (tensor<12x2xf32> {jax.result_info = "result[0]"}, tensor<16x3xf32> {jax.result_info = "result[1]"}, tensor<12x3xf32> {jax.result_info = "result[2]"}, tensor<16x2xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0, 2] : (tensor<12x3xf32>) -> tensor<12x1x3xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<16x3xf32>) -> tensor<1x16x3xf32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<12x1x3xf32>) -> tensor<12x16x3xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x16x3xf32>) -> tensor<12x16x3xf32>
    %4 = stablehlo.subtract %2, %3 : tensor<12x16x3xf32>
    %5 = stablehlo.multiply %4, %4 : tensor<12x16x3xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x16x3xf32>
    %7 = stablehlo.multiply %6, %4 : tensor<12x16x3xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<12x16x3xf32>, tensor<f32>) -> tensor<12x16xf32>
    %9 = stablehlo.negate %8 : tensor<12x16xf32>
    %values, %indices = chlo.top_k(%9, k = 3) : tensor<12x16xf32> -> (tensor<12x3xf32>, tensor<12x3xi32>)
    %10 = stablehlo.reshape %indices : (tensor<12x3xi32>) -> tensor<12x3x1xi32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11 = stablehlo.reduce(%values init: %cst_1) applies stablehlo.maximum across dimensions = [1] : (tensor<12x3xf32>, tensor<f32>) -> tensor<12xf32>
    %12 = stablehlo.reshape %11 : (tensor<12xf32>) -> tensor<12x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<12x1xf32>) -> tensor<12x3xf32>
    %14 = stablehlo.compare EQ, %values, %13, FLOAT : (tensor<12x3xf32>, tensor<12x3xf32>) -> tensor<12x3xi1>
    %15 = stablehlo.convert %14 : (tensor<12x3xi1>) -> tensor<12x3xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<12x3xf32>, tensor<f32>) -> tensor<12xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %18 = stablehlo.maximum %17, %11 : tensor<12xf32>
    %19 = stablehlo.compare EQ, %11, %18, FLOAT : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xi1>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %22 = stablehlo.select %19, %20, %21 : tensor<12xi1>, tensor<12xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %24 = stablehlo.compare EQ, %23, %18, FLOAT : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xi1>
    %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %27 = stablehlo.select %24, %25, %26 : tensor<12xi1>, tensor<12xf32>
    %28 = stablehlo.divide %22, %27 : tensor<12xf32>
    %29 = stablehlo.broadcast_in_dim %18, dims = [0] : (tensor<12xf32>) -> tensor<12x1xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1] : (tensor<12x1xf32>) -> tensor<12x3xf32>
    %31 = stablehlo.subtract %values, %30 : tensor<12x3xf32>
    %32 = stablehlo.exponential %31 : tensor<12x3xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%32 init: %cst_9) applies stablehlo.add across dimensions = [1] : (tensor<12x3xf32>, tensor<f32>) -> tensor<12xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0] : (tensor<12xf32>) -> tensor<12x1xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1] : (tensor<12x1xf32>) -> tensor<12x3xf32>
    %36 = stablehlo.divide %32, %35 : tensor<12x3xf32>
    %37 = stablehlo.multiply %34, %34 : tensor<12x1xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<12x1xf32>
    %39 = stablehlo.divide %38, %37 : tensor<12x1xf32>
    %40 = stablehlo.broadcast_in_dim %arg1, dims = [0, 2] : (tensor<12x3xf32>) -> tensor<12x1x3xf32>
    %41 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<16x3xf32>) -> tensor<1x16x3xf32>
    %42 = stablehlo.broadcast_in_dim %40, dims = [0, 1, 2] : (tensor<12x1x3xf32>) -> tensor<12x16x3xf32>
    %43 = stablehlo.broadcast_in_dim %41, dims = [0, 1, 2] : (tensor<1x16x3xf32>) -> tensor<12x16x3xf32>
    %44 = stablehlo.subtract %42, %43 : tensor<12x16x3xf32>
    %45 = stablehlo.multiply %44, %44 : tensor<12x16x3xf32>
    %cst_11 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<12x16x3xf32>
    %47 = stablehlo.multiply %46, %44 : tensor<12x16x3xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.reduce(%45 init: %cst_12) applies stablehlo.add across dimensions = [2] : (tensor<12x16x3xf32>, tensor<f32>) -> tensor<12x16xf32>
    %49 = stablehlo.negate %48 : tensor<12x16xf32>
    %values_13, %indices_14 = chlo.top_k(%49, k = 3) : tensor<12x16xf32> -> (tensor<12x3xf32>, tensor<12x3xi32>)
    %50 = stablehlo.reshape %indices_14 : (tensor<12x3xi32>) -> tensor<12x3x1xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %51 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<12x3xi32>
    %52 = stablehlo.compare LT, %indices_14, %51, SIGNED : (tensor<12x3xi32>, tensor<12x3xi32>) -> tensor<12x3xi1>
    %c_15 = stablehlo.constant dense<16> : tensor<i32>
    %53 = stablehlo.broadcast_in_dim %c_15, dims = [] : (tensor<i32>) -> tensor<12x3xi32>
    %54 = stablehlo.add %indices_14, %53 : tensor<12x3xi32>
    %55 = stablehlo.select %52, %54, %indices_14 : tensor<12x3xi1>, tensor<12x3xi32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1] : (tensor<12x3xi32>) -> tensor<12x3x1xi32>
    %57 = "stablehlo.gather"(%arg2, %56) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}> : (tensor<16x2xf32>, tensor<12x3x1xi32>) -> tensor<12x3x2xf32>
    %58 = stablehlo.dot_general %36, %57, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x3xf32>, tensor<12x3x2xf32>) -> tensor<12x2xf32>
    %59 = stablehlo.dot_general %arg3, %36, batching_dims = [0] x [0], contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<12x2xf32>, tensor<12x3xf32>) -> tensor<12x2x3xf32>
    %60 = stablehlo.transpose %59, dims = [0, 2, 1] : (tensor<12x2x3xf32>) -> tensor<12x3x2xf32>
    %61 = stablehlo.dot_general %arg3, %57, batching_dims = [0] x [0], contracting_dims = [1] x [2], precision = [DEFAULT, DEFAULT] : (tensor<12x2xf32>, tensor<12x3x2xf32>) -> tensor<12x3xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<16x2xf32>
    %63 = "stablehlo.scatter"(%62, %56, %60) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %88 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %88 : tensor<f32>
    }) : (tensor<16x2xf32>, tensor<12x3x1xi32>, tensor<12x3x2xf32>) -> tensor<16x2xf32>
    %64 = stablehlo.broadcast_in_dim %39, dims = [0, 1] : (tensor<12x1xf32>) -> tensor<12x3xf32>
    %65 = stablehlo.multiply %61, %64 : tensor<12x3xf32>
    %66 = stablehlo.multiply %65, %32 : tensor<12x3xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %67 = stablehlo.reduce(%66 init: %cst_17) applies stablehlo.add across dimensions = [1] : (tensor<12x3xf32>, tensor<f32>) -> tensor<12xf32>
    %68 = stablehlo.reshape %67 : (tensor<12xf32>) -> tensor<12x1xf32>
    %69 = stablehlo.negate %68 : tensor<12x1xf32>
    %70 = stablehlo.broadcast_in_dim %34, dims = [0, 1] : (tensor<12x1xf32>) -> tensor<12x3xf32>
    %71 = stablehlo.divide %61, %70 : tensor<12x3xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %72 = stablehlo.reduce(%69 init: %cst_18) applies stablehlo.add across dimensions = [1] : (tensor<12x1xf32>, tensor<f32>) -> tensor<12xf32>
    %73 = stablehlo.broadcast_in_dim %72, dims = [0] : (tensor<12xf32>) -> tensor<12x3xf32>
    %74 = stablehlo.add %71, %73 : tensor<12x3xf32>
    %75 = stablehlo.multiply %74, %32 : tensor<12x3xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<12x16xf32>
    %77 = "stablehlo.scatter"(%76, %10, %75) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %88 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %88 : tensor<f32>
    }) : (tensor<12x16xf32>, tensor<12x3x1xi32>, tensor<12x3xf32>) -> tensor<12x16xf32>
    %78 = stablehlo.negate %77 : tensor<12x16xf32>
    %79 = stablehlo.broadcast_in_dim %78, dims = [0, 1] : (tensor<12x16xf32>) -> tensor<12x16x3xf32>
    %80 = stablehlo.multiply %79, %7 : tensor<12x16x3xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %81 = stablehlo.reduce(%80 init: %cst_20) applies stablehlo.add across dimensions = [1] : (tensor<12x16x3xf32>, tensor<f32>) -> tensor<12x3xf32>
    %82 = stablehlo.reshape %81 : (tensor<12x3xf32>) -> tensor<12x1x3xf32>
    %83 = stablehlo.negate %80 : tensor<12x16x3xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %84 = stablehlo.reduce(%83 init: %cst_21) applies stablehlo.add across dimensions = [0] : (tensor<12x16x3xf32>, tensor<f32>) -> tensor<16x3xf32>
    %85 = stablehlo.reshape %84 : (tensor<16x3xf32>) -> tensor<1x16x3xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %86 = stablehlo.reduce(%85 init: %cst_22) applies stablehlo.add across dimensions = [0] : (tensor<1x16x3xf32>, tensor<f32>) -> tensor<16x3xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %87 = stablehlo.reduce(%82 init: %cst_23) applies stablehlo.add across dimensions = [1] : (tensor<12x1x3xf32>, tensor<f32>) -> tensor<12x3xf32>
    return %58, %86, %87, %63 : tensor<12x2xf32>, tensor<16x3xf32>, tensor<12x3xf32>, tensor<16x2xf32>
  }
}
