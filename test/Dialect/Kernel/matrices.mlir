// RUN: shard-opt %s | shard-opt | FileCheck %s
// RUN: shard-opt %s --mlir-print-op-generic | shard-opt | FileCheck %s

// CHECK-LABEL: func.func @both(
//       CHECK:   kernel.eigh ins(%{{.*}} : tensor<8x64x64xf32>) outs(%{{.*}}, %{{.*}} : tensor<8x64xf32>, tensor<8x64x64xf32>) -> tensor<8x64xf32>, tensor<8x64x64xf32>
func.func @both(%a: tensor<8x64x64xf32>, %w: tensor<8x64xf32>, %v: tensor<8x64x64xf32>) -> (tensor<8x64xf32>, tensor<8x64x64xf32>) {
  %values, %vectors = kernel.eigh ins(%a : tensor<8x64x64xf32>) outs(%w, %v : tensor<8x64xf32>, tensor<8x64x64xf32>) -> tensor<8x64xf32>, tensor<8x64x64xf32>
  return %values, %vectors : tensor<8x64xf32>, tensor<8x64x64xf32>
}

// CHECK-LABEL: func.func @singular(
//       CHECK:   kernel.svd fixed_level ins(%{{.*}} : tensor<8x64x32xf32>) outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<8x32xf32>, tensor<8x64x32xf32>, tensor<8x32x32xf32>) -> tensor<8x32xf32>, tensor<8x64x32xf32>, tensor<8x32x32xf32>
func.func @singular(%a: tensor<8x64x32xf32>, %s: tensor<8x32xf32>, %w: tensor<8x64x32xf32>, %v: tensor<8x32x32xf32>) -> tensor<8x32xf32> {
  %values, %left, %right = kernel.svd fixed_level ins(%a : tensor<8x64x32xf32>) outs(%s, %w, %v : tensor<8x32xf32>, tensor<8x64x32xf32>, tensor<8x32x32xf32>) -> tensor<8x32xf32>, tensor<8x64x32xf32>, tensor<8x32x32xf32>
  return %values : tensor<8x32xf32>
}

// CHECK-LABEL: func.func @values(
//       CHECK:   kernel.eigh upper fixed_level ins(%{{.*}} : memref<?x7x7xcomplex<f64>>) outs(%{{.*}} : memref<?x7xf64>)
func.func @values(%a: memref<?x7x7xcomplex<f64>>, %w: memref<?x7xf64>) {
  kernel.eigh upper fixed_level ins(%a : memref<?x7x7xcomplex<f64>>) outs(%w : memref<?x7xf64>)
  return
}
