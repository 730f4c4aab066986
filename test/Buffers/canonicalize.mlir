// RUN: shard-opt %s --spmd-canonicalize | FileCheck %s
// MLIR's own pass makes one rounding of two.
// RUN: shard-opt %s --canonicalize | FileCheck %s --check-prefix=MLIR

// CHECK-LABEL: func.func @rounded_twice(
//       CHECK:   %[[WIDE:.*]] = arith.sitofp %arg0 : i32 to f32
//       CHECK:   %[[NARROW:.*]] = arith.truncf %[[WIDE]] : f32 to bf16
//       CHECK:   return %[[NARROW]]
//  MLIR-LABEL: func.func @rounded_twice(
//    MLIR-NOT:   arith.truncf
func.func @rounded_twice(%n: i32) -> bf16 {
  %wide = arith.sitofp %n : i32 to f32
  %narrow = arith.truncf %wide : f32 to bf16
  return %narrow : bf16
}

// CHECK-LABEL: func.func @nothing_moved(
//       CHECK:   return %arg0 : tensor<4x6xf32>
func.func @nothing_moved(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0 : index
  %four = arith.constant 4 : index
  %0 = tensor.collapse_shape %x [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [4, 6] : tensor<24xf32> into tensor<4x6xf32>
  %2 = scf.for %i = %zero to %four step %four iter_args(%y = %1) -> tensor<4x6xf32> {
    scf.yield %y : tensor<4x6xf32>
  }
  return %2 : tensor<4x6xf32>
}
