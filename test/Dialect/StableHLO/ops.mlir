// RUN: shard-opt %s | shard-opt | FileCheck %s
// RUN: shard-opt %s --mlir-print-op-generic | shard-opt | FileCheck %s
// Every op's text, with `?` dims where the local view has them.

// CHECK-LABEL: func @unary(
func.func @unary(%f: tensor<?x4xf32>, %i: tensor<8xi32>, %c: tensor<8xcomplex<f32>>) {
  // CHECK: stablehlo.abs %{{.*}} : tensor<?x4xf32>
  %0 = stablehlo.abs %f : tensor<?x4xf32>
  // CHECK: stablehlo.abs %{{.*}} : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  %1 = stablehlo.abs %c : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  // CHECK: stablehlo.cbrt %{{.*}} : tensor<?x4xf32>
  %2 = stablehlo.cbrt %f : tensor<?x4xf32>
  // CHECK: stablehlo.ceil
  %3 = stablehlo.ceil %f : tensor<?x4xf32>
  // CHECK: stablehlo.convert %{{.*}} : (tensor<8xi32>) -> tensor<8xf32>
  %4 = stablehlo.convert %i : (tensor<8xi32>) -> tensor<8xf32>
  // CHECK: stablehlo.convert %{{.*}} : tensor<8xi32>
  %5 = stablehlo.convert %i : tensor<8xi32>
  // CHECK: stablehlo.cosine
  %6 = stablehlo.cosine %c : tensor<8xcomplex<f32>>
  // CHECK: stablehlo.count_leading_zeros
  %7 = stablehlo.count_leading_zeros %i : tensor<8xi32>
  // CHECK: stablehlo.exponential %{{.*}} {result_accuracy = #stablehlo.result_accuracy<ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}
  %8 = stablehlo.exponential %f {result_accuracy = #stablehlo.result_accuracy<ulps = 1, mode = #stablehlo<result_accuracy_mode TOLERANCE>>} : tensor<?x4xf32>
  // CHECK: stablehlo.exponential_minus_one
  %9 = stablehlo.exponential_minus_one %f : tensor<?x4xf32>
  // CHECK: stablehlo.floor
  %10 = stablehlo.floor %f : tensor<?x4xf32>
  // CHECK: stablehlo.imag %{{.*}} : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  %11 = stablehlo.imag %c : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  // CHECK: stablehlo.is_finite %{{.*}} : (tensor<?x4xf32>) -> tensor<?x4xi1>
  %12 = stablehlo.is_finite %f : (tensor<?x4xf32>) -> tensor<?x4xi1>
  // CHECK: stablehlo.log
  %13 = stablehlo.log %f : tensor<?x4xf32>
  // CHECK: stablehlo.log_plus_one
  %14 = stablehlo.log_plus_one %f : tensor<?x4xf32>
  // CHECK: stablehlo.logistic %{{.*}} {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}
  %15 = stablehlo.logistic %f {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<?x4xf32>
  // CHECK: stablehlo.negate %{{.*}} : (tensor<?x4xf32>) -> tensor<3x4xf32>
  %16 = stablehlo.negate %f : (tensor<?x4xf32>) -> tensor<3x4xf32>
  // CHECK: stablehlo.not
  %17 = stablehlo.not %i : tensor<8xi32>
  // CHECK: stablehlo.popcnt
  %18 = stablehlo.popcnt %i : tensor<8xi32>
  // CHECK: stablehlo.real %{{.*}} : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  %19 = stablehlo.real %c : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  // CHECK: stablehlo.reduce_precision %{{.*}}, format = e8m7 : tensor<?x4xf32>
  %20 = stablehlo.reduce_precision %f, format = e8m7 : tensor<?x4xf32>
  // CHECK: stablehlo.round_nearest_afz
  %21 = stablehlo.round_nearest_afz %f : tensor<?x4xf32>
  // CHECK: stablehlo.round_nearest_even
  %22 = stablehlo.round_nearest_even %f : tensor<?x4xf32>
  // CHECK: stablehlo.rsqrt
  %23 = stablehlo.rsqrt %f : tensor<?x4xf32>
  // CHECK: stablehlo.sign
  %24 = stablehlo.sign %i : tensor<8xi32>
  // CHECK: stablehlo.sine
  %25 = stablehlo.sine %f : tensor<?x4xf32>
  // CHECK: stablehlo.sqrt
  %26 = stablehlo.sqrt %f : tensor<?x4xf32>
  // CHECK: stablehlo.tan
  %27 = stablehlo.tan %f : tensor<?x4xf32>
  // CHECK: stablehlo.tanh
  %28 = stablehlo.tanh %f : tensor<?x4xf32>
  return
}

// CHECK-LABEL: func @binary(
func.func @binary(%a: tensor<?x4xf32>, %b: tensor<3x4xf32>, %i: tensor<8xui32>) {
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} : (tensor<?x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %0 = stablehlo.add %a, %b : (tensor<?x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} {mhlo.frontend_attributes = {a = "b"}} : tensor<?x4xf32>
  %1 = stablehlo.add %a, %a {mhlo.frontend_attributes = {a = "b"}} : tensor<?x4xf32>
  // CHECK: stablehlo.and %{{.*}} : tensor<8xui32>
  %2 = stablehlo.and %i, %i : tensor<8xui32>
  // CHECK: stablehlo.atan2
  %3 = stablehlo.atan2 %b, %b : tensor<3x4xf32>
  // CHECK: stablehlo.compare LT, %{{.*}}, %{{.*}}, FLOAT : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
  %4 = stablehlo.compare  LT, %b, %b,  FLOAT : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
  // CHECK: stablehlo.compare EQ, %{{.*}}, %{{.*}} : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xi1>
  %5 = stablehlo.compare EQ, %i, %i : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xi1>
  // CHECK: stablehlo.complex %{{.*}}, %{{.*}} : tensor<3x4xcomplex<f32>>
  %6 = stablehlo.complex %b, %b : tensor<3x4xcomplex<f32>>
  // CHECK: stablehlo.complex %{{.*}}, %{{.*}} : (tensor<?x4xf32>, tensor<3x4xf32>) -> tensor<3x4xcomplex<f32>>
  %7 = stablehlo.complex %a, %b : (tensor<?x4xf32>, tensor<3x4xf32>) -> tensor<3x4xcomplex<f32>>
  // CHECK: stablehlo.divide
  %8 = stablehlo.divide %b, %b : tensor<3x4xf32>
  // CHECK: stablehlo.maximum
  %9 = stablehlo.maximum %b, %b : tensor<3x4xf32>
  // CHECK: stablehlo.minimum
  %10 = stablehlo.minimum %b, %b : tensor<3x4xf32>
  // CHECK: stablehlo.multiply
  %11 = stablehlo.multiply %b, %b : tensor<3x4xf32>
  // CHECK: stablehlo.or
  %12 = stablehlo.or %i, %i : tensor<8xui32>
  // CHECK: stablehlo.power
  %13 = stablehlo.power %b, %b : tensor<3x4xf32>
  // CHECK: stablehlo.remainder
  %14 = stablehlo.remainder %b, %b : tensor<3x4xf32>
  // CHECK: stablehlo.shift_left
  %15 = stablehlo.shift_left %i, %i : tensor<8xui32>
  // CHECK: stablehlo.shift_right_arithmetic
  %16 = stablehlo.shift_right_arithmetic %i, %i : tensor<8xui32>
  // CHECK: stablehlo.shift_right_logical
  %17 = stablehlo.shift_right_logical %i, %i : tensor<8xui32>
  // CHECK: stablehlo.subtract
  %18 = stablehlo.subtract %b, %b : tensor<3x4xf32>
  // CHECK: stablehlo.xor
  %19 = stablehlo.xor %i, %i : tensor<8xui32>
  return
}

// CHECK-LABEL: func @ternary(
func.func @ternary(%p: tensor<i1>, %m: tensor<?xi1>, %a: tensor<?xf32>, %b: tensor<8xf32>, %s: tensor<f32>) {
  // CHECK: stablehlo.select %{{.*}} : tensor<?xi1>, tensor<?xf32>
  %0 = stablehlo.select %m, %a, %a : tensor<?xi1>, tensor<?xf32>
  // CHECK: stablehlo.select %{{.*}} : tensor<i1>, tensor<8xf32>
  %1 = stablehlo.select %p, %b, %b : tensor<i1>, tensor<8xf32>
  // CHECK: stablehlo.select %{{.*}} : (tensor<?xi1>, tensor<?xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = stablehlo.select %m, %a, %b : (tensor<?xi1>, tensor<?xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: stablehlo.clamp %{{.*}} : tensor<8xf32>
  %3 = stablehlo.clamp %b, %b, %b : tensor<8xf32>
  // CHECK: stablehlo.clamp %{{.*}} : (tensor<f32>, tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %4 = stablehlo.clamp %s, %a, %s : (tensor<f32>, tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  return
}

// CHECK-LABEL: func @sources(
func.func @sources(%shape: tensor<2xindex>) -> (tensor<2x2xbf16>, tensor<3xi1>, tensor<2xcomplex<f64>>, tensor<0x3xf32>) {
  // CHECK: %{{cst.*}} = stablehlo.constant dense<[{{\[}}1.500000e+00, 0x7F80], [0xFF80, -0.000000e+00]]> : tensor<2x2xbf16>
  %0 = stablehlo.constant dense<[[1.5, 0x7F80], [0xFF80, -0.0]]> : tensor<2x2xbf16>
  // CHECK: %{{c.*}} = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  %1 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  // CHECK: stablehlo.constant dense<[(1.000000e+00,2.000000e+00), (0.000000e+00,-1.000000e+00)]> : tensor<2xcomplex<f64>>
  %2 = stablehlo.constant dense<[(1.0, 2.0), (0.0, -1.0)]> : tensor<2xcomplex<f64>>
  // CHECK: stablehlo.constant dense<> : tensor<0x3xf32>
  %3 = stablehlo.constant dense<> : tensor<0x3xf32>
  // CHECK: stablehlo.iota dim = 1 : tensor<8x4xi32>
  %4 = stablehlo.iota dim = 1 : tensor<8x4xi32>
  // CHECK: stablehlo.dynamic_iota %{{.*}}, dim = 0 : (tensor<2xindex>) -> tensor<?x4xi32>
  %5 = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<2xindex>) -> tensor<?x4xi32>
  return %0, %1, %2, %3 : tensor<2x2xbf16>, tensor<3xi1>, tensor<2xcomplex<f64>>, tensor<0x3xf32>
}

// CHECK-LABEL: func @shapes(
func.func @shapes(%a: tensor<2x6xf32>, %d: tensor<?x6xf32>, %s: tensor<f32>, %shape: tensor<2xi64>, %n: tensor<i32>) {
  // CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
  %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
  // CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [0, 2] : (tensor<?x6xf32>) -> tensor<?x5x6xf32>
  %1 = stablehlo.broadcast_in_dim %d, dims = [0, 2] : (tensor<?x6xf32>) -> tensor<?x5x6xf32>
  // CHECK: stablehlo.dynamic_broadcast_in_dim %{{.*}}, %{{.*}}, dims = [] : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
  %2 = stablehlo.dynamic_broadcast_in_dim %s, %shape, dims = [] : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK: stablehlo.broadcast %{{.*}}, sizes = [3] : (tensor<2x6xf32>) -> tensor<3x2x6xf32>
  %3 = stablehlo.broadcast %a, sizes = [3] : (tensor<2x6xf32>) -> tensor<3x2x6xf32>
  // CHECK: stablehlo.reshape %{{.*}} : (tensor<2x6xf32>) -> tensor<3x4xf32>
  %4 = stablehlo.reshape %a : (tensor<2x6xf32>) -> tensor<3x4xf32>
  // CHECK: stablehlo.reshape %{{.*}} : (tensor<?x6xf32>) -> tensor<?x2x3xf32>
  %5 = stablehlo.reshape %d : (tensor<?x6xf32>) -> tensor<?x2x3xf32>
  // CHECK: stablehlo.dynamic_reshape %{{.*}}, %{{.*}} : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %6 = stablehlo.dynamic_reshape %d, %shape : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK: stablehlo.transpose %{{.*}}, dims = [1, 0] : (tensor<?x6xf32>) -> tensor<6x?xf32>
  %7 = stablehlo.transpose %d, dims = [1, 0] : (tensor<?x6xf32>) -> tensor<6x?xf32>
  // CHECK: stablehlo.reverse %{{.*}}, dims = [0] : tensor<?x6xf32>
  %8 = stablehlo.reverse %d, dims = [0] : tensor<?x6xf32>
  // CHECK: stablehlo.bitcast_convert %{{.*}} : (tensor<2x6xf32>) -> tensor<2x6x4xui8>
  %9 = stablehlo.bitcast_convert %a : (tensor<2x6xf32>) -> tensor<2x6x4xui8>
  // CHECK: stablehlo.get_dimension_size %{{.*}}, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
  %10 = stablehlo.get_dimension_size %d, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
  // CHECK: stablehlo.set_dimension_size %{{.*}}, %{{.*}}, dim = 0 : (tensor<2x6xf32>, tensor<i32>) -> tensor<?x6xf32, #stablehlo.bounds<2, ?>>
  %11 = stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<2x6xf32>, tensor<i32>) -> tensor<?x6xf32, #stablehlo.bounds<2, ?>>
  return
}

// CHECK-LABEL: func @parts(
func.func @parts(%a: tensor<8x6xf32>, %d: tensor<?x6xf32>, %s: tensor<f32>, %i: tensor<i32>, %shape: tensor<2xi64>, %u: tensor<4x3xf32>) {
  // CHECK: stablehlo.slice %{{.*}} [0:8, 1:5:2] : (tensor<8x6xf32>) -> tensor<8x2xf32>
  %0 = stablehlo.slice %a [0:8, 1:5:2] : (tensor<8x6xf32>) -> tensor<8x2xf32>
  // CHECK: stablehlo.slice %{{.*}} [] : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.slice %s [] : (tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.real_dynamic_slice
  %2 = stablehlo.real_dynamic_slice %d, %shape, %shape, %shape : (tensor<?x6xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK: stablehlo.dynamic_slice %{{.*}}, %{{.*}}, %{{.*}}, sizes = [4, 3] : (tensor<8x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
  %3 = stablehlo.dynamic_slice %a, %i, %i, sizes = [4, 3] : (tensor<8x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
  // JAX prints a comma behind no indices.
  // CHECK: stablehlo.dynamic_slice %{{[a-z0-9]*}}, , sizes = [] : (tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.dynamic_slice %{{[a-z0-9]*}}, , sizes = [] : (tensor<f32>) -> tensor<f32>
  %4 = stablehlo.dynamic_slice %s, sizes = [] : (tensor<f32>) -> tensor<f32>
  %44 = stablehlo.dynamic_slice %s, , sizes = [] : (tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.dynamic_update_slice %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<8x6xf32>, tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x6xf32>
  %5 = stablehlo.dynamic_update_slice %a, %u, %i, %i : (tensor<8x6xf32>, tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x6xf32>
  // CHECK: stablehlo.concatenate %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, dim = 0 : (tensor<8x6xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  %6 = stablehlo.concatenate %a, %d, dim = 0 : (tensor<8x6xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  // CHECK: stablehlo.concatenate %{{[a-z0-9]*}}, dim = 1 : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %7 = stablehlo.concatenate %a, dim = 1 : (tensor<8x6xf32>) -> tensor<8x6xf32>
  // CHECK: stablehlo.pad %{{.*}}, %{{.*}}, low = [1, -1], high = [0, 2], interior = [0, 1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<9x12xf32>
  %8 = stablehlo.pad %a, %s, low = [1, -1], high = [0, 2], interior = [0, 1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<9x12xf32>
  // CHECK: stablehlo.dynamic_pad
  %9 = stablehlo.dynamic_pad %a, %s, %shape, %shape, %shape : (tensor<8x6xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func @addressing(
func.func @addressing(%a: tensor<10x6xf32>, %i: tensor<4x1xi32>, %sizes: tensor<2xi32>, %u: tensor<4x6xf32>) {
  // CHECK: "stablehlo.gather"(%{{.*}}) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6>}> : (tensor<10x6xf32>, tensor<4x1xi32>) -> tensor<4x6xf32>
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6>}> : (tensor<10x6xf32>, tensor<4x1xi32>) -> tensor<4x6xf32>
  // Older text keeps inherent attributes in plain braces.
  // CHECK: "stablehlo.gather"(%{{.*}}) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}>
  %1 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>} : (tensor<10x6xf32>, tensor<4x1xi32>) -> tensor<4x6xf32>
  // CHECK: "stablehlo.dynamic_gather"
  %2 = "stablehlo.dynamic_gather"(%a, %i, %sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<10x6xf32>, tensor<4x1xi32>, tensor<2xi32>) -> tensor<4x?xf32>
  // CHECK: "stablehlo.scatter"(%{{.*}}) <{{.*}}scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  %3 = "stablehlo.scatter"(%a, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<10x6xf32>, tensor<4x1xi32>, tensor<4x6xf32>) -> tensor<10x6xf32>
  return
}

// CHECK-LABEL: func @contractions(
func.func @contractions(%a: tensor<4x8x16xf32>, %b: tensor<4x16x2xf32>, %d: tensor<?x8x?xf32>, %x: tensor<1x8x?x3xf32>, %w: tensor<3x3x3x4xf32>, %x1: tensor<8x3xf32>, %w1: tensor<3x4xf32>) {
  // CHECK: stablehlo.dot_general %{{.*}}, %{{.*}}, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGH] : (tensor<4x8x16xf32>, tensor<4x16x2xf32>) -> tensor<4x8x2xf32>
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGH] : (tensor<4x8x16xf32>, tensor<4x16x2xf32>) -> tensor<4x8x2xf32>
  // CHECK: stablehlo.dot_general %{{.*}}, %{{.*}}, contracting_dims = [0, 2] x [0, 1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<?x8x?xf32>, tensor<4x16x2xf32>) -> tensor<8x2xf64>
  %1 = stablehlo.dot_general %d, %b, contracting_dims = [0, 2] x [0, 1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<?x8x?xf32>, tensor<4x16x2xf32>) -> tensor<8x2xf64>
  // CHECK: stablehlo.dot_general %{{.*}}, contracting_dims = [] x [] : (tensor<8x3xf32>, tensor<3x4xf32>) -> tensor<8x3x3x4xf32>
  %2 = stablehlo.dot_general %x1, %w1, contracting_dims = [] x [] : (tensor<8x3xf32>, tensor<3x4xf32>) -> tensor<8x3x3x4xf32>
  // CHECK: stablehlo.dot %{{.*}}, %{{.*}}, precision = [HIGHEST, HIGHEST] : (tensor<8x3xf32>, tensor<3x4xf32>) -> tensor<8x4xf32>
  %3 = stablehlo.dot %x1, %w1, precision = [HIGHEST, HIGHEST] : (tensor<8x3xf32>, tensor<3x4xf32>) -> tensor<8x4xf32>
  // CHECK: stablehlo.convolution(%{{.*}}, %{{.*}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 2], pad = {{\[}}[1, 1], [0, -1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x?x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x8x?x4xf32>
  %4 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 2], pad = [[1, 1], [0, -1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x?x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x8x?x4xf32>
  // CHECK: stablehlo.convolution(%{{.*}}, %{{.*}}) dim_numbers = [b, f]x[i, o]->[f, b], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x3xf32>, tensor<3x4xf32>) -> tensor<4x8xf32>
  %5 = stablehlo.convolution(%x1, %w1) dim_numbers = [b, f]x[i, o]->[f, b], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x3xf32>, tensor<3x4xf32>) -> tensor<4x8xf32>
  // CHECK: stablehlo.convolution(%{{.*}}, %{{.*}}) dim_numbers = [b, f]x[i, o]->[b, f], window = {}
  %6 = "stablehlo.convolution"(%x1, %w1) {batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 1, input_spatial_dimensions = [], kernel_input_feature_dimension = 0, kernel_output_feature_dimension = 1, kernel_spatial_dimensions = [], output_batch_dimension = 0, output_feature_dimension = 1, output_spatial_dimensions = []>, feature_group_count = 1 : i64} : (tensor<8x3xf32>, tensor<3x4xf32>) -> tensor<8x4xf32>
  return
}

// CHECK-LABEL: func @reductions(
func.func @reductions(%a: tensor<?x8xf32>, %i: tensor<?x8xi32>, %z: tensor<f32>, %c: tensor<i32>) {
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<?x8xf32>, tensor<f32>) -> tensor<?xf32>
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : (tensor<?x8xf32>, tensor<f32>) -> tensor<?xf32>
  // CHECK: %{{.*}}:2 = stablehlo.reduce(%{{.*}} init: %{{.*}}), (%{{.*}} init: %{{.*}}) across dimensions = [0, 1] : (tensor<?x8xf32>, tensor<?x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
  // CHECK-NEXT: reducer(%[[X:.*]]: tensor<f32>, %{{.*}}: tensor<f32>) (%[[P:.*]]: tensor<i32>, %{{.*}}: tensor<i32>) {
  // CHECK-NEXT: stablehlo.return %[[X]], %[[P]] : tensor<f32>, tensor<i32>
  %1:2 = stablehlo.reduce(%a init: %z), (%i init: %c) across dimensions = [0, 1] : (tensor<?x8xf32>, tensor<?x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
    reducer(%x: tensor<f32>, %y: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
    stablehlo.return %x, %p : tensor<f32>, tensor<i32>
  }
  // A body with its arguments swapped is not what `applies` says.
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) across dimensions = [1] {mhlo.note} :
  // CHECK-NEXT: reducer(%[[X:.*]]: tensor<f32>, %[[Y:.*]]: tensor<f32>) {
  // CHECK-NEXT: stablehlo.subtract %[[Y]], %[[X]]
  %2 = stablehlo.reduce(%a init: %z) across dimensions = [1] {mhlo.note} : (tensor<?x8xf32>, tensor<f32>) -> tensor<?xf32>
    reducer(%x: tensor<f32>, %y: tensor<f32>) {
    %s = stablehlo.subtract %y, %x : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }
  // CHECK: "stablehlo.reduce_window"(%{{.*}}) <{padding = dense<{{\[}}[0, 0], [1, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>}>
  %3 = "stablehlo.reduce_window"(%a, %z) <{padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x4xf32>
  // CHECK: "stablehlo.select_and_scatter"
  %4 = "stablehlo.select_and_scatter"(%a, %3, %z) <{padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %p = stablehlo.compare GE, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<?x8xf32>, tensor<?x4xf32>, tensor<f32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: func @whole_dims(
func.func @whole_dims(%a: tensor<4x16xf32>, %m: tensor<4x4xf32>, %v: tensor<16xf32>, %state: tensor<2xui64>) {
  // CHECK: "stablehlo.sort"(%{{.*}}) <{dimension = 1 : i64, is_stable = true}>
  %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %p = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  // CHECK: stablehlo.fft %{{.*}}, type = RFFT, length = [16] : (tensor<4x16xf32>) -> tensor<4x9xcomplex<f32>>
  %1 = stablehlo.fft %a, type = RFFT, length = [16] : (tensor<4x16xf32>) -> tensor<4x9xcomplex<f32>>
  // CHECK: stablehlo.fft %{{.*}}, type = IRFFT, length = [16] : (tensor<4x9xcomplex<f32>>) -> tensor<4x16xf32>
  %2 = stablehlo.fft %1, type = IRFFT, length = [16] : (tensor<4x9xcomplex<f32>>) -> tensor<4x16xf32>
  // CHECK: stablehlo.cholesky %{{.*}}, lower = true : tensor<4x4xf32>
  %3 = stablehlo.cholesky %m, lower = true : tensor<4x4xf32>
  // CHECK: "stablehlo.triangular_solve"(%{{.*}}) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}>
  %4 = "stablehlo.triangular_solve"(%m, %a) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  // CHECK: "stablehlo.batch_norm_inference"
  %5 = "stablehlo.batch_norm_inference"(%a, %v, %v, %v, %v) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  // CHECK: stablehlo.rng_bit_generator %{{.*}}, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  %6, %7 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  return
}

// CHECK-LABEL: func @control(
func.func @control(%n: tensor<i32>, %p: tensor<i1>, %x: tensor<?xf32>, %one: tensor<i32>) -> tensor<?xf32> {
  // CHECK: %{{.*}}:2 = stablehlo.while(%[[I:.*]] = %{{.*}}, %[[X:.*]] = %{{.*}}) : tensor<i32>, tensor<?xf32> attributes {mhlo.note}
  // CHECK-NEXT: cond {
  // CHECK-NEXT: stablehlo.compare LT, %[[I]], %{{.*}}, SIGNED
  // CHECK-NEXT: stablehlo.return %{{.*}} : tensor<i1>
  // CHECK-NEXT: } do {
  // CHECK-NEXT: stablehlo.add %[[I]], %{{.*}} : tensor<i32>
  // CHECK-NEXT: stablehlo.return %{{.*}}, %[[X]] : tensor<i32>, tensor<?xf32>
  %0:2 = stablehlo.while(%i = %n, %y = %x) : tensor<i32>, tensor<?xf32> attributes {mhlo.note}
    cond {
      %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %y : tensor<i32>, tensor<?xf32>
    }
  // CHECK: "stablehlo.case"(%{{.*}}) ({
  %1 = "stablehlo.case"(%n) ({
    stablehlo.return %x : tensor<?xf32>
  }, {
    %s = stablehlo.negate %x : tensor<?xf32>
    stablehlo.return %s : tensor<?xf32>
  }) : (tensor<i32>) -> tensor<?xf32>
  // CHECK: "stablehlo.if"(%{{.*}}) ({
  %2 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<?xf32>
  }, {
    stablehlo.return %1 : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  // CHECK: "stablehlo.map"(%{{.*}}) <{dimensions = array<i64: 0>}>
  %3 = "stablehlo.map"(%2) <{dimensions = array<i64: 0>}> ({
  ^bb0(%e: tensor<f32>):
    %s = stablehlo.negate %e : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK: %{{.*}}:2 = stablehlo.optimization_barrier %{{.*}}, %{{.*}} : tensor<?xf32>, tensor<i32>
  %4:2 = stablehlo.optimization_barrier %3, %n : tensor<?xf32>, tensor<i32>
  return %4#0 : tensor<?xf32>
}

// CHECK-LABEL: func @calls(
func.func @calls(%a: tensor<4xf32>) {
  // CHECK: stablehlo.custom_call @target(%{{.*}}) {api_version = 4 : i32, backend_config = {k = 1 : i32}} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<2xi32>)
  %0:2 = stablehlo.custom_call @target(%a) {api_version = 4 : i32, backend_config = {k = 1 : i32}} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<2xi32>)
  // CHECK: stablehlo.custom_call @"a b"() {backend_config = "{\22k\22: 1}", has_side_effect = true} : () -> ()
  stablehlo.custom_call @"a b"() {backend_config = "{\22k\22: 1}", has_side_effect = true} : () -> ()
  // CHECK: output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]
  %1 = stablehlo.custom_call @t(%a) {called_computations = [@body], operand_layouts = [dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.composite "my.op" %{{.*}} {composite_attributes = {k = 2 : i64}, decomposition = @body, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.composite "my.op" %a {composite_attributes = {k = 2 : i64}, decomposition = @body, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.tuple %{{.*}}, %{{.*}} : tuple<tensor<4xf32>, tensor<4xf32>>
  %3 = stablehlo.tuple %a, %1 : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  // CHECK: stablehlo.get_tuple_element %{{.*}}[1] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %4 = stablehlo.get_tuple_element %3[1] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  // CHECK: stablehlo.create_token : !stablehlo.token
  %5 = stablehlo.create_token : !stablehlo.token
  // CHECK: stablehlo.after_all %{{.*}}, %{{.*}} : !stablehlo.token
  %6 = stablehlo.after_all %5, %5 : !stablehlo.token
  return
}

func.func private @body(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// CHECK-LABEL: func @communication(
func.func @communication(%a: tensor<4x8xf32>) {
  // CHECK: stablehlo.partition_id : tensor<ui32>
  %0 = stablehlo.partition_id : tensor<ui32>
  // CHECK: stablehlo.replica_id : tensor<ui32>
  %1 = stablehlo.replica_id : tensor<ui32>
  // CHECK: "stablehlo.all_gather"(%{{.*}}) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[}}[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}>
  %2 = "stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  // CHECK: "stablehlo.all_reduce"(%{{.*}}) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>}>
  %3 = "stablehlo.all_reduce"(%a) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: "stablehlo.reduce_scatter"
  %4 = "stablehlo.reduce_scatter"(%a) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<2x8xf32>
  // CHECK: "stablehlo.all_to_all"
  %5 = "stablehlo.all_to_all"(%a) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, split_count = 4 : i64, split_dimension = 1 : i64}> : (tensor<4x8xf32>) -> tensor<16x2xf32>
  // CHECK: "stablehlo.collective_permute"(%{{.*}}) <{source_target_pairs = dense<{{\[}}[0, 1], [1, 2]]> : tensor<2x2xi64>}>
  %6 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: "stablehlo.collective_broadcast"
  %7 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}
