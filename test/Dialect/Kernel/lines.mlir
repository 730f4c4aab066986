// RUN: shard-opt %s | shard-opt | FileCheck %s
// RUN: shard-opt %s --mlir-print-op-generic | shard-opt | FileCheck %s

// CHECK-LABEL: func.func @select(
//       CHECK:   kernel.lines sort dim 1 positions ins(%{{.*}} : tensor<8x100xf32>) outs(%{{.*}}, %{{.*}} : tensor<8x5xf32>, tensor<8x5xi32>) body {
//       CHECK:   ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
//       CHECK:     kernel.yield %{{.*}} : i1
//       CHECK:   } -> tensor<8x5xf32>, tensor<8x5xi32>
func.func @select(%x: tensor<8x100xf32>, %v: tensor<8x5xf32>, %p: tensor<8x5xi32>) -> (tensor<8x5xf32>, tensor<8x5xi32>) {
  %values, %places = kernel.lines sort dim 1 positions ins(%x : tensor<8x100xf32>) outs(%v, %p : tensor<8x5xf32>, tensor<8x5xi32>) body {
  ^bb0(%a: f32, %b: f32):
    %before = arith.cmpf ogt, %a, %b : f32
    kernel.yield %before : i1
  } -> tensor<8x5xf32>, tensor<8x5xi32>
  return %values, %places : tensor<8x5xf32>, tensor<8x5xi32>
}

// CHECK-LABEL: func.func @scan(
//       CHECK:   kernel.lines scan dim 0 backward ins(%{{.*}} : memref<?x4xf32>) starts(%{{.*}} : f32) outs(%{{.*}} : memref<?x4xf32>) body {
func.func @scan(%x: memref<?x4xf32>, %y: memref<?x4xf32>, %zero: f32) {
  kernel.lines scan dim 0 backward ins(%x : memref<?x4xf32>) starts(%zero : f32) outs(%y : memref<?x4xf32>) body {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    kernel.yield %sum : f32
  }
  return
}

// CHECK-LABEL: func.func @fourier(
//       CHECK:   kernel.lines fourier dim 1 ins(%{{.*}} : tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) outs(
func.func @fourier(%x: tensor<?x8xf32>, %t: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %re, %im = kernel.lines fourier dim 1 ins(%x, %x, %t, %t : tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>)
      outs(%x, %x : tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>, tensor<?x8xf32>
  return %re, %im : tensor<?x8xf32>, tensor<?x8xf32>
}
