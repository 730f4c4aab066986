// RUN: shard-opt %s --spmd-separate-readers=many-readers=2 --split-input-file | FileCheck %s
// RUN: shard-opt %s --spmd-separate-readers --split-input-file | FileCheck %s --check-prefix=FEW
// FEW-NOT: bufferization.to_tensor

// Each reader has a tensor of its own, a view among them; an argument with one reader stays.
// CHECK-LABEL: func @two_readers(
//  CHECK-SAME:   %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>
//   CHECK-DAG:   %[[BUFFER:.*]] = bufferization.to_buffer %[[X]] read_only : tensor<4xf32> to memref<4xf32>
//   CHECK-DAG:   %[[FIRST:.*]] = bufferization.to_tensor %[[BUFFER]] restrict : memref<4xf32> to tensor<4xf32>
//       CHECK:   %[[SECOND:.*]] = bufferization.to_tensor %[[BUFFER]] restrict : memref<4xf32> to tensor<4xf32>
//       CHECK:   tensor.extract_slice %[[FIRST]][0] [2] [1]
//       CHECK:   linalg.sub ins(%[[SECOND]], %[[Y]] :
func.func @two_readers(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<2xf32>, tensor<4xf32>) {
  %half = tensor.empty() : tensor<2xf32>
  %whole = tensor.empty() : tensor<4xf32>
  %slice = tensor.extract_slice %x[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %0 = linalg.exp ins(%slice : tensor<2xf32>) outs(%half : tensor<2xf32>) -> tensor<2xf32>
  %1 = linalg.sub ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%whole : tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<2xf32>, tensor<4xf32>
}

// -----

// One use writes, through a view: whether its buffer is read later is what bufferization has to find out.
// CHECK-LABEL: func @written(
//   CHECK-NOT:   bufferization
//       CHECK:   return
func.func @written(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>) {
  %empty = tensor.empty() : tensor<4xf32>
  %slice = tensor.extract_slice %x[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %2 = linalg.exp ins(%slice : tensor<2xf32>) outs(%slice : tensor<2xf32>) -> tensor<2xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.negf ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<2xf32>
}

// -----

// Handed on: what happens to a result of the function is not seen here.
// CHECK-LABEL: func @returned(
//   CHECK-NOT:   bufferization
//       CHECK:   return
func.func @returned(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %empty = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.negf ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// The result of an op is built in memory of its own, on top of what it begins with, and each reader has a tensor that shows it.
// CHECK-LABEL: func @result(
//       CHECK:   %[[MEMORY:.*]] = memref.alloc(%[[N:.*]]) : memref<?xf32>
//       CHECK:   %[[OWN:.*]] = tensor.empty(%[[N]])
//       CHECK:   %[[FILLED:.*]] = linalg.fill ins(%{{.*}}) outs(%[[OWN]]
//       CHECK:   %[[MADE:.*]] = linalg.add ins(%{{.*}}) outs(%[[FILLED]]
//  CHECK-NEXT:   bufferization.materialize_in_destination %[[MADE]] in restrict writable %[[MEMORY]]
//  CHECK-NEXT:   %[[FIRST:.*]] = bufferization.to_tensor %[[MEMORY]] restrict :
//  CHECK-NEXT:   %[[SECOND:.*]] = bufferization.to_tensor %[[MEMORY]] restrict :
//       CHECK:   linalg.exp ins(%[[FIRST]]
//       CHECK:   linalg.negf ins(%[[SECOND]]
func.func @result(%x: tensor<?xf32>, %n: index, %zero: f32) -> (tensor<?xf32>, tensor<?xf32>) {
  %empty = tensor.empty(%n) : tensor<?xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %made = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%filled : tensor<?xf32>) -> tensor<?xf32>
  %0 = linalg.exp ins(%made : tensor<?xf32>) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %1 = linalg.negf ins(%made : tensor<?xf32>) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// -----

// It may be built within another tensor.
// CHECK-LABEL: func @part(
//   CHECK-NOT:   bufferization
//       CHECK:   return
func.func @part(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %empty = tensor.empty() : tensor<4xf32>
  %whole = tensor.empty() : tensor<8xf32>
  %made = linalg.exp ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %0 = linalg.negf ins(%made : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %1 = tensor.insert_slice %made into %whole[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %0, %1 : tensor<4xf32>, tensor<8xf32>
}

// -----

// Of an argument that may not be written, those that read have tensors of their own, whatever others do.
// CHECK-LABEL: func @read_only(
//  CHECK-SAME:   %[[X:.*]]: tensor<4xf32> {bufferization.writable = false}
//       CHECK:   %[[BUFFER:.*]] = bufferization.to_buffer %[[X]] read_only
//       CHECK:   %[[FIRST:.*]] = bufferization.to_tensor %[[BUFFER]] restrict
//       CHECK:   %[[SECOND:.*]] = bufferization.to_tensor %[[BUFFER]] restrict
//       CHECK:   scf.yield %[[X]]
//       CHECK:   linalg.exp ins(%[[FIRST]]
//       CHECK:   linalg.negf ins(%[[SECOND]]
func.func @read_only(%x: tensor<4xf32> {bufferization.writable = false}, %c: i1) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %empty = tensor.empty() : tensor<4xf32>
  %0 = scf.if %c -> tensor<4xf32> {
    scf.yield %x : tensor<4xf32>
  } else {
    scf.yield %empty : tensor<4xf32>
  }
  %1 = linalg.exp ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %2 = linalg.negf ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
