module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x4x12xf32>, %arg1: tensor<3x4x12xf32>) -> (tensor<3x4x12xf32> {jax.result_info = "result[0]"}, tensor<12x4x12xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.transpose %arg0, dims = [1, 2, 0] : (tensor<12x4x12xf32>) -> tensor<4x12x12xf32>
    %values, %indices = chlo.top_k(%0, k = 3) : tensor<4x12x12xf32> -> (tensor<4x12x3xf32>, tensor<4x12x3xi32>)
    %1 = stablehlo.reshape %indices : (tensor<4x12x3xi32>) -> tensor<4x12x3x1xi32>
    %2 = stablehlo.transpose %values, dims = [2, 0, 1] : (tensor<4x12x3xf32>) -> tensor<3x4x12xf32>
    %3 = stablehlo.transpose %arg1, dims = [1, 2, 0] : (tensor<3x4x12xf32>) -> tensor<4x12x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x12x12xf32>
    %5 = "stablehlo.scatter"(%4, %1, %3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %7 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %7 : tensor<f32>
    }) : (tensor<4x12x12xf32>, tensor<4x12x3x1xi32>, tensor<4x12x3xf32>) -> tensor<4x12x12xf32>
    %6 = stablehlo.transpose %5, dims = [2, 0, 1] : (tensor<4x12x12xf32>) -> tensor<12x4x12xf32>
    return %2, %6 : tensor<3x4x12xf32>, tensor<12x4x12xf32>
  }
}
