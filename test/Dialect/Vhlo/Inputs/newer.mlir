// What StableHLO can say since later versions than 1.0, as make.py writes it into a portable artifact.
module @newer {
  func.func public @main(%matrix: tensor<4x4xf32>, %batches: tensor<2x3x1xi32>, %three: tensor<2x4x4xf32>) -> tensor<4x4xf32> {
    %called = stablehlo.custom_call @target(%matrix) {api_version = 4 : i32, backend_config = {k = 1 : i32, scale = 5.000000e-01 : f64, name = "n", kinds = [f32, i8]}, called_computations = [@inner], has_side_effect = true, operand_layouts = [dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %dot = stablehlo.dot_general %matrix, %matrix, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f8E5M2, rhs_precision_type = f8E5M2, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = true> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %tan = stablehlo.tan %matrix : tensor<4x4xf32>
    %exact = stablehlo.exponential %matrix {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, rtol = 0.000000e+00, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4x4xf32>
    %gathered = "stablehlo.gather"(%three, %batches) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<2x4x4xf32>, tensor<2x3x1xi32>) -> tensor<2x3x4xf32>
    %pair:2 = "stablehlo.all_gather"(%matrix, %matrix) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
    %tiny = stablehlo.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf4E2M1FN>
    %two = stablehlo.constant dense<[1, 3]> : tensor<2xui2>
    return %exact : tensor<4x4xf32>
  }
  func.func private @inner(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
    return %arg0 : tensor<4x4xf32>
  }
}
