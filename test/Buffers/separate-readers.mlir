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
