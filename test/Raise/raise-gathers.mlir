// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(spmd-raise-gathers),canonicalize)' | FileCheck %s
// Gathers by indices that are known are slices, reverses and repetitions.

// CHECK-LABEL: func.func @every_second(
//       CHECK:   %[[S:.*]] = stablehlo.slice %arg0 [0:4, 1:6:2]
//       CHECK:   return %[[S]]
func.func @every_second(%x: tensor<4x8xf32>) -> tensor<4x3xf32> {
  %i = stablehlo.constant dense<[[1], [3], [5]]> : tensor<3x1xi32>
  %y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 4, 1>}> : (tensor<4x8xf32>, tensor<3x1xi32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// Backwards, each twice.
// CHECK-LABEL: func.func @backwards(
//       CHECK:   %[[S:.*]] = stablehlo.slice %arg0 [1:8:3, 0:2]
//       CHECK:   %[[R:.*]] = stablehlo.reverse %[[S]], dims = [0]
//       CHECK:   %[[B:.*]] = stablehlo.broadcast_in_dim %[[R]], dims = [0, 2] : (tensor<3x2xf32>) -> tensor<3x2x2xf32>
//       CHECK:   stablehlo.reshape %[[B]] : (tensor<3x2x2xf32>) -> tensor<6x2xf32>
func.func @backwards(%x: tensor<8x2xf32>) -> tensor<6x2xf32> {
  %i = stablehlo.constant dense<[7, 7, 4, 4, 1, 1]> : tensor<6xi32>
  %y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<8x2xf32>, tensor<6xi32>) -> tensor<6x2xf32>
  return %y : tensor<6x2xf32>
}

// -----

// Of resizing by the nearest element, indices follow from an iota.
// CHECK-LABEL: func.func @nearest(
//       CHECK:   %[[B:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 3] : (tensor<2x3x5xf32>) -> tensor<2x3x4x5xf32>
//       CHECK:   stablehlo.reshape %[[B]]
//   CHECK-NOT:   gather
func.func @nearest(%x: tensor<2x3x5xf32>) -> tensor<2x12x5xf32> {
  %iota = stablehlo.iota dim = 0 : tensor<12xf32>
  %half = stablehlo.constant dense<0.5> : tensor<12xf32>
  %to = stablehlo.constant dense<12.0> : tensor<12xf32>
  %from = stablehlo.constant dense<3.0> : tensor<12xf32>
  %middle = stablehlo.add %iota, %half : tensor<12xf32>
  %scaled = stablehlo.multiply %middle, %from : tensor<12xf32>
  %place = stablehlo.divide %scaled, %to : tensor<12xf32>
  %floor = stablehlo.floor %place : tensor<12xf32>
  %i = stablehlo.convert %floor : (tensor<12xf32>) -> tensor<12xi32>
  %y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 1, 5>}> : (tensor<2x3x5xf32>, tensor<12xi32>) -> tensor<2x12x5xf32>
  return %y : tensor<2x12x5xf32>
}

// -----

// Indices outside of the dim are its first and last: here 0, 1, 2.
// CHECK-LABEL: func.func @outside(
//   CHECK-NOT:   gather
//       CHECK:   return %arg0
func.func @outside(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %i = stablehlo.constant dense<[-4, 1, 7]> : tensor<3xi32>
  %y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<3x2xf32>, tensor<3xi32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// -----

// What stays: another order, one that is repeated less often, pairs of rows, and dims that change places.
// CHECK-LABEL: func.func @stays(
// CHECK-COUNT-4: "stablehlo.gather"
// CHECK: return
func.func @stays(%x: tensor<5x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x2x2xf32>, tensor<2x3xf32>) {
  %i = stablehlo.constant dense<[0, 2, 3]> : tensor<3xi32>
  %j = stablehlo.constant dense<[0, 0, 1]> : tensor<3xi32>
  %k = stablehlo.constant dense<[0, 2]> : tensor<2xi32>
  %l = stablehlo.constant dense<[0, 1, 2]> : tensor<3xi32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<5x2xf32>, tensor<3xi32>) -> tensor<3x2xf32>
  %1 = "stablehlo.gather"(%x, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<5x2xf32>, tensor<3xi32>) -> tensor<3x2xf32>
  %2 = "stablehlo.gather"(%x, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 2>}> : (tensor<5x2xf32>, tensor<2xi32>) -> tensor<2x2x2xf32>
  %3 = "stablehlo.gather"(%x, %l) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<5x2xf32>, tensor<3xi32>) -> tensor<2x3xf32>
  return %0, %1, %2, %3 : tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x2x2xf32>, tensor<2x3xf32>
}

// -----

// Nor what an argument says.
// CHECK-LABEL: func.func @unknown(
// CHECK: "stablehlo.gather"
func.func @unknown(%x: tensor<5x2xf32>, %i: tensor<3xi32>) -> tensor<3x2xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<5x2xf32>, tensor<3xi32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
