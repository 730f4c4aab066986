module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x4x12xf32>, %arg1: tensor<12x4x12xf32>) -> (tensor<12x4x12xf32> {jax.result_info = "result[0]"}, tensor<12x4x12xf32> {jax.result_info = "result[1]"}) {
    %0:2 = call @sort(%arg0) : (tensor<12x4x12xf32>) -> (tensor<12x4x12xf32>, tensor<12x4x12x1xui32>)
    %1 = call @sort_0(%0#1, %arg1) : (tensor<12x4x12x1xui32>, tensor<12x4x12xf32>) -> tensor<12x4x12xf32>
    return %0#0, %1 : tensor<12x4x12xf32>, tensor<12x4x12xf32>
  }
  func.func private @sort(%arg0: tensor<12x4x12xf32>) -> (tensor<12x4x12xf32>, tensor<12x4x12x1xui32>) {
    %0 = stablehlo.iota dim = 2 : tensor<12x4x12xui32>
    %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 2 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>, %arg3: tensor<ui32>, %arg4: tensor<ui32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %3 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %4 = stablehlo.select %3, %cst_0, %arg1 : tensor<i1>, tensor<f32>
      %5 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %6 = stablehlo.select %5, %cst_1, %4 : tensor<i1>, tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %7 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %8 = stablehlo.select %7, %cst_3, %arg2 : tensor<i1>, tensor<f32>
      %9 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %10 = stablehlo.select %9, %cst_4, %8 : tensor<i1>, tensor<f32>
      %11 = stablehlo.compare LT, %6, %10, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %11 : tensor<i1>
    }) : (tensor<12x4x12xf32>, tensor<12x4x12xui32>) -> (tensor<12x4x12xf32>, tensor<12x4x12xui32>)
    %2 = stablehlo.broadcast_in_dim %1#1, dims = [0, 1, 2] : (tensor<12x4x12xui32>) -> tensor<12x4x12x1xui32>
    return %1#0, %2 : tensor<12x4x12xf32>, tensor<12x4x12x1xui32>
  }
  func.func private @sort_0(%arg0: tensor<12x4x12x1xui32>, %arg1: tensor<12x4x12xf32>) -> tensor<12x4x12xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x4x12xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<12x4x12xf32>, tensor<12x4x12x1xui32>, tensor<12x4x12xf32>) -> tensor<12x4x12xf32>
    return %1 : tensor<12x4x12xf32>
  }
}
