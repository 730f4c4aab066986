// RUN: shard-opt %s --spmd-lower-to-linalg | FileCheck %s
// Index vectors that are concatenated of their components, as `x[i, j]` prints
// them, are read component by component: nothing reads the tensor that holds
// both.
// CHECK-LABEL: func.func @columns(
//  CHECK-SAME:     %[[X:.*]]: tensor<30x7xf32>, %[[I:.*]]: tensor<100xi32>, %[[J:.*]]: tensor<100x1xi32>)
//       CHECK:   %[[COLUMN:.*]] = tensor.extract_slice %[[J]][0, 0] [100, 1] [1, 1] : tensor<100x1xi32> to tensor<100xi32>
//       CHECK:   linalg.generic {{.*}} ins(%[[I]], %[[COLUMN]] : tensor<100xi32>, tensor<100xi32>)
//       CHECK:     tensor.extract %[[X]]
func.func @columns(%x: tensor<30x7xf32>, %i: tensor<100xi32>, %j: tensor<100x1xi32>) -> tensor<100xf32> {
  %0 = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<100xi32>) -> tensor<100x1xi32>
  %1 = stablehlo.concatenate %0, %j, dim = 1 : (tensor<100x1xi32>, tensor<100x1xi32>) -> tensor<100x2xi32>
  %2 = "stablehlo.gather"(%x, %1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<30x7xf32>, tensor<100x2xi32>) -> tensor<100xf32>
  return %2 : tensor<100xf32>
}

// Three components of two parts: the second and third are of the second one.
// CHECK-LABEL: func.func @wide(
//  CHECK-SAME:     %[[X:.*]]: tensor<3x4x5xf32>, %[[I:.*]]: tensor<10x1xi32>, %[[J:.*]]: tensor<10x2xi32>)
//   CHECK-DAG:   tensor.extract_slice %[[I]][0, 0] [10, 1]
//   CHECK-DAG:   tensor.extract_slice %[[J]][0, 0] [10, 1]
//   CHECK-DAG:   tensor.extract_slice %[[J]][0, 1] [10, 1]
func.func @wide(%x: tensor<3x4x5xf32>, %i: tensor<10x1xi32>, %j: tensor<10x2xi32>) -> tensor<10xf32> {
  %1 = stablehlo.concatenate %i, %j, dim = 1 : (tensor<10x1xi32>, tensor<10x2xi32>) -> tensor<10x3xi32>
  %2 = "stablehlo.gather"(%x, %1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1, 2], start_index_map = [0, 1, 2], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<3x4x5xf32>, tensor<10x3xi32>) -> tensor<10xf32>
  return %2 : tensor<10xf32>
}
