// RUN: shard-opt %s --split-input-file --verify-diagnostics
// Operands, results and numbers of ops on whole tensors that do not fit one another.

func.func @reduce_shapes(%a: tensor<4xf32>, %b: tensor<5xf32>, %i: tensor<f32>) {
  // expected-error @+1 {{operand 1 has type 'tensor<5xf32>', expected shape [4] as operand 0}}
  %0:2 = "stablehlo.reduce"(%a, %b, %i, %i) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>):
    stablehlo.return %x, %y : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<5xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @reduce_count(%a: tensor<4xf32>, %i: tensor<f32>) {
  // expected-error @+1 {{has 2 results for 1 operands, expected as many}}
  %0:2 = "stablehlo.reduce_window"(%a, %i) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @reduce_type(%a: tensor<4xf32>, %i: tensor<f32>) {
  // expected-error @+1 {{result 0 has type 'tensor<3xf64>', but the reducer returns 'f32'}}
  %0 = "stablehlo.reduce_window"(%a, %i) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<3xf64>
  return
}

// -----

func.func @dot_dims(%a: tensor<2x3x4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{operands have types 'tensor<2x3x4xf32>' and 'tensor<4xf32>', expected vectors or matrices}}
  %0 = "stablehlo.dot"(%a, %b) : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @dot_sizes(%a: tensor<2x3xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{last left dim has size 3, but first right dim has size 4}}
  %0 = "stablehlo.dot"(%a, %b) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @no_groups(%x: tensor<1x8x3xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error @+1 {{feature_group_count is 0 and batch_group_count is 1; each must be at least 1}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 0 : i64} : (tensor<1x8x3xf32>, tensor<3x3x4xf32>) -> tensor<1x6x4xf32>
  return
}

// -----

func.func @two_groups(%x: tensor<2x8x4xf32>, %w: tensor<3x2x4xf32>) {
  // expected-error @+1 {{feature_group_count is 2 and batch_group_count is 2; one of them must be 1}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 2 : i64} : (tensor<2x8x4xf32>, tensor<3x2x4xf32>) -> tensor<1x6x4xf32>
  return
}

// -----

func.func @groups_of_kernels(%x: tensor<1x8x4xf32>, %w: tensor<3x2x3xf32>) {
  // expected-error @+1 {{groups do not divide the 3 output features}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x8x4xf32>, tensor<3x2x3xf32>) -> tensor<1x6x3xf32>
  return
}

// -----

func.func @collapsed(%a: tensor<10x6xf32>, %i: tensor<4x1xi32>) {
  // expected-error @+1 {{collapsed, inserted and batching dims [2] holds 2, expected dims from 0 to 1}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [2], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> : (tensor<10x6xf32>, tensor<4x1xi32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @batching(%a: tensor<10x6xf32>, %i: tensor<4x1xi32>) {
  // expected-error @+1 {{batching dim 0 of the operand has size 10, but dim 0 of the indices has size 4}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<10x6xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @window_order(%a: tensor<10x6xf32>, %i: tensor<4x1xi32>) {
  // expected-error @+1 {{window dims [2, 1] must be in ascending order}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 6>}> : (tensor<10x6xf32>, tensor<4x1xi32>) -> tensor<4x6x2xf32>
  return
}

// -----

func.func @sort_dim(%a: tensor<4xf32>) {
  // expected-error @+1 {{sorts along dim 1, expected -1 to 0}}
  %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @sort_shapes(%a: tensor<4xf32>, %b: tensor<5xf32>) {
  // expected-error @+1 {{operand 1 has type 'tensor<5xf32>', expected shape [4] as operand 0}}
  %0:2 = "stablehlo.sort"(%a, %b) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>):
    %1 = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>, tensor<5xf32>)
  return
}

// -----

func.func @sort_results(%a: tensor<4xf32>) {
  // expected-error @+1 {{results have types 'tensor<4xf64>', expected those of the operands, 'tensor<4xf32>'}}
  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @fft_dims(%a: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{transforms 2 dims of an operand with 1 dims, expected 1 to 3}}
  %0 = stablehlo.fft %a, type = FFT, length = [2, 2] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @fft_result(%a: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{result has elements of 'f32', expected 'complex<f32>'}}
  %0 = stablehlo.fft %a, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return
}

// -----

func.func @solve_leading(%a: tensor<2x3x3xf32>, %b: tensor<4x3x1xf32>) {
  // expected-error @+1 {{right side has type 'tensor<4x3x1xf32>', expected the leading dims of 'tensor<2x3x3xf32>'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x3x3xf32>, tensor<4x3x1xf32>) -> tensor<4x3x1xf32>
  return
}

// -----

func.func @solve_size(%a: tensor<3x3xf32>, %b: tensor<4x1xf32>) {
  // expected-error @+1 {{right side has size 4 in dim 0, expected 3}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @solve_transpose(%a: tensor<3x3xf32>, %b: tensor<3x1xf32>) {
  // expected-error @+1 {{transpose_a is TRANSPOSE_INVALID, expected NO_TRANSPOSE, TRANSPOSE or ADJOINT}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE_INVALID>}> : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  return
}

// -----

func.func @random_state(%s: tensor<2xui64>) {
  // expected-error @+1 {{state changes its type from 'tensor<2xui64>' to 'tensor<3xui64>'}}
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return
}

// -----

func.func @while_results(%a: tensor<4xf32>) {
  // expected-error @+1 {{results have types 'tensor<5xf32>', expected those of the operands, 'tensor<4xf32>'}}
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    %1 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%x: tensor<4xf32>):
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @layouts(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{operand_layouts holds dense<[1, 0]> : tensor<2xi64>, expected dense elements of index}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "f", operand_layouts = [dense<[1, 0]> : tensor<2xi64>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @tuple_index(%a: tuple<tensor<2xf32>>) {
  // expected-error @+1 {{index is 1, but the tuple has 1 values}}
  %0 = "stablehlo.get_tuple_element"(%a) <{index = 1 : i32}> : (tuple<tensor<2xf32>>) -> tensor<2xf32>
  return
}

// -----

func.func @split_count(%a: tensor<4xf32>) {
  // expected-error @+1 {{split_count is 4, expected the group size 2}}
  %0 = "stablehlo.all_to_all"(%a) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @pairs(%a: tensor<4xf32>) {
  // expected-error @+1 {{source_target_pairs has type 'tensor<1x3xi64>', expected pairs x 2}}
  %0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @negative(%a: tensor<4xf32>) {
  // expected-error @+1 {{sizes [-2] hold a negative one}}
  %0 = "stablehlo.broadcast"(%a) <{broadcast_sizes = array<i64: -2>}> : (tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @bits(%a: tensor<4xf32>) {
  // expected-error @+1 {{bits of 'tensor<4xf32>' cannot be cut into elements of 'f6E2M3FN'}}
  %0 = "stablehlo.bitcast_convert"(%a) : (tensor<4xf32>) -> tensor<4x5xf6E2M3FN>
  return
}

// -----

func.func @too_few_strides(%x: tensor<1x8x9x3xf32>, %w: tensor<3x3x3x4xf32>, %p: tensor<2x2xi32>) {
  // expected-error @below {{'stablehlo.dynamic_conv' op stride has 1 entries, but the window has 2 dims}}
  %0 = "stablehlo.dynamic_conv"(%x, %w, %p) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, window_strides = array<i64: 1>}> : (tensor<1x8x9x3xf32>, tensor<3x3x3x4xf32>, tensor<2x2xi32>) -> tensor<1x?x?x4xf32>
  return
}

// -----

func.func @too_few_dilations(%x: tensor<1x8x9x3xf32>, %w: tensor<3x3x3x4xf32>, %p: tensor<2x2xi32>) {
  // expected-error @below {{'stablehlo.dynamic_conv' op rhs_dilate has 1 entries, but the window has 2 dims}}
  %0 = "stablehlo.dynamic_conv"(%x, %w, %p) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, rhs_dilation = array<i64: 1>}> : (tensor<1x8x9x3xf32>, tensor<3x3x3x4xf32>, tensor<2x2xi32>) -> tensor<1x?x?x4xf32>
  return
}

// -----

func.func @too_few_dilations_of_the_image(%x: tensor<1x8x9x3xf32>, %w: tensor<3x3x3x4xf32>, %p: tensor<2x2xi32>) {
  // expected-error @below {{'stablehlo.dynamic_conv' op lhs_dilate has 1 entries, but the window has 2 dims}}
  %0 = "stablehlo.dynamic_conv"(%x, %w, %p) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, lhs_dilation = array<i64: 1>}> : (tensor<1x8x9x3xf32>, tensor<3x3x3x4xf32>, tensor<2x2xi32>) -> tensor<1x?x?x4xf32>
  return
}

// -----

func.func @padding_of_one_dim(%x: tensor<1x8x9x3xf32>, %w: tensor<3x3x3x4xf32>, %p: tensor<1x2xi32>) {
  // expected-error @below {{'stablehlo.dynamic_conv' op padding has type 'tensor<1x2xi32>', expected shape [2, 2]}}
  %0 = "stablehlo.dynamic_conv"(%x, %w, %p) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>}> : (tensor<1x8x9x3xf32>, tensor<3x3x3x4xf32>, tensor<1x2xi32>) -> tensor<1x?x?x4xf32>
  return
}

// -----

func.func @roles_of_other_dims(%x: tensor<1x8x3xf32>, %w: tensor<3x3x3x4xf32>, %p: tensor<2x2xi32>) {
  // expected-error @below {{'stablehlo.dynamic_conv' op dim_numbers of the input has 4 entries, but the input has 3 dims}}
  %0 = "stablehlo.dynamic_conv"(%x, %w, %p) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>}> : (tensor<1x8x3xf32>, tensor<3x3x3x4xf32>, tensor<2x2xi32>) -> tensor<1x?x?x4xf32>
  return
}

// -----

func.func @no_group(%x: tensor<1x8x9x3xf32>, %w: tensor<3x3x3x4xf32>, %p: tensor<2x2xi32>) {
  // expected-error @below {{'stablehlo.dynamic_conv' op feature_group_count is 0 and batch_group_count is 1; each must be at least 1}}
  %0 = "stablehlo.dynamic_conv"(%x, %w, %p) <{batch_group_count = 1 : i64, feature_group_count = 0 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>}> : (tensor<1x8x9x3xf32>, tensor<3x3x3x4xf32>, tensor<2x2xi32>) -> tensor<1x?x?x4xf32>
  return
}

// -----

func.func @stride_of_zero(%x: tensor<1x8x9x3xf32>, %w: tensor<3x3x3x4xf32>, %p: tensor<2x2xi32>) {
  // expected-error @below {{'stablehlo.dynamic_conv' op window dim 1 has size 3, stride 0, base dilation 1, window dilation 1; each must be at least 1}}
  %0 = "stablehlo.dynamic_conv"(%x, %w, %p) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, window_strides = array<i64: 1, 0>}> : (tensor<1x8x9x3xf32>, tensor<3x3x3x4xf32>, tensor<2x2xi32>) -> tensor<1x?x?x4xf32>
  return
}

// -----

func.func @features_of_the_result(%x: tensor<1x8x9x3xf32>, %w: tensor<3x3x3x4xf32>, %p: tensor<2x2xi32>) {
  // expected-error @below {{'stablehlo.dynamic_conv' op result has type 'tensor<1x?x?x5xf32>', expected shape [1, ?, ?, 4]}}
  %0 = "stablehlo.dynamic_conv"(%x, %w, %p) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>}> : (tensor<1x8x9x3xf32>, tensor<3x3x3x4xf32>, tensor<2x2xi32>) -> tensor<1x?x?x5xf32>
  return
}

// -----

func.func @images_of_another_type(%x: tensor<1x8x3xf32>, %w: tensor<3x3x4xi32>) {
  // expected-error @below {{'stablehlo.convolution' op lhs has elements of 'f32', but rhs of 'i32'}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x3xf32>, tensor<3x3x4xi32>) -> tensor<1x6x4xf32>
  return
}
