// RUN: shard-opt %s --spmd-separate-readers=many-readers=8 --split-input-file | FileCheck %s
// RUN: shard-opt %s --spmd-separate-readers --split-input-file | FileCheck %s --check-prefix=SHORT
// SHORT-NOT: bufferization.to_tensor

// With at most 8 reads and writes to compare, a part has two updates: then the table is left in memory, and what reads it before goes on reading the tensor.
// CHECK-LABEL: func @updates(
//  CHECK-SAME:   %[[X:.*]]: tensor<8xf32>, %[[Y:.*]]: tensor<1xf32>
//       CHECK:   %[[MEMORY:.*]] = memref.alloc() : memref<8xf32>
//       CHECK:   bufferization.materialize_in_destination %[[X]] in writable %[[MEMORY]]
//       CHECK:   %[[FIRST:.*]] = bufferization.to_tensor %[[MEMORY]] restrict writable
//       CHECK:   %[[A:.*]] = tensor.insert_slice %[[Y]] into %[[FIRST]][0]
//       CHECK:   tensor.extract %[[A]]
//       CHECK:   %[[B:.*]] = tensor.insert_slice %[[Y]] into %[[A]][1]
//       CHECK:   bufferization.materialize_in_destination %[[B]] in writable %[[MEMORY]]
//       CHECK:   %[[SECOND:.*]] = bufferization.to_tensor %[[MEMORY]] restrict writable
//       CHECK:   %[[C:.*]] = tensor.insert_slice %[[Y]] into %[[SECOND]][2]
//       CHECK:   %[[D:.*]] = tensor.insert_slice %[[Y]] into %[[C]][3]
//       CHECK:   bufferization.materialize_in_destination %[[D]] in writable %[[MEMORY]]
//       CHECK:   %[[THIRD:.*]] = bufferization.to_tensor %[[MEMORY]] restrict writable
//       CHECK:   %[[E:.*]] = tensor.insert_slice %[[Y]] into %[[THIRD]][4]
//       CHECK:   return %[[E]],
func.func @updates(%x: tensor<8xf32>, %y: tensor<1xf32>) -> (tensor<8xf32>, f32) {
  %c0 = arith.constant 0 : index
  %0 = tensor.insert_slice %y into %x[0] [1] [1] : tensor<1xf32> into tensor<8xf32>
  %read = tensor.extract %0[%c0] : tensor<8xf32>
  %1 = tensor.insert_slice %y into %0[1] [1] [1] : tensor<1xf32> into tensor<8xf32>
  %2 = tensor.insert_slice %y into %1[2] [1] [1] : tensor<1xf32> into tensor<8xf32>
  %3 = tensor.insert_slice %y into %2[3] [1] [1] : tensor<1xf32> into tensor<8xf32>
  %4 = tensor.insert_slice %y into %3[4] [1] [1] : tensor<1xf32> into tensor<8xf32>
  return %4, %read : tensor<8xf32>, f32
}

// -----

// A view of the second tensor is read at the end: memory would hold a later one by then. What is read of the fourth is read in time.
// CHECK-LABEL: func @read_later(
//       CHECK:   %[[B:.*]] = tensor.insert_slice %{{.*}} into %{{[a-z_0-9]*}}[1]
//   CHECK-NOT:   bufferization
//       CHECK:   tensor.insert_slice %{{.*}} into %[[B]][2]
//       CHECK:   tensor.insert_slice %{{.*}} into %{{[a-z_0-9]*}}[3]
//   CHECK-NOT:   bufferization
//       CHECK:   %[[LATE:.*]] = tensor.extract
//       CHECK:   bufferization.materialize_in_destination
//       CHECK:   tensor.insert_slice %{{.*}} into %{{[a-z_0-9]*}}[4]
func.func @read_later(%x: tensor<8xf32>, %y: tensor<1xf32>) -> (tensor<8xf32>, f32) {
  %c0 = arith.constant 0 : index
  %0 = tensor.insert_slice %y into %x[0] [1] [1] : tensor<1xf32> into tensor<8xf32>
  %1 = tensor.insert_slice %y into %0[1] [1] [1] : tensor<1xf32> into tensor<8xf32>
  %view = tensor.extract_slice %1[0] [2] [1] : tensor<8xf32> to tensor<2xf32>
  %2 = tensor.insert_slice %y into %1[2] [1] [1] : tensor<1xf32> into tensor<8xf32>
  %3 = tensor.insert_slice %y into %2[3] [1] [1] : tensor<1xf32> into tensor<8xf32>
  %late = tensor.extract %view[%c0] : tensor<2xf32>
  %4 = tensor.insert_slice %y into %3[4] [1] [1] : tensor<1xf32> into tensor<8xf32>
  return %4, %late : tensor<8xf32>, f32
}

// -----

// What is built from nothing is built in the memory.
// CHECK-LABEL: func @from_nothing(
//       CHECK:   %[[MEMORY:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
//       CHECK:   %[[FIRST:.*]] = bufferization.to_tensor %[[MEMORY]] restrict writable
//       CHECK:   linalg.fill ins(%{{.*}}) outs(%[[FIRST]]
func.func @from_nothing(%n: index, %y: f32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %empty = tensor.empty(%n) : tensor<?xf32>
  %0 = linalg.fill ins(%y : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %1 = tensor.insert %y into %0[%c0] : tensor<?xf32>
  %2 = tensor.insert %y into %1[%c0] : tensor<?xf32>
  %3 = tensor.insert %y into %2[%c0] : tensor<?xf32>
  %4 = tensor.insert %y into %3[%c0] : tensor<?xf32>
  return %4 : tensor<?xf32>
}

// -----

// Parts of an output may be built in it, so they stay in one chain.
// CHECK-LABEL: func @parts(
//   CHECK-NOT:   bufferization
//       CHECK:   return
func.func @parts(%y: tensor<1xf32>) -> tensor<5xf32> {
  %empty = tensor.empty() : tensor<5xf32>
  %0 = tensor.insert_slice %y into %empty[0] [1] [1] : tensor<1xf32> into tensor<5xf32>
  %1 = tensor.insert_slice %y into %0[1] [1] [1] : tensor<1xf32> into tensor<5xf32>
  %2 = tensor.insert_slice %y into %1[2] [1] [1] : tensor<1xf32> into tensor<5xf32>
  %3 = tensor.insert_slice %y into %2[3] [1] [1] : tensor<1xf32> into tensor<5xf32>
  %4 = tensor.insert_slice %y into %3[4] [1] [1] : tensor<1xf32> into tensor<5xf32>
  return %4 : tensor<5xf32>
}

// -----

// A loop's own tensor keeps the buffer that each iteration updates.
// CHECK-LABEL: func @carried(
//   CHECK-NOT:   bufferization
//       CHECK:   return
func.func @carried(%x: tensor<8xf32>, %y: f32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %x) -> tensor<8xf32> {
    %0 = tensor.insert %y into %a[%i] : tensor<8xf32>
    %1 = tensor.insert %y into %0[%c0] : tensor<8xf32>
    %2 = tensor.insert %y into %1[%c0] : tensor<8xf32>
    %3 = tensor.insert %y into %2[%c0] : tensor<8xf32>
    %4 = tensor.insert %y into %3[%c0] : tensor<8xf32>
    scf.yield %4 : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// Of three conditionals within one another the innermost has memory of its own.
// CHECK-LABEL: func @conditionals(
//       CHECK:   scf.if
//       CHECK:     scf.if
//       CHECK:       %[[INNER:.*]] = scf.if
//       CHECK:       %[[MEMORY:.*]] = memref.alloc() : memref<8xf32>
//       CHECK:       bufferization.materialize_in_destination %[[INNER]] in writable %[[MEMORY]]
//       CHECK:       %[[OWN:.*]] = bufferization.to_tensor %[[MEMORY]] restrict writable
//       CHECK:       scf.yield %[[OWN]]
//   CHECK-NOT:   bufferization
func.func @conditionals(%x: tensor<8xf32>, %y: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  %0 = scf.if %c -> tensor<8xf32> {
    %1 = scf.if %c -> tensor<8xf32> {
      %2 = scf.if %c -> tensor<8xf32> {
        scf.yield %x : tensor<8xf32>
      } else {
        scf.yield %y : tensor<8xf32>
      }
      scf.yield %2 : tensor<8xf32>
    } else {
      scf.yield %y : tensor<8xf32>
    }
    scf.yield %1 : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
