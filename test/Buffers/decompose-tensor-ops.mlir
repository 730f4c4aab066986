// RUN: shard-opt %s --spmd-decompose-tensor-ops=many-parts=16 | FileCheck %s

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

// Many parts side by side go into memory of their own, each into its place,
// where it may also be built; but not a part that is read elsewhere.
// CHECK-LABEL: func.func @many_parts(
//   CHECK-NOT:   tensor.insert_slice
//       CHECK:   %[[MEMORY:.*]] = memref.alloc() : memref<32xf32>
//       CHECK:   %[[PLACE:.*]] = memref.subview %[[MEMORY]][0] [2] [1]
//       CHECK:   %[[NEXT:.*]] = memref.subview %[[MEMORY]][2] [2] [1]
//       CHECK:   bufferization.materialize_in_destination %{{.*}} in writable %[[PLACE]]
//       CHECK:   bufferization.materialize_in_destination %{{.*}} in restrict writable %[[NEXT]]
//       CHECK:   %[[JOINED:.*]] = bufferization.to_tensor %[[MEMORY]] restrict writable
//       CHECK:   return %{{.*}}, %[[JOINED]]
func.func @many_parts(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<32xf32>) {
  %into = tensor.empty() : tensor<32xf32>
  %e0 = tensor.empty() : tensor<2xf32>
  %p0 = linalg.exp ins(%x : tensor<2xf32>) outs(%e0 : tensor<2xf32>) -> tensor<2xf32>
  %j0 = tensor.insert_slice %p0 into %into[0] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %e1 = tensor.empty() : tensor<2xf32>
  %p1 = linalg.exp ins(%x : tensor<2xf32>) outs(%e1 : tensor<2xf32>) -> tensor<2xf32>
  %j1 = tensor.insert_slice %p1 into %j0[2] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %e2 = tensor.empty() : tensor<2xf32>
  %p2 = linalg.exp ins(%x : tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
  %j2 = tensor.insert_slice %p2 into %j1[4] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %e3 = tensor.empty() : tensor<2xf32>
  %p3 = linalg.exp ins(%x : tensor<2xf32>) outs(%e3 : tensor<2xf32>) -> tensor<2xf32>
  %j3 = tensor.insert_slice %p3 into %j2[6] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %e4 = tensor.empty() : tensor<2xf32>
  %p4 = linalg.exp ins(%x : tensor<2xf32>) outs(%e4 : tensor<2xf32>) -> tensor<2xf32>
  %j4 = tensor.insert_slice %p4 into %j3[8] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %e5 = tensor.empty() : tensor<2xf32>
  %p5 = linalg.exp ins(%x : tensor<2xf32>) outs(%e5 : tensor<2xf32>) -> tensor<2xf32>
  %j5 = tensor.insert_slice %p5 into %j4[10] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %e6 = tensor.empty() : tensor<2xf32>
  %p6 = linalg.exp ins(%x : tensor<2xf32>) outs(%e6 : tensor<2xf32>) -> tensor<2xf32>
  %j6 = tensor.insert_slice %p6 into %j5[12] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %e7 = tensor.empty() : tensor<2xf32>
  %p7 = linalg.exp ins(%x : tensor<2xf32>) outs(%e7 : tensor<2xf32>) -> tensor<2xf32>
  %j7 = tensor.insert_slice %p7 into %j6[14] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %e8 = tensor.empty() : tensor<2xf32>
  %p8 = linalg.exp ins(%x : tensor<2xf32>) outs(%e8 : tensor<2xf32>) -> tensor<2xf32>
  %j8 = tensor.insert_slice %p8 into %j7[16] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %e9 = tensor.empty() : tensor<2xf32>
  %p9 = linalg.exp ins(%x : tensor<2xf32>) outs(%e9 : tensor<2xf32>) -> tensor<2xf32>
  %j9 = tensor.insert_slice %p9 into %j8[18] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %e10 = tensor.empty() : tensor<2xf32>
  %p10 = linalg.exp ins(%x : tensor<2xf32>) outs(%e10 : tensor<2xf32>) -> tensor<2xf32>
  %j10 = tensor.insert_slice %p10 into %j9[20] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %e11 = tensor.empty() : tensor<2xf32>
  %p11 = linalg.exp ins(%x : tensor<2xf32>) outs(%e11 : tensor<2xf32>) -> tensor<2xf32>
  %j11 = tensor.insert_slice %p11 into %j10[22] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %e12 = tensor.empty() : tensor<2xf32>
  %p12 = linalg.exp ins(%x : tensor<2xf32>) outs(%e12 : tensor<2xf32>) -> tensor<2xf32>
  %j12 = tensor.insert_slice %p12 into %j11[24] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %e13 = tensor.empty() : tensor<2xf32>
  %p13 = linalg.exp ins(%x : tensor<2xf32>) outs(%e13 : tensor<2xf32>) -> tensor<2xf32>
  %j13 = tensor.insert_slice %p13 into %j12[26] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %e14 = tensor.empty() : tensor<2xf32>
  %p14 = linalg.exp ins(%x : tensor<2xf32>) outs(%e14 : tensor<2xf32>) -> tensor<2xf32>
  %j14 = tensor.insert_slice %p14 into %j13[28] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %e15 = tensor.empty() : tensor<2xf32>
  %p15 = linalg.exp ins(%x : tensor<2xf32>) outs(%e15 : tensor<2xf32>) -> tensor<2xf32>
  %j15 = tensor.insert_slice %p15 into %j14[30] [2] [1] : tensor<2xf32> into tensor<32xf32>
  return %p0, %j15 : tensor<2xf32>, tensor<32xf32>
}

// What is laid over another's place is laid there in order.
// CHECK-LABEL: func.func @parts_over_parts(
// CHECK-COUNT-16: tensor.insert_slice
func.func @parts_over_parts(%x: tensor<2xf32>) -> tensor<32xf32> {
  %into = tensor.empty() : tensor<32xf32>
  %j0 = tensor.insert_slice %x into %into[0] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %j1 = tensor.insert_slice %x into %j0[1] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %j2 = tensor.insert_slice %x into %j1[2] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %j3 = tensor.insert_slice %x into %j2[3] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %j4 = tensor.insert_slice %x into %j3[4] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %j5 = tensor.insert_slice %x into %j4[5] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %j6 = tensor.insert_slice %x into %j5[6] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %j7 = tensor.insert_slice %x into %j6[7] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %j8 = tensor.insert_slice %x into %j7[8] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %j9 = tensor.insert_slice %x into %j8[9] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %j10 = tensor.insert_slice %x into %j9[10] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %j11 = tensor.insert_slice %x into %j10[11] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %j12 = tensor.insert_slice %x into %j11[12] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %j13 = tensor.insert_slice %x into %j12[13] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %j14 = tensor.insert_slice %x into %j13[14] [2] [1] : tensor<2xf32> into tensor<32xf32>
  %j15 = tensor.insert_slice %x into %j14[15] [2] [1] : tensor<2xf32> into tensor<32xf32>
  return %j15 : tensor<32xf32>
}
