// RUN: shard-opt %s --spmd-lower-to-linalg --split-input-file | FileCheck %s

// A broadcast operand is read through its map, a splat through a scalar.
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func @broadcasts_fold_into_maps(
//  CHECK-SAME:   %[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<4x8xf32>
//       CHECK:   linalg.generic {indexing_maps = [#[[ROW]],
//  CHECK-SAME:     ins(%[[A]], %[[B]]
//       CHECK:     arith.addf
//   CHECK-NOT:   linalg.generic {{.*}}ins(%[[A]] :
//       CHECK:   return
func.func @broadcasts_fold_into_maps(%a: tensor<8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  %2 = stablehlo.add %0, %b : tensor<4x8xf32>
  %3 = stablehlo.multiply %2, %1 : tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// Dims of size one are collapsed away, so that maps stay projections.
// CHECK-LABEL: func @stretches_unit_dims(
//       CHECK:   tensor.collapse_shape %{{.*}} {{\[\[}}0, 1, 2]] : tensor<1x8x1xf32> into tensor<8xf32>
//       CHECK:   linalg.generic
func.func @stretches_unit_dims(%a: tensor<1x8x1xf32>, %b: tensor<4x8x6xf32>) -> tensor<4x8x6xf32> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 1, 2] : (tensor<1x8x1xf32>) -> tensor<4x8x6xf32>
  %1 = stablehlo.subtract %0, %b : tensor<4x8x6xf32>
  return %1 : tensor<4x8x6xf32>
}

// -----

// Sizes that are not static come from the operands.
// CHECK-LABEL: func @dynamic_sizes(
//  CHECK-SAME:   %[[A:.*]]: tensor<?x8xf32>
//       CHECK:   %[[N:.*]] = tensor.dim %[[A]]
//       CHECK:   tensor.empty(%[[N]]) : tensor<?x8xf32>
//       CHECK:   math.exp
func.func @dynamic_sizes(%a: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = stablehlo.exponential %a : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// Unsigned types are signless below; what they mean is in the ops chosen.
// CHECK-LABEL: func @unsigned(
//  CHECK-SAME:   tensor<4xi32>
//       CHECK:   arith.divui
//       CHECK:   arith.cmpi ult
//   CHECK-NOT:   ui32
func.func @unsigned(%a: tensor<4xui32>, %b: tensor<4xui32>) -> tensor<4xi1> {
  %0 = stablehlo.divide %a, %b : tensor<4xui32>
  %1 = stablehlo.compare LT, %0, %b, UNSIGNED : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
  return %1 : tensor<4xi1>
}

// -----

// A dot in any layout is one generic; a transposed operand costs a map.
// CHECK-DAG: #[[LHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d0, d1)>
// CHECK-DAG: #[[RHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-LABEL: func @dot_reads_transposed(
//   CHECK-NOT:   linalg.transpose
//       CHECK:   linalg.generic {indexing_maps = [#[[LHS]], #[[RHS]],
//  CHECK-SAME:     iterator_types = ["parallel", "parallel", "parallel", "reduction"]
//       CHECK:     arith.mulf
//       CHECK:     arith.addf
func.func @dot_reads_transposed(%a: tensor<16x2x5xf32>, %b: tensor<2x16x7xf32>) -> tensor<2x5x7xf32> {
  %0 = stablehlo.transpose %a, dims = [1, 2, 0] : (tensor<16x2x5xf32>) -> tensor<2x5x16xf32>
  %1 = stablehlo.dot_general %0, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1]
      : (tensor<2x5x16xf32>, tensor<2x16x7xf32>) -> tensor<2x5x7xf32>
  return %1 : tensor<2x5x7xf32>
}

// -----

// CHECK-LABEL: func @narrow_floats_accumulate_in_f32(
//       CHECK:   arith.extf
//       CHECK:   arith.addf {{.*}} : f32
//       CHECK:   arith.truncf
func.func @narrow_floats_accumulate_in_f32(%a: tensor<4x8xbf16>, %b: tensor<8x2xbf16>) -> tensor<4x2xbf16> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<4x8xbf16>, tensor<8x2xbf16>) -> tensor<4x2xbf16>
  return %0 : tensor<4x2xbf16>
}

// -----

// An outer product adds nothing up: upstream's fusion may repeat it.
// CHECK-LABEL: func @outer_product_is_elementwise(
//       CHECK:   arith.mulf
//   CHECK-NOT:   arith.addf
func.func @outer_product_is_elementwise(%a: tensor<4xf32>, %b: tensor<3xf32>) -> tensor<4x3xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [] x [] : (tensor<4xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// Stride and window dilation are in the map, padding is a pad.
// CHECK: affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 * 2 + d4, d2 * 2 + d5 * 3, d6)>
// CHECK-LABEL: func @convolution(
//       CHECK:   tensor.pad %{{.*}} low[0, 1, 2, 0] high[0, 1, 2, 0]
//       CHECK:   iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
func.func @convolution(%x: tensor<1x8x8x3xf32>, %w: tensor<3x3x3x4xf32>) -> tensor<1x4x3x4xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [2, 2], pad = [[1, 1], [2, 2]], rhs_dilate = [1, 3]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x4x3x4xf32>
  return %0 : tensor<1x4x3x4xf32>
}

// -----

// Groups are a dim of their own, by views.
// CHECK-LABEL: func @grouped_convolution(
//       CHECK:   tensor.expand_shape {{.*}} : tensor<1x6x8xf32> into tensor<1x2x3x8xf32>
//       CHECK:   tensor.expand_shape {{.*}} : tensor<4x3x3xf32> into tensor<2x2x3x3xf32>
//       CHECK:   linalg.generic
//       CHECK:   tensor.collapse_shape {{.*}} into tensor<1x4x6xf32>
func.func @grouped_convolution(%x: tensor<1x6x8xf32>, %w: tensor<4x3x3xf32>) -> tensor<1x4x6xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
      : (tensor<1x6x8xf32>, tensor<4x3x3xf32>) -> tensor<1x4x6xf32>
  return %0 : tensor<1x4x6xf32>
}

// A transposed convolution goes by phases: each meets the elements of the window that stand where the input has elements, and
// writes every second result. Of a window of three, phase 0 has two, phase 1 one.
// CHECK-LABEL: func.func @transposed_convolution(
//       CHECK:   %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0, 0] high[0, 0, 1]
//   CHECK-NOT:   tensor<1x4x1{{[5-9]}}xf32>
//       CHECK:   %[[ENDS:.*]] = tensor.extract_slice %{{.*}}[0, 0, 0] [6, 4, 2] [1, 1, 2]
//       CHECK:   %[[FIRST:.*]] = linalg.generic
//  CHECK-SAME:     ins(%{{.*}}, %[[ENDS]] : tensor<1x4x9xf32>, tensor<6x4x2xf32>) outs(%{{.*}} : tensor<1x6x8xf32>)
//       CHECK:   %[[ODD:.*]] = tensor.insert_slice %[[FIRST]] into %{{.*}}[0, 0, 1] [1, 6, 8] [1, 1, 2]
//       CHECK:   %[[MIDDLE:.*]] = tensor.extract_slice %{{.*}}[0, 0, 1] [6, 4, 1] [1, 1, 2]
//       CHECK:   %[[SECOND:.*]] = linalg.generic
//  CHECK-SAME:     outs(%{{.*}} : tensor<1x6x8xf32>)
//       CHECK:   tensor.insert_slice %[[SECOND]] into %[[ODD]][0, 0, 0] [1, 6, 8] [1, 1, 2]
func.func @transposed_convolution(%a: tensor<1x4x8xf32>, %b: tensor<6x4x3xf32>) -> tensor<1x6x16xf32> {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 2]], lhs_dilate = [2]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x16xf32>
  return %0 : tensor<1x6x16xf32>
}

// What a rank spreads apart from an element of its own, too: nothing is multiplied with what lies between.
// CHECK-LABEL: func.func @spread_by_ranks(
//   CHECK-NOT:   tensor<1x4x17xf32>
//       CHECK:   linalg.generic
//       CHECK:   tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 1] [1, 6, 7] [1, 1, 2]
//       CHECK:   tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 0] [1, 6, 8] [1, 1, 2]
func.func @spread_by_ranks(%a: tensor<1x4x8xf32>, %b: tensor<6x4x3xf32>) -> tensor<1x6x15xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = arith.constant 1 : index
  %size = arith.constant 17 : index
  %0 = local.dilate %a dim 2 by 2 first %one size %size fill %zero : tensor<1x4x8xf32>, tensor<f32> -> tensor<1x4x17xf32>
  %1 = stablehlo.convolution(%0, %b) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x17xf32>, tensor<6x4x3xf32>) -> tensor<1x6x15xf32>
  return %1 : tensor<1x6x15xf32>
}

// Channels by themselves have no dim for the one feature of a group: results are where they are wanted.
// CHECK-LABEL: func.func @each_channel_by_itself(
//       CHECK:   %[[SUM:.*]] = linalg.generic
//  CHECK-SAME:     outs(%{{.*}} : tensor<2x8x16xf32>)
//   CHECK-NOT:   tensor.collapse_shape
//       CHECK:   return %[[SUM]]
func.func @each_channel_by_itself(%a: tensor<2x10x16xf32>, %b: tensor<3x1x16xf32>) -> tensor<2x8x16xf32> {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<2x10x16xf32>, tensor<3x1x16xf32>) -> tensor<2x8x16xf32>
  return %0 : tensor<2x8x16xf32>
}

// Columns that are stacked as rows and turned are put where they belong at once.
// CHECK-LABEL: func @turned_stack(
//   CHECK-NOT:   tensor<2x9xf32>
//       CHECK:   tensor.insert_slice %{{.*}} into %{{.*}}[0, 0] [9, 1] [1, 1] : tensor<9x1xf32> into tensor<9x2xf32>
//       CHECK:   tensor.insert_slice %{{.*}} into %{{.*}}[0, 1] [9, 1] [1, 1] : tensor<9x1xf32> into tensor<9x2xf32>
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
func.func @turned_stack(%x: tensor<9xf32>, %y: tensor<9xf32>) -> tensor<9x2xf32> {
  %a = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<9xf32>) -> tensor<1x9xf32>
  %b = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<9xf32>) -> tensor<1x9xf32>
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1x9xf32>, tensor<1x9xf32>) -> tensor<2x9xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x9xf32>) -> tensor<9x2xf32>
  return %1 : tensor<9x2xf32>
}

// What is read as it is as well is put together once.
// CHECK-LABEL: func @stack_read_twice(
//       CHECK:   tensor.insert_slice {{.*}} into tensor<2x9xf32>
//       CHECK:   tensor.insert_slice {{.*}} into tensor<2x9xf32>
//   CHECK-NOT:   tensor.insert_slice
func.func @stack_read_twice(%x: tensor<1x9xf32>, %y: tensor<1x9xf32>) -> (tensor<2x9xf32>, tensor<9x2xf32>) {
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<1x9xf32>, tensor<1x9xf32>) -> tensor<2x9xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x9xf32>) -> tensor<9x2xf32>
  return %0, %1 : tensor<2x9xf32>, tensor<9x2xf32>
}
