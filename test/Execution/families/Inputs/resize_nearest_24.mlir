module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x12x12x2xf32>, %arg1: tensor<1x24x24x2xf32>) -> (tensor<1x24x24x2xf32> {jax.result_info = "result[0]"}, tensor<1x12x12x2xf32> {jax.result_info = "result[1]"}) {
    %0:3 = call @_resize(%arg0) : (tensor<1x12x12x2xf32>) -> (tensor<1x24x24x2xf32>, tensor<24x1xi32>, tensor<24x1xi32>)
    %1 = call @_resize_0(%0#1, %0#2, %arg1) : (tensor<24x1xi32>, tensor<24x1xi32>, tensor<1x24x24x2xf32>) -> tensor<1x12x12x2xf32>
    return %0#0, %1 : tensor<1x24x24x2xf32>, tensor<1x12x12x2xf32>
  }
  func.func private @_resize(%arg0: tensor<1x12x12x2xf32>) -> (tensor<1x24x24x2xf32>, tensor<24x1xi32>, tensor<24x1xi32>) {
    %0 = stablehlo.iota dim = 0 : tensor<24xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %2 = stablehlo.add %0, %1 : tensor<24xf32>
    %cst_0 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<24xf32>
    %cst_1 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %6 = stablehlo.divide %4, %5 : tensor<24xf32>
    %7 = stablehlo.floor %6 : tensor<24xf32>
    %8 = stablehlo.convert %7 : (tensor<24xf32>) -> tensor<24xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<24xi32>
    %10 = stablehlo.compare LT, %8, %9, SIGNED : (tensor<24xi32>, tensor<24xi32>) -> tensor<24xi1>
    %c_2 = stablehlo.constant dense<12> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<24xi32>
    %12 = stablehlo.add %8, %11 : tensor<24xi32>
    %13 = stablehlo.select %10, %12, %8 : tensor<24xi1>, tensor<24xi32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<24xi32>) -> tensor<24x1xi32>
    %15 = "stablehlo.gather"(%arg0, %14) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2, 3], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 12, 2>}> : (tensor<1x12x12x2xf32>, tensor<24x1xi32>) -> tensor<1x24x12x2xf32>
    %16 = stablehlo.iota dim = 0 : tensor<24xf32>
    %cst_3 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %18 = stablehlo.add %16, %17 : tensor<24xf32>
    %cst_4 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %20 = stablehlo.multiply %18, %19 : tensor<24xf32>
    %cst_5 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %22 = stablehlo.divide %20, %21 : tensor<24xf32>
    %23 = stablehlo.floor %22 : tensor<24xf32>
    %24 = stablehlo.convert %23 : (tensor<24xf32>) -> tensor<24xi32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %25 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<24xi32>
    %26 = stablehlo.compare LT, %24, %25, SIGNED : (tensor<24xi32>, tensor<24xi32>) -> tensor<24xi1>
    %c_7 = stablehlo.constant dense<12> : tensor<i32>
    %27 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<24xi32>
    %28 = stablehlo.add %24, %27 : tensor<24xi32>
    %29 = stablehlo.select %26, %28, %24 : tensor<24xi1>, tensor<24xi32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0] : (tensor<24xi32>) -> tensor<24x1xi32>
    %31 = "stablehlo.gather"(%15, %30) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 3], collapsed_slice_dims = [2], start_index_map = [2], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 24, 1, 2>}> : (tensor<1x24x12x2xf32>, tensor<24x1xi32>) -> tensor<1x24x24x2xf32>
    return %31, %14, %30 : tensor<1x24x24x2xf32>, tensor<24x1xi32>, tensor<24x1xi32>
  }
  func.func private @_resize_0(%arg0: tensor<24x1xi32>, %arg1: tensor<24x1xi32>, %arg2: tensor<1x24x24x2xf32>) -> tensor<1x12x12x2xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x24x12x2xf32>
    %1 = "stablehlo.scatter"(%0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1, 3], inserted_window_dims = [2], scatter_dims_to_operand_dims = [2], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %4 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<1x24x12x2xf32>, tensor<24x1xi32>, tensor<1x24x24x2xf32>) -> tensor<1x24x12x2xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x12x12x2xf32>
    %3 = "stablehlo.scatter"(%2, %arg0, %1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 2, 3], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %4 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<1x12x12x2xf32>, tensor<24x1xi32>, tensor<1x24x12x2xf32>) -> tensor<1x12x12x2xf32>
    return %3 : tensor<1x12x12x2xf32>
  }
}
