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

// CHECK-LABEL: func.func @reflectors(
//       CHECK:   %[[QR:.*]]:2 = kernel.qr ins(%{{.*}} : tensor<8x64x32xf32>) outs(%{{.*}}, %{{.*}} : tensor<8x64x32xf32>, tensor<8x32xf32>) -> tensor<8x64x32xf32>, tensor<8x32xf32>
//       CHECK:   kernel.householder_product ins(%[[QR]]#0, %[[QR]]#1 : tensor<8x64x32xf32>, tensor<8x32xf32>) outs(%{{.*}} : tensor<8x64x32xf32>) -> tensor<8x64x32xf32>
func.func @reflectors(%a: tensor<8x64x32xf32>, %t: tensor<8x32xf32>) -> tensor<8x64x32xf32> {
  %packed, %taus = kernel.qr ins(%a : tensor<8x64x32xf32>) outs(%a, %t : tensor<8x64x32xf32>, tensor<8x32xf32>) -> tensor<8x64x32xf32>, tensor<8x32xf32>
  %q = kernel.householder_product ins(%packed, %taus : tensor<8x64x32xf32>, tensor<8x32xf32>) outs(%a : tensor<8x64x32xf32>) -> tensor<8x64x32xf32>
  return %q : tensor<8x64x32xf32>
}

// CHECK-LABEL: func.func @form(
//       CHECK:   kernel.hessenberg ins(%{{.*}} : memref<?x7x7xcomplex<f64>>) outs(%{{.*}}, %{{.*}} : memref<?x7x7xcomplex<f64>>, memref<?x6xcomplex<f64>>)
func.func @form(%a: memref<?x7x7xcomplex<f64>>, %h: memref<?x7x7xcomplex<f64>>, %t: memref<?x6xcomplex<f64>>) {
  kernel.hessenberg ins(%a : memref<?x7x7xcomplex<f64>>) outs(%h, %t : memref<?x7x7xcomplex<f64>>, memref<?x6xcomplex<f64>>)
  return
}
