// RUN: shard-opt %s --split-input-file --verify-diagnostics
// Each refusal says what was found and what was expected.

func.func @elementwise(%a: tensor<8xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = stablehlo.add %a, %b : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @type_count(%a: tensor<8xf32>) {
  // expected-error @+1 {{expected 2 operand types and 1 result type, got 1 and 1}}
  %0 = stablehlo.add %a, %a : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @compare_type(%a: tensor<8xi32>) {
  // expected-error @+1 {{comparison type FLOAT does not fit elements of 'i32'}}
  %0 = stablehlo.compare LT, %a, %a, FLOAT : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
  return
}

// -----

func.func @compare_complex(%a: tensor<8xcomplex<f32>>) {
  // expected-error @+1 {{orders complex numbers; only EQ and NE compare them}}
  %0 = stablehlo.compare LT, %a, %a : (tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>) -> tensor<8xi1>
  return
}

// -----

func.func @select_predicate(%p: tensor<4xi1>, %a: tensor<8xf32>) {
  // expected-error @+1 {{predicate has type 'tensor<4xi1>', expected a scalar or shape [8]}}
  %0 = stablehlo.select %p, %a, %a : tensor<4xi1>, tensor<8xf32>
  return
}

// -----

func.func @select_choices(%p: tensor<i1>, %a: tensor<8xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{choices have types 'tensor<8xf32>' and 'tensor<4xf32>', which differ}}
  %0 = stablehlo.select %p, %a, %b : (tensor<i1>, tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @clamp_bound(%a: tensor<8xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{a bound has type 'tensor<4xf32>', expected a scalar or the type 'tensor<8xf32>'}}
  %0 = stablehlo.clamp %b, %a, %b : (tensor<4xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @precision_format(%a: tensor<8xf32>) {
  // expected-error @+1 {{expected a format such as e8m7, got 'f16'}}
  %0 = stablehlo.reduce_precision %a, format = f16 : tensor<8xf32>
  return
}

// -----

func.func @precision_bits(%a: tensor<8xf32>) {
  // expected-error @+1 {{format e0m7 needs at least 1 exponent bit and 0 mantissa bits}}
  %0 = stablehlo.reduce_precision %a, format = e0m7 : tensor<8xf32>
  return
}

// -----

func.func @iota_dim() {
  // expected-error @+1 {{iota dim [2] holds 2, expected dims from 0 to 1}}
  %0 = stablehlo.iota dim = 2 : tensor<8x4xi32>
  return
}

// -----

func.func @iota_dynamic() {
  // expected-error @+1 {{result type 'tensor<?xi32>' is dynamic; use stablehlo.dynamic_iota}}
  %0 = stablehlo.iota dim = 0 : tensor<?xi32>
  return
}

// -----

func.func @broadcast_size(%a: tensor<4xf32>) {
  // expected-error @+1 {{operand dim 0 has size 4, but result dim 1 has size 5; expected 1 or the same size}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<4xf32>) -> tensor<8x5xf32>
  return
}

// -----

func.func @broadcast_dims(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{dims [1, 1] holds dim 1 twice}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [1, 1] : (tensor<4x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @broadcast_length(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{dims has 1 entries, but the operand has 2 dims}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<4x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @broadcast_unknown_size(%a: tensor<4xf32>) {
  // expected-error @+1 {{result dim 0 is dynamic and no operand dim says its size; use stablehlo.dynamic_broadcast_in_dim}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @shape_operand(%a: tensor<f32>, %shape: tensor<3xi64>) {
  // expected-error @+1 {{shape operand has 3 entries, but the result has 2 dims}}
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %shape, dims = [] : (tensor<f32>, tensor<3xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @reshape(%a: tensor<2x6xf32>) {
  // expected-error @+1 {{operand has 12 elements, but the result type 'tensor<3x5xf32>' has 15}}
  %0 = stablehlo.reshape %a : (tensor<2x6xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @transpose(%a: tensor<2x6xf32>) {
  // expected-error @+1 {{result 0 has type 'tensor<2x6xf32>', expected 'tensor<6x2xf32>'}}
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x6xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @reverse(%a: tensor<2x6xf32>) {
  // expected-error @+1 {{dims [2] holds 2, expected dims from 0 to 1}}
  %0 = stablehlo.reverse %a, dims = [2] : tensor<2x6xf32>
  return
}

// -----

func.func @bitcast(%a: tensor<3xi8>) {
  // expected-error @+1 {{last operand dim must hold the 4 parts of one 'f32', but the operand has type 'tensor<3xi8>'}}
  %0 = stablehlo.bitcast_convert %a : (tensor<3xi8>) -> tensor<f32>
  return
}

// -----

func.func @slice_range(%a: tensor<8xf32>) {
  // expected-error @+1 {{slices dim 0 from 2 to 9, which is no part of its 8 elements}}
  %0 = stablehlo.slice %a [2:9] : (tensor<8xf32>) -> tensor<7xf32>
  return
}

// -----

func.func @slice_stride(%a: tensor<8xf32>) {
  // expected-error @+1 {{slices dim 0 with stride 0, expected at least 1}}
  %0 = stablehlo.slice %a [2:8:0] : (tensor<8xf32>) -> tensor<7xf32>
  return
}

// -----

func.func @dynamic_slice(%a: tensor<8xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{size 9 of dim 0 does not fit the operand's 8 elements}}
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [9] : (tensor<8xf32>, tensor<i32>) -> tensor<9xf32>
  return
}

// -----

func.func @dynamic_slice_starts(%a: tensor<8x4xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{start indices has 1 entries, but the operand has 2 dims}}
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [2, 2] : (tensor<8x4xf32>, tensor<i32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @update(%a: tensor<8xf32>, %u: tensor<9xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{update has 9 elements in dim 0, more than the operand's 8}}
  %0 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<8xf32>, tensor<9xf32>, tensor<i32>) -> tensor<8xf32>
  return
}

// -----

func.func @concatenate(%a: tensor<8x3xf32>, %b: tensor<8x4xf32>) {
  // expected-error @+1 {{operand 1 has type 'tensor<8x4xf32>', which differs from operand 0 of type 'tensor<8x3xf32>' in more than the size of dim 0}}
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<8x3xf32>, tensor<8x4xf32>) -> tensor<16x3xf32>
  return
}

// -----

func.func @pad_negative(%a: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{padding cuts dim 0 of size 4 down to -2, expected at least 0}}
  %0 = stablehlo.pad %a, %v, low = [-3], high = [-3], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<0xf32>
  return
}

// -----

func.func @pad_value(%a: tensor<4xf32>, %v: tensor<1xf32>) {
  // expected-error @+1 {{padding value has type 'tensor<1xf32>', expected a scalar}}
  %0 = stablehlo.pad %a, %v, low = [1], high = [0], interior = [0] : (tensor<4xf32>, tensor<1xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @pad_overflow(%a: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{padded size of dim 0 overflows 64 bits}}
  %0 = stablehlo.pad %a, %v, low = [0], high = [0], interior = [9223372036854775807] : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

func.func @gather_size(%a: tensor<10x6xf32>, %i: tensor<4x1xi32>) {
  // expected-error @+1 {{slice size 2 of dim 0, which is collapsed or batching, must be at most 1}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 6>}> : (tensor<10x6xf32>, tensor<4x1xi32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @gather_coordinates(%a: tensor<10x6xf32>, %i: tensor<4x2xi32>) {
  // expected-error @+1 {{indices hold 2 coordinates, but the index map has 1 entries}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> : (tensor<10x6xf32>, tensor<4x2xi32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @gather_field(%a: tensor<10x6xf32>, %i: tensor<4x2xi32>) {
  // expected-error @+1 {{'offset' is unknown here; expected offset_dims, collapsed_slice_dims}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset = [1]>, slice_sizes = array<i64: 1, 6>}> : (tensor<10x6xf32>, tensor<4x2xi32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @scatter_window(%a: tensor<10x6xf32>, %i: tensor<4x1xi32>, %u: tensor<4x7xf32>) {
  // expected-error @+1 {{update windows have 7 elements in dim 1, more than the input's 6}}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) : (tensor<10x6xf32>, tensor<4x1xi32>, tensor<4x7xf32>) -> tensor<10x6xf32>
  return
}

// -----

func.func @dot_sizes(%a: tensor<8x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @+1 {{left dim 1 has size 3, but right dim 0 has size 4}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>
  return
}

// -----

func.func @dot_result(%a: tensor<8x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error @+1 {{result has type 'tensor<5x8xf32>', expected shape [8, 5]}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<3x5xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @dot_counts(%a: tensor<8x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error @+1 {{has 1 contracting dims on the left and 2 on the right, expected as many}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0, 1] : (tensor<8x3xf32>, tensor<3x5xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @dot_precision(%a: tensor<8x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error @+1 {{expected one of [DEFAULT, HIGH, HIGHEST]}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [LOW, LOW] : (tensor<8x3xf32>, tensor<3x5xf32>) -> tensor<8x5xf32>
  return
}

// -----

func.func @convolution_features(%x: tensor<1x8x3xf32>, %w: tensor<3x2x4xf32>) {
  // expected-error @+1 {{kernel has 2 input features, expected 3 (3 input features / 1 groups)}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x3xf32>, tensor<3x2x4xf32>) -> tensor<1x6x4xf32>
  return
}

// -----

func.func @convolution_groups(%x: tensor<1x8x3xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error @+1 {{feature_group_count 2 does not divide the 3 input features}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x8x3xf32>, tensor<3x3x4xf32>) -> tensor<1x6x4xf32>
  return
}

// -----

func.func @convolution_result(%x: tensor<1x8x3xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error @+1 {{result has type 'tensor<1x8x4xf32>', expected shape [1, 6, 4]}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x3xf32>, tensor<3x3x4xf32>) -> tensor<1x8x4xf32>
  return
}

// -----

func.func @convolution_stride(%x: tensor<1x8x3xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error @+1 {{window dim 0 has size 3, stride 0, base dilation 1, window dilation 1; each must be at least 1}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [0]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x3xf32>, tensor<3x3x4xf32>) -> tensor<1x8x4xf32>
  return
}

// -----

func.func @convolution_padding(%x: tensor<1x8x3xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error @+1 {{padding has type 'tensor<2x2xi64>', expected tensor<1x2xi64>}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x3xf32>, tensor<3x3x4xf32>) -> tensor<1x8x4xf32>
  return
}

// -----

func.func @convolution_roles(%x: tensor<1x8x3xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error @+1 {{expected 'b', 'f' or a spatial dim's number, each once, got 'b'}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, b]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x3xf32>, tensor<3x3x4xf32>) -> tensor<1x8x4xf32>
  return
}

// -----

func.func @convolution_window(%x: tensor<1x8x3xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error @+1 {{expected stride, pad, lhs_dilate, rhs_dilate or reverse, each at most once, got 'padding'}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {padding = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x3xf32>, tensor<3x3x4xf32>) -> tensor<1x8x4xf32>
  return
}

// -----

func.func @reduce_dims(%a: tensor<4x8xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{dimensions [2] holds 2, expected dims from 0 to 1}}
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [2] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_result(%a: tensor<4x8xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{result has type 'tensor<8xf32>', expected shape [4]}}
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @reduce_applies(%a: tensor<4x8xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{expected an elementwise op of two operands, got 'stablehlo.negate'}}
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.negate across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_body(%a: tensor<4x8xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{reducer returns 'tensor<i1>', expected the types 'tensor<f32>' of its accumulators}}
  %0 = stablehlo.reduce(%a init: %z) across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    reducer(%x: tensor<f32>, %y: tensor<f32>) {
    %p = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }
  return
}

// -----

func.func @reduce_terminator(%a: tensor<4x8xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{region 'reducer' must end in stablehlo.return}}
  %0 = "stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_operands(%a: tensor<4x8xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{has 3 operands, expected one or more inputs and as many initial values}}
  %0 = "stablehlo.reduce"(%a, %z, %z) <{dimensions = array<i64: 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @window(%a: tensor<4x8xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{window_dimensions has 1 entries, but the operand has 2 dims}}
  %0 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 3>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @sort(%a: tensor<4xf32>) {
  // expected-error @+1 {{region 'comparator' has 1 arguments, expected 2}}
  %0 = "stablehlo.sort"(%a) ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @sort_elements(%a: tensor<4xi32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{argument 1 of region 'comparator' has type 'tensor<f32>', expected 'tensor<i32>'}}
  %0:2 = "stablehlo.sort"(%a, %b) ({
  ^bb0(%x: tensor<i32>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>):
    %1 = stablehlo.compare LT, %z, %w : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4xi32>, tensor<4xf32>) -> (tensor<4xi32>, tensor<4xf32>)
  return
}

// -----

func.func @fft_type(%a: tensor<4xf32>) {
  // expected-error @+1 {{FFT takes complex elements, got 'f32'}}
  %0 = stablehlo.fft %a, type = FFT, length = [4] : (tensor<4xf32>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @fft_length(%a: tensor<4xf32>) {
  // expected-error @+1 {{operand dim 0 has size 4, expected 8 for length 8}}
  %0 = stablehlo.fft %a, type = RFFT, length = [8] : (tensor<4xf32>) -> tensor<5xcomplex<f32>>
  return
}

// -----

func.func @fft_of_nothing(%a: tensor<0xf32>) {
  // expected-error @+1 {{result has type 'tensor<1xcomplex<f32>>', expected shape [0]}}
  %0 = stablehlo.fft %a, type = RFFT, length = [0] : (tensor<0xf32>) -> tensor<1xcomplex<f32>>
  return
}

// -----

func.func @while_cond(%x: tensor<f32>) {
  // expected-error @+1 {{cond returns 'tensor<f32>', expected 'tensor<i1>'}}
  %0 = stablehlo.while(%i = %x) : tensor<f32>
    cond { stablehlo.return %i : tensor<f32> }
    do { stablehlo.return %i : tensor<f32> }
  return
}

// -----

func.func @while_body(%x: tensor<f32>, %p: tensor<i1>) {
  // expected-error @+1 {{body returns 'tensor<i1>', expected the operands' types 'tensor<f32>'}}
  %0 = stablehlo.while(%i = %x) : tensor<f32>
    cond { stablehlo.return %p : tensor<i1> }
    do { stablehlo.return %p : tensor<i1> }
  return
}

// -----

func.func @case(%n: tensor<i32>, %x: tensor<f32>) {
  // expected-error @+1 {{branch 1 returns 'tensor<i32>', expected the result types 'tensor<f32>'}}
  %0 = "stablehlo.case"(%n) ({
    stablehlo.return %x : tensor<f32>
  }, {
    stablehlo.return %n : tensor<i32>
  }) : (tensor<i32>) -> tensor<f32>
  return
}

// -----

func.func @layouts(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{operand_layouts [0, 0] holds dim 0 twice}}
  stablehlo.custom_call @t(%x) {operand_layouts = [dense<0> : tensor<2xindex>]} : (tensor<4x4xf32>) -> ()
  return
}

// -----

func.func @composite(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{decomposition @missing is not a function of this module}}
  %0 = stablehlo.composite "a.b" %x {decomposition = @missing} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @group_size(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{result has type 'tensor<4x4xf32>', expected shape [4, 8]}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @group_member(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{replica_groups holds member 1 twice}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[1, 1]]> : tensor<1x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @group_count(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{replica_groups has type 'tensor<9999999x9999999xi64>', which is more than 1048576 numbers}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<0> : tensor<9999999x9999999xi64>}> : (tensor<4x4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @permute(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{source_target_pairs names target 1 twice}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @reducer_of_another_kind(%a: tensor<4x3xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{reducer's argument 1 has type 'tensor<i32>', expected one that elements of 'tensor<4x3xf32>' can be computed in}}
  %0 = "stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<i32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @initial_value_of_another_kind(%a: tensor<4x3xi32>, %z: tensor<ui32>) {
  // expected-error @+1 {{initial value 0 has type 'tensor<ui32>', expected one element for 'tensor<4x3xi32>'}}
  %0 = "stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 1>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    stablehlo.return %x : tensor<i32>
  }) : (tensor<4x3xi32>, tensor<ui32>) -> tensor<4xi32>
  return
}

// -----

func.func @update_of_another_kind(%a: tensor<6xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>) {
  // expected-error @+1 {{reducer's argument 0 has type 'tensor<i1>', expected one that elements of 'tensor<6xf32>' can be computed in}}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<i1>, %y: tensor<i1>):
    stablehlo.return %x : tensor<i1>
  }) : (tensor<6xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @two_algorithms(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{expected nothing more after 'algorithm'}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, precision = [DEFAULT, DEFAULT] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @spatial_twice(%a: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x4xf32>) {
  // expected-error @+1 {{expected spatial dims 0 to 1, each once}}
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 0, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

func.func @applies_to_two(%a: tensor<4xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{'applies' is for one operand, got 2; give a reducer}}
  %0:2 = stablehlo.reduce(%a init: %z), (%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @complex_of_real(%a: tensor<8xf32>) {
  // expected-error @+1 {{expected a tensor of complex elements, got 'tensor<8xf32>'}}
  %0 = stablehlo.complex %a, %a : tensor<8xf32>
  return
}

// -----

func.func @convolution_no_features(%x: tensor<1x8x3xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error @+1 {{'f' is missing in this list of dims}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x3xf32>, tensor<3x3x4xf32>) -> tensor<1x6x4xf32>
  return
}

// -----

func.func @convolution_spatial(%x: tensor<1x8x3xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error @+1 {{input, kernel and output have different numbers of spatial dims: 1, 2, 1}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, 1, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x3xf32>, tensor<3x3x4xf32>) -> tensor<1x6x4xf32>
  return
}

// -----

func.func @reduce_scalar(%x: tensor<8xf32>, %z: f32) {
  // expected-error @+1 {{initial value has type 'f32', expected a tensor of no dims}}
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, f32) -> tensor<f32>
  return
}

// -----

func.func @features_of_no_dim(%x: tensor<4x16xf32>, %v: tensor<16xf32>) {
  // expected-error @below {{'stablehlo.batch_norm_training' op failed to verify that feature_index is a dim of the operand}}
  %0:3 = "stablehlo.batch_norm_training"(%x, %v, %v) <{epsilon = 1.0e-3 : f32, feature_index = 2 : i64}> : (tensor<4x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<4x16xf32>, tensor<16xf32>, tensor<16xf32>)
  return
}

// -----

func.func @features_below_zero(%x: tensor<4x16xf32>, %v: tensor<16xf32>) {
  // expected-error @below {{'stablehlo.batch_norm_inference' op failed to verify that feature_index is a dim of the operand}}
  %0 = "stablehlo.batch_norm_inference"(%x, %v, %v, %v, %v) <{epsilon = 1.0e-3 : f32, feature_index = -1 : i64}> : (tensor<4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @as_many_means_as_features(%x: tensor<4x16xf32>, %v: tensor<16xf32>, %w: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.batch_norm_grad' op failed to verify that scale, offset, mean and variance, and their gradients, have one dim with an element for each feature}}
  %0:3 = "stablehlo.batch_norm_grad"(%x, %v, %w, %v, %x) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x16xf32>, tensor<16xf32>, tensor<4xf32>, tensor<16xf32>, tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<16xf32>, tensor<16xf32>)
  return
}

// -----

func.func @scale_of_two_dims(%x: tensor<4x16xf32>, %v: tensor<16xf32>) {
  // expected-error @below {{'stablehlo.batch_norm_inference' op failed to verify that scale, offset, mean and variance, and their gradients, have one dim with an element for each feature}}
  %0 = "stablehlo.batch_norm_inference"(%x, %x, %v, %v, %v) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x16xf32>, tensor<4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @gradient_of_another_shape(%x: tensor<4x16xf32>, %v: tensor<16xf32>, %g: tensor<5x16xf32>) {
  // expected-error @below {{'stablehlo.batch_norm_grad' op failed to verify that grad_output and the first result have the shape of the operand}}
  %0:3 = "stablehlo.batch_norm_grad"(%x, %v, %v, %v, %g) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<5x16xf32>) -> (tensor<4x16xf32>, tensor<16xf32>, tensor<16xf32>)
  return
}

// -----

func.func @normalised_to_other_elements(%x: tensor<4x16xf32>, %v: tensor<16xf32>) {
  // expected-error @below {{'stablehlo.batch_norm_inference' op failed to verify that operands and results have one element type}}
  %0 = "stablehlo.batch_norm_inference"(%x, %v, %v, %v, %v) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<4x16xf64>
  return
}

// -----

func.func @group_without_a_member(%x: tensor<4x8xf32>) {
  // expected-error @below {{'stablehlo.all_gather' op replica_groups names 4 members without 3, expected all from 0 on}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 4]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @short_group(%x: tensor<2x4xi64>) {
  // expected-error @below {{'stablehlo.all_to_all' op replica_groups holds -1, expected 0 or more}}
  %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>}> : (tensor<2x4xi64>) -> tensor<4x2xi64>
  return
}

// -----

func.func @sum_in_another_type(%x: tensor<4xf16>) {
  // expected-error @below {{'stablehlo.all_reduce' op operand 0 has type 'tensor<4xf16>', but the reducer combines elements of 'f32'}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf16>) -> tensor<4xf16>
  return
}

// -----

func.func @sum_of_two_types(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @below {{'stablehlo.all_reduce' op operand 1 has type 'tensor<4xf64>', but the reducer combines elements of 'f32'}}
  %0:2 = "stablehlo.all_reduce"(%x, %y) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<4xf64>) -> (tensor<4xf32>, tensor<4xf64>)
  return
}

// -----

func.func @alias_of_no_result(%x: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.custom_call' op output_operand_aliases holds #stablehlo.output_operand_alias<output_tuple_indices = [3], operand_index = 0, operand_tuple_indices = []>, which names no part of the results}}
  %0 = "stablehlo.custom_call"(%x) <{call_target_name = "t", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [3], operand_index = 0, operand_tuple_indices = []>]}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @alias_of_no_part(%x: tensor<4xf32>) {
  // expected-error @below {{which names no part of the operand}}
  %0 = "stablehlo.custom_call"(%x) <{call_target_name = "t", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = [-1]>]}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @alias_of_another_type(%x: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.custom_call' op output_operand_aliases shares 'tensor<4xf32>' of operand 0 with 'tensor<2xf32>', expected one type}}
  %0:2 = "stablehlo.custom_call"(%x) <{call_target_name = "t", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 0, operand_tuple_indices = []>]}> : (tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>)
  return
}

// -----

func.func @unsigned(%x: tensor<4xui64>) {
  // expected-error @below {{'stablehlo.abs' op operand #0 must be ranked tensor of floating-point or a signed integer or a complex number values, but got 'tensor<4xui64>'}}
  %0 = "stablehlo.abs"(%x) : (tensor<4xui64>) -> tensor<4xui64>
  return
}

// -----

func.func @algorithm_components(%a: tensor<4x4xf32>) {
  // expected-error @below {{'stablehlo.dot_general' op has an algorithm that no device is known to have: #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 3, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>}}
  %0 = "stablehlo.dot_general"(%a, %a) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 3, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @algorithm_passes(%a: tensor<4x4xf32>) {
  // expected-error @below {{'stablehlo.dot_general' op has an algorithm that no device is known to have: #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false>}}
  %0 = "stablehlo.dot_general"(%a, %a) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @algorithm_of_two_types(%a: tensor<4x4xf32>) {
  // expected-error @below {{'stablehlo.dot_general' op has an algorithm that no device is known to have: #stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = f16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>}}
  %0 = "stablehlo.dot_general"(%a, %a) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = f16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @algorithm_imprecise(%a: tensor<4x4xf32>) {
  // expected-error @below {{'stablehlo.dot_general' op has an algorithm that no device is known to have: #stablehlo.dot_algorithm<lhs_precision_type = f16, rhs_precision_type = f16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = true>}}
  %0 = "stablehlo.dot_general"(%a, %a) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f16, rhs_precision_type = f16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = true>, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @algorithm_of_integers(%a: tensor<4x4xf32>) {
  // expected-error @below {{'stablehlo.dot_general' op has an algorithm that no device is known to have: #stablehlo.dot_algorithm<lhs_precision_type = i8, rhs_precision_type = i8, accumulation_type = i32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>}}
  %0 = "stablehlo.dot_general"(%a, %a) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = i8, rhs_precision_type = i8, accumulation_type = i32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @algorithm_narrow_sums(%a: tensor<4x4xf32>) {
  // expected-error @below {{'stablehlo.dot_general' op has an algorithm that no device is known to have: #stablehlo.dot_algorithm<lhs_precision_type = f8E4M3FN, rhs_precision_type = f8E5M2, accumulation_type = f16, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>}}
  %0 = "stablehlo.dot_general"(%a, %a) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f8E4M3FN, rhs_precision_type = f8E5M2, accumulation_type = f16, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @solved_in_two_types(%a: tensor<4x4xf32>, %b: tensor<4x3xbf16>) {
  // expected-error @below {{'stablehlo.triangular_solve' op matrix has elements of 'f32', but right side of 'bf16'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x3xbf16>) -> tensor<4x3xbf16>
  return
}

// -----

func.func @solved_to_another_type(%a: tensor<4x4xf32>, %b: tensor<4x3xf32>) {
  // expected-error @below {{'stablehlo.triangular_solve' op right side has elements of 'f32', but result of 'f64'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf64>
  return
}

// -----

func.func @sign_of_i1(%a: tensor<4xi1>) {
  // expected-error @below {{'stablehlo.sign' op operand #0 must be ranked tensor of }}
  %0 = stablehlo.sign %a : tensor<4xi1>
  return
}

// -----

func.func @sign_of_ui8(%a: tensor<4xui8>) {
  // expected-error @below {{'stablehlo.sign' op operand #0 must be ranked tensor of }}
  %0 = stablehlo.sign %a : tensor<4xui8>
  return
}

// -----

func.func @negate_of_i1(%a: tensor<4xi1>) {
  // expected-error @below {{'stablehlo.negate' op operand #0 must be ranked tensor of }}
  %0 = stablehlo.negate %a : tensor<4xi1>
  return
}

// -----

func.func @popcnt_of_i1(%a: tensor<4xi1>) {
  // expected-error @below {{'stablehlo.popcnt' op operand #0 must be ranked tensor of }}
  %0 = stablehlo.popcnt %a : tensor<4xi1>
  return
}

// -----

func.func @count_leading_zeros_of_i1(%a: tensor<4xi1>) {
  // expected-error @below {{'stablehlo.count_leading_zeros' op operand #0 must be ranked tensor of }}
  %0 = stablehlo.count_leading_zeros %a : tensor<4xi1>
  return
}

// -----

func.func @shift_left_of_i1(%a: tensor<4xi1>) {
  // expected-error @below {{'stablehlo.shift_left' op operand #0 must be ranked tensor of }}
  %0 = stablehlo.shift_left %a, %a : tensor<4xi1>
  return
}

// -----

func.func @shift_right_arithmetic_of_i1(%a: tensor<4xi1>) {
  // expected-error @below {{'stablehlo.shift_right_arithmetic' op operand #0 must be ranked tensor of }}
  %0 = stablehlo.shift_right_arithmetic %a, %a : tensor<4xi1>
  return
}

// -----

func.func @shift_right_logical_of_i1(%a: tensor<4xi1>) {
  // expected-error @below {{'stablehlo.shift_right_logical' op operand #0 must be ranked tensor of }}
  %0 = stablehlo.shift_right_logical %a, %a : tensor<4xi1>
  return
}

// -----

func.func @divide_of_i1(%a: tensor<4xi1>) {
  // expected-error @below {{'stablehlo.divide' op operand #0 must be ranked tensor of }}
  %0 = stablehlo.divide %a, %a : tensor<4xi1>
  return
}

// -----

func.func @power_of_i1(%a: tensor<4xi1>) {
  // expected-error @below {{'stablehlo.power' op operand #0 must be ranked tensor of }}
  %0 = stablehlo.power %a, %a : tensor<4xi1>
  return
}

// -----

func.func @remainder_of_i1(%a: tensor<4xi1>) {
  // expected-error @below {{'stablehlo.remainder' op operand #0 must be ranked tensor of }}
  %0 = stablehlo.remainder %a, %a : tensor<4xi1>
  return
}

// -----

func.func @subtract_of_i1(%a: tensor<4xi1>) {
  // expected-error @below {{'stablehlo.subtract' op operand #0 must be ranked tensor of }}
  %0 = stablehlo.subtract %a, %a : tensor<4xi1>
  return
}

// -----

func.func @tolerance_negative_absolute(%a: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.tan' op failed to verify that result_accuracy has no negative tolerance, and none but of mode TOLERANCE}}
  %0 = "stablehlo.tan"(%a) <{result_accuracy = #stablehlo.result_accuracy<atol = -1.0, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @tolerance_negative_relative(%a: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.tan' op failed to verify that result_accuracy has no negative tolerance, and none but of mode TOLERANCE}}
  %0 = "stablehlo.tan"(%a) <{result_accuracy = #stablehlo.result_accuracy<rtol = -1.0, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @tolerance_negative_ulps(%a: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.tan' op failed to verify that result_accuracy has no negative tolerance, and none but of mode TOLERANCE}}
  %0 = "stablehlo.tan"(%a) <{result_accuracy = #stablehlo.result_accuracy<ulps = -3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @tolerance_no_mode(%a: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.tan' op failed to verify that result_accuracy has no negative tolerance, and none but of mode TOLERANCE}}
  %0 = "stablehlo.tan"(%a) <{result_accuracy = #stablehlo.result_accuracy<ulps = 3, mode = #stablehlo.result_accuracy_mode<DEFAULT>>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @tolerance_highest(%a: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.tan' op failed to verify that result_accuracy has no negative tolerance, and none but of mode TOLERANCE}}
  %0 = "stablehlo.tan"(%a) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.0, mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @all_gather_of_global_ids(%a: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.all_gather' op has use_global_device_ids and channel -1, expected one of 0 or more}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = -1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @all_reduce_of_global_ids(%a: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.all_reduce' op has use_global_device_ids and channel 0, expected one of 1 or more}}
  %0 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_scatter_of_global_ids(%a: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.reduce_scatter' op has use_global_device_ids and channel 0, expected one of 1 or more}}
  %0 = "stablehlo.reduce_scatter"(%a) <{scatter_dimension = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @sent_to_nobody(%a: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.collective_broadcast' op replica_groups holds -1, expected 0 or more}}
  %0 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<-1> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @collapsed_in_another_order(%a: tensor<5x2xf32>, %i: tensor<3x2xi32>) {
  // expected-error @below {{'stablehlo.gather' op collapsed or inserted dims [1, 0] must be in ascending order}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1, 0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<5x2xf32>, tensor<3x2xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @batches_in_another_order(%a: tensor<2x2x5xf32>, %i: tensor<2x2x1xi32>) {
  // expected-error @below {{'stablehlo.gather' op batching dims of the operand [1, 0] must be in ascending order}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [1, 0], start_indices_batching_dims = [1, 0], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<2x2x5xf32>, tensor<2x2x1xi32>) -> tensor<2x2xf32>
  return
}
