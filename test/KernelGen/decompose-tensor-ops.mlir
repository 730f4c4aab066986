// RUN: shard-opt %s --spmd-decompose-tensor-ops | FileCheck %s

// CHECK-LABEL: func.func @pad(
//  CHECK-SAME:   %[[X:.*]]: tensor<4x4xf32>
//       CHECK:   %[[FILLED:.*]] = linalg.fill {{.*}} -> tensor<6x4xf32>
//       CHECK:   tensor.insert_slice %[[X]] into %[[FILLED]][1, 0] [4, 4] [1, 1]
func.func @pad(%x: tensor<4x4xf32>) -> tensor<6x4xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x4xf32> to tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// CHECK-LABEL: func.func @switch(
//   CHECK-NOT:   scf.index_switch
//       CHECK:   scf.if
//       CHECK:   else
//       CHECK:     scf.if
func.func @switch(%which: index, %x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %0 = scf.index_switch %which -> tensor<4xf32>
  case 0 {
    scf.yield %x : tensor<4xf32>
  }
  case 1 {
    scf.yield %y : tensor<4xf32>
  }
  default {
    scf.yield %z : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// Which of its dims of one element a slice or an insertion leaves out, MLIR does not find in a buffer of unknown strides.
// CHECK-LABEL: func.func @slice_in_full_rank(
//       CHECK:   %[[PART:.*]] = tensor.extract_slice {{.*}} : tensor<?x?x?xf32> to tensor<1x?x1xf32>
//       CHECK:   tensor.collapse_shape %[[PART]] {{\[}}[0], [1, 2]] : tensor<1x?x1xf32> into tensor<1x?xf32>
func.func @slice_in_full_rank(%x: tensor<?x?x?xf32>, %i: index, %j: index, %n: index) -> tensor<1x?xf32> {
  %0 = tensor.extract_slice %x[%i, 0, %j] [1, %n, 1] [1, 1, 1] : tensor<?x?x?xf32> to tensor<1x?xf32>
  return %0 : tensor<1x?xf32>
}

// CHECK-LABEL: func.func @insert_in_full_rank(
//  CHECK-SAME:   %[[PART:.*]]: tensor<1x?xf32>
//       CHECK:   %[[FULL:.*]] = tensor.expand_shape %[[PART]] {{\[}}[0], [1, 2]] output_shape [1, %{{.*}}, 1]
//       CHECK:   tensor.insert_slice %[[FULL]] into {{.*}} : tensor<1x?x1xf32> into tensor<?x?x?xf32>
func.func @insert_in_full_rank(%u: tensor<1x?xf32>, %x: tensor<?x?x?xf32>, %i: index, %j: index, %n: index) -> tensor<?x?x?xf32> {
  %0 = tensor.insert_slice %u into %x[%i, 0, %j] [1, %n, 1] [1, 1, 1] : tensor<1x?xf32> into tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

// A pad of nothing is its fill.
// CHECK-LABEL: func.func @pad_of_nothing(
//       CHECK:   %[[FILLED:.*]] = linalg.fill
//   CHECK-NOT:   tensor.insert_slice
//       CHECK:   return %[[FILLED]]
func.func @pad_of_nothing(%x: tensor<3x0xf32>) -> tensor<5x2xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[1, 2] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<3x0xf32> to tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}
