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
