// RUN: shard-opt %s --spmd-lower-to-linalg --split-input-file | FileCheck %s

// Roots of complex<f32> are plain f64: two square roots of one number each, and a quotient, or two.
// CHECK-LABEL: func.func @root_f32
//       CHECK:   math.sqrt {{.*}} : f64
//       CHECK:   math.sqrt {{.*}} : f64
//       CHECK:   arith.divf {{.*}} : f64
//   CHECK-NOT:   math.sqrt
//   CHECK-NOT:   arith.divf
//       CHECK:   return
func.func @root_f32(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  %0 = stablehlo.sqrt %x : tensor<8xcomplex<f32>>
  return %0 : tensor<8xcomplex<f32>>
}

// -----

// CHECK-LABEL: func.func @reciprocal_f32
//       CHECK:   math.sqrt {{.*}} : f64
//       CHECK:   math.sqrt {{.*}} : f64
// CHECK-COUNT-2: arith.divf {{.*}} : f64
//   CHECK-NOT:   math.sqrt
//   CHECK-NOT:   arith.divf
//       CHECK:   return
func.func @reciprocal_f32(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  %0 = stablehlo.rsqrt %x : tensor<8xcomplex<f32>>
  return %0 : tensor<8xcomplex<f32>>
}

// -----

// Those of complex<f64> are pairs: each part is right to its last digits where the other one is large. Roots and
// quotients of pairs take a quotient and more each.
// CHECK-LABEL: func.func @root_f64
// CHECK-COUNT-3: arith.divf {{.*}} : f64
//       CHECK:   return
func.func @root_f64(%x: tensor<8xcomplex<f64>>) -> tensor<8xcomplex<f64>> {
  %0 = stablehlo.sqrt %x : tensor<8xcomplex<f64>>
  return %0 : tensor<8xcomplex<f64>>
}
