// RUN: shard-opt %s --spmd-results-to-arguments | FileCheck %s

// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[X:.*]]: tensor<4xf32> {bufferization.writable = false},
//  CHECK-SAME:   %[[OUT:.*]]: memref<4xf32>) {
//       CHECK:   bufferization.materialize_in_destination %[[X]] in restrict writable %[[OUT]]
//       CHECK:   return{{$}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
