module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x3xf32>, %arg1: tensor<16x3xi32>, %arg2: tensor<12x3xf32>) -> (tensor<12x3xf32> {jax.result_info = "result[0]"}, tensor<12x3xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.slice %arg1 [0:16, 0:1] : (tensor<16x3xi32>) -> tensor<16x1xi32>
    %1 = stablehlo.reshape %0 : (tensor<16x1xi32>) -> tensor<16xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16xi32>
    %3 = stablehlo.compare LT, %1, %2, SIGNED : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi1>
    %c_0 = stablehlo.constant dense<12> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<16xi32>
    %5 = stablehlo.add %1, %4 : tensor<16xi32>
    %6 = stablehlo.select %3, %5, %1 : tensor<16xi1>, tensor<16xi32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<16xi32>) -> tensor<16x1xi32>
    %8 = "stablehlo.gather"(%arg0, %7) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}> : (tensor<12x3xf32>, tensor<16x1xi32>) -> tensor<16x3xf32>
    %9 = stablehlo.slice %arg1 [0:16, 1:2] : (tensor<16x3xi32>) -> tensor<16x1xi32>
    %10 = stablehlo.reshape %9 : (tensor<16x1xi32>) -> tensor<16xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<16xi32>
    %12 = stablehlo.compare LT, %10, %11, SIGNED : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi1>
    %c_2 = stablehlo.constant dense<12> : tensor<i32>
    %13 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<16xi32>
    %14 = stablehlo.add %10, %13 : tensor<16xi32>
    %15 = stablehlo.select %12, %14, %10 : tensor<16xi1>, tensor<16xi32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<16xi32>) -> tensor<16x1xi32>
    %17 = "stablehlo.gather"(%arg0, %16) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}> : (tensor<12x3xf32>, tensor<16x1xi32>) -> tensor<16x3xf32>
    %18 = stablehlo.slice %arg1 [0:16, 2:3] : (tensor<16x3xi32>) -> tensor<16x1xi32>
    %19 = stablehlo.reshape %18 : (tensor<16x1xi32>) -> tensor<16xi32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %20 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<16xi32>
    %21 = stablehlo.compare LT, %19, %20, SIGNED : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi1>
    %c_4 = stablehlo.constant dense<12> : tensor<i32>
    %22 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<16xi32>
    %23 = stablehlo.add %19, %22 : tensor<16xi32>
    %24 = stablehlo.select %21, %23, %19 : tensor<16xi1>, tensor<16xi32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0] : (tensor<16xi32>) -> tensor<16x1xi32>
    %26 = "stablehlo.gather"(%arg0, %25) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}> : (tensor<12x3xf32>, tensor<16x1xi32>) -> tensor<16x3xf32>
    %27 = stablehlo.subtract %17, %8 : tensor<16x3xf32>
    %28 = stablehlo.subtract %26, %8 : tensor<16x3xf32>
    %29:7 = call @cross(%27, %28) : (tensor<16x3xf32>, tensor<16x3xf32>) -> (tensor<16x3xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x3xf32>
    %31 = stablehlo.broadcast_in_dim %29#0, dims = [0, 2] : (tensor<16x3xf32>) -> tensor<16x1x3xf32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %32 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<16x3xi32>
    %33 = stablehlo.compare LT, %arg1, %32, SIGNED : (tensor<16x3xi32>, tensor<16x3xi32>) -> tensor<16x3xi1>
    %c_6 = stablehlo.constant dense<12> : tensor<i32>
    %34 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<16x3xi32>
    %35 = stablehlo.add %arg1, %34 : tensor<16x3xi32>
    %36 = stablehlo.select %33, %35, %arg1 : tensor<16x3xi1>, tensor<16x3xi32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1] : (tensor<16x3xi32>) -> tensor<16x3x1xi32>
    %38 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2] : (tensor<16x1x3xf32>) -> tensor<16x3x3xf32>
    %39 = "stablehlo.scatter"(%30, %37, %38) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %67 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %67 : tensor<f32>
    }) : (tensor<12x3xf32>, tensor<16x3x1xi32>, tensor<16x3x3xf32>) -> tensor<12x3xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<12x3xf32>
    %c_8 = stablehlo.constant dense<11> : tensor<1xi32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %41 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<16x3x1xi32>
    %42 = stablehlo.compare GE, %37, %41, SIGNED : (tensor<16x3x1xi32>, tensor<16x3x1xi32>) -> tensor<16x3x1xi1>
    %43 = stablehlo.broadcast_in_dim %c_8, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<16x3x1xi32>
    %45 = stablehlo.compare LE, %37, %44, SIGNED : (tensor<16x3x1xi32>, tensor<16x3x1xi32>) -> tensor<16x3x1xi1>
    %46 = stablehlo.and %42, %45 : tensor<16x3x1xi1>
    %c_10 = stablehlo.constant dense<true> : tensor<i1>
    %47 = stablehlo.reduce(%46 init: %c_10) applies stablehlo.and across dimensions = [2] : (tensor<16x3x1xi1>, tensor<i1>) -> tensor<16x3xi1>
    %48 = "stablehlo.gather"(%arg2, %37) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}> : (tensor<12x3xf32>, tensor<16x3x1xi32>) -> tensor<16x3x3xf32>
    %49 = stablehlo.broadcast_in_dim %47, dims = [0, 1] : (tensor<16x3xi1>) -> tensor<16x3x3xi1>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<16x3x3xf32>
    %51 = stablehlo.select %49, %48, %50 : tensor<16x3x3xi1>, tensor<16x3x3xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %52 = stablehlo.reduce(%51 init: %cst_12) applies stablehlo.add across dimensions = [1] : (tensor<16x3x3xf32>, tensor<f32>) -> tensor<16x3xf32>
    %53 = stablehlo.broadcast_in_dim %52, dims = [0, 2] : (tensor<16x3xf32>) -> tensor<16x1x3xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.reduce(%53 init: %cst_13) applies stablehlo.add across dimensions = [1] : (tensor<16x1x3xf32>, tensor<f32>) -> tensor<16x3xf32>
    %55:2 = call @cross_0(%29#1, %29#2, %29#3, %29#4, %29#5, %29#6, %54) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x3xf32>) -> (tensor<16x3xf32>, tensor<16x3xf32>)
    %56 = stablehlo.negate %55#1 : tensor<16x3xf32>
    %57 = stablehlo.negate %55#0 : tensor<16x3xf32>
    %58 = stablehlo.add %56, %57 : tensor<16x3xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<12x3xf32>
    %60 = "stablehlo.scatter"(%59, %25, %55#1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %67 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %67 : tensor<f32>
    }) : (tensor<12x3xf32>, tensor<16x1xi32>, tensor<16x3xf32>) -> tensor<12x3xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<12x3xf32>
    %62 = "stablehlo.scatter"(%61, %16, %55#0) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %67 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %67 : tensor<f32>
    }) : (tensor<12x3xf32>, tensor<16x1xi32>, tensor<16x3xf32>) -> tensor<12x3xf32>
    %63 = stablehlo.add %60, %62 : tensor<12x3xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<12x3xf32>
    %65 = "stablehlo.scatter"(%64, %7, %58) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %67 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %67 : tensor<f32>
    }) : (tensor<12x3xf32>, tensor<16x1xi32>, tensor<16x3xf32>) -> tensor<12x3xf32>
    %66 = stablehlo.add %63, %65 : tensor<12x3xf32>
    return %39, %66 : tensor<12x3xf32>, tensor<12x3xf32>
  }
  func.func private @cross(%arg0: tensor<16x3xf32>, %arg1: tensor<16x3xf32>) -> (tensor<16x3xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
    %0 = stablehlo.slice %arg0 [0:16, 0:1] : (tensor<16x3xf32>) -> tensor<16x1xf32>
    %1 = stablehlo.reshape %0 : (tensor<16x1xf32>) -> tensor<16xf32>
    %2 = stablehlo.slice %arg0 [0:16, 1:2] : (tensor<16x3xf32>) -> tensor<16x1xf32>
    %3 = stablehlo.reshape %2 : (tensor<16x1xf32>) -> tensor<16xf32>
    %4 = stablehlo.slice %arg0 [0:16, 2:3] : (tensor<16x3xf32>) -> tensor<16x1xf32>
    %5 = stablehlo.reshape %4 : (tensor<16x1xf32>) -> tensor<16xf32>
    %6 = stablehlo.slice %arg1 [0:16, 0:1] : (tensor<16x3xf32>) -> tensor<16x1xf32>
    %7 = stablehlo.reshape %6 : (tensor<16x1xf32>) -> tensor<16xf32>
    %8 = stablehlo.slice %arg1 [0:16, 1:2] : (tensor<16x3xf32>) -> tensor<16x1xf32>
    %9 = stablehlo.reshape %8 : (tensor<16x1xf32>) -> tensor<16xf32>
    %10 = stablehlo.slice %arg1 [0:16, 2:3] : (tensor<16x3xf32>) -> tensor<16x1xf32>
    %11 = stablehlo.reshape %10 : (tensor<16x1xf32>) -> tensor<16xf32>
    %12 = stablehlo.multiply %3, %11 : tensor<16xf32>
    %13 = stablehlo.multiply %5, %9 : tensor<16xf32>
    %14 = stablehlo.subtract %12, %13 : tensor<16xf32>
    %15 = stablehlo.multiply %5, %7 : tensor<16xf32>
    %16 = stablehlo.multiply %1, %11 : tensor<16xf32>
    %17 = stablehlo.subtract %15, %16 : tensor<16xf32>
    %18 = stablehlo.multiply %1, %9 : tensor<16xf32>
    %19 = stablehlo.multiply %3, %7 : tensor<16xf32>
    %20 = stablehlo.subtract %18, %19 : tensor<16xf32>
    %21 = stablehlo.broadcast_in_dim %14, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
    %22 = stablehlo.broadcast_in_dim %17, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
    %23 = stablehlo.broadcast_in_dim %20, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
    %24 = stablehlo.concatenate %21, %22, %23, dim = 0 : (tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<3x16xf32>
    %25 = stablehlo.transpose %24, dims = [1, 0] : (tensor<3x16xf32>) -> tensor<16x3xf32>
    return %25, %11, %3, %9, %5, %7, %1 : tensor<16x3xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  }
  func.func private @cross_0(%arg0: tensor<16xf32>, %arg1: tensor<16xf32>, %arg2: tensor<16xf32>, %arg3: tensor<16xf32>, %arg4: tensor<16xf32>, %arg5: tensor<16xf32>, %arg6: tensor<16x3xf32>) -> (tensor<16x3xf32>, tensor<16x3xf32>) {
    %0 = stablehlo.transpose %arg6, dims = [1, 0] : (tensor<16x3xf32>) -> tensor<3x16xf32>
    %1 = stablehlo.slice %0 [0:1, 0:16] : (tensor<3x16xf32>) -> tensor<1x16xf32>
    %2 = stablehlo.slice %0 [1:2, 0:16] : (tensor<3x16xf32>) -> tensor<1x16xf32>
    %3 = stablehlo.slice %0 [2:3, 0:16] : (tensor<3x16xf32>) -> tensor<1x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%2 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%1 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
    %7 = stablehlo.negate %4 : tensor<16xf32>
    %8 = stablehlo.multiply %arg1, %7 : tensor<16xf32>
    %9 = stablehlo.multiply %7, %arg4 : tensor<16xf32>
    %10 = stablehlo.multiply %arg5, %4 : tensor<16xf32>
    %11 = stablehlo.multiply %4, %arg2 : tensor<16xf32>
    %12 = stablehlo.negate %5 : tensor<16xf32>
    %13 = stablehlo.multiply %arg5, %12 : tensor<16xf32>
    %14 = stablehlo.multiply %12, %arg0 : tensor<16xf32>
    %15 = stablehlo.add %11, %14 : tensor<16xf32>
    %16 = stablehlo.multiply %arg3, %5 : tensor<16xf32>
    %17 = stablehlo.add %8, %16 : tensor<16xf32>
    %18 = stablehlo.multiply %5, %arg4 : tensor<16xf32>
    %19 = stablehlo.negate %6 : tensor<16xf32>
    %20 = stablehlo.multiply %arg3, %19 : tensor<16xf32>
    %21 = stablehlo.add %10, %20 : tensor<16xf32>
    %22 = stablehlo.multiply %19, %arg2 : tensor<16xf32>
    %23 = stablehlo.add %18, %22 : tensor<16xf32>
    %24 = stablehlo.multiply %arg1, %6 : tensor<16xf32>
    %25 = stablehlo.add %13, %24 : tensor<16xf32>
    %26 = stablehlo.multiply %6, %arg0 : tensor<16xf32>
    %27 = stablehlo.add %9, %26 : tensor<16xf32>
    %28 = stablehlo.broadcast_in_dim %25, dims = [0] : (tensor<16xf32>) -> tensor<16x1xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.pad %28, %cst_2, low = [0, 2], high = [0, 0], interior = [0, 0] : (tensor<16x1xf32>, tensor<f32>) -> tensor<16x3xf32>
    %30 = stablehlo.broadcast_in_dim %21, dims = [0] : (tensor<16xf32>) -> tensor<16x1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.pad %30, %cst_3, low = [0, 1], high = [0, 1], interior = [0, 0] : (tensor<16x1xf32>, tensor<f32>) -> tensor<16x3xf32>
    %32 = stablehlo.add %29, %31 : tensor<16x3xf32>
    %33 = stablehlo.broadcast_in_dim %17, dims = [0] : (tensor<16xf32>) -> tensor<16x1xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.pad %33, %cst_4, low = [0, 0], high = [0, 2], interior = [0, 0] : (tensor<16x1xf32>, tensor<f32>) -> tensor<16x3xf32>
    %35 = stablehlo.add %32, %34 : tensor<16x3xf32>
    %36 = stablehlo.broadcast_in_dim %23, dims = [0] : (tensor<16xf32>) -> tensor<16x1xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.pad %36, %cst_5, low = [0, 2], high = [0, 0], interior = [0, 0] : (tensor<16x1xf32>, tensor<f32>) -> tensor<16x3xf32>
    %38 = stablehlo.broadcast_in_dim %27, dims = [0] : (tensor<16xf32>) -> tensor<16x1xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.pad %38, %cst_6, low = [0, 1], high = [0, 1], interior = [0, 0] : (tensor<16x1xf32>, tensor<f32>) -> tensor<16x3xf32>
    %40 = stablehlo.add %37, %39 : tensor<16x3xf32>
    %41 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<16xf32>) -> tensor<16x1xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.pad %41, %cst_7, low = [0, 0], high = [0, 2], interior = [0, 0] : (tensor<16x1xf32>, tensor<f32>) -> tensor<16x3xf32>
    %43 = stablehlo.add %40, %42 : tensor<16x3xf32>
    return %43, %35 : tensor<16x3xf32>, tensor<16x3xf32>
  }
}
