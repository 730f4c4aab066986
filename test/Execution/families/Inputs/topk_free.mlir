module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x4x12xf32>, %arg1: tensor<12x4x3xf32>) -> (tensor<12x4x3xf32> {jax.result_info = "result[0]"}, tensor<12x4x12xf32> {jax.result_info = "result[1]"}) {
    %values, %indices = chlo.top_k(%arg0, k = 3) : tensor<12x4x12xf32> -> (tensor<12x4x3xf32>, tensor<12x4x3xi32>)
    %0 = stablehlo.reshape %indices : (tensor<12x4x3xi32>) -> tensor<12x4x3x1xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x4x12xf32>
    %2 = "stablehlo.scatter"(%1, %0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %3 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<12x4x12xf32>, tensor<12x4x3x1xi32>, tensor<12x4x3xf32>) -> tensor<12x4x12xf32>
    return %values, %2 : tensor<12x4x3xf32>, tensor<12x4x12xf32>
  }
}
