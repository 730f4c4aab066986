// RUN: shard-opt %s --spmd-lower-to-linalg | FileCheck %s
// RUN: shard-opt %s --spmd-lower-to-linalg=many-threads | FileCheck %s --check-prefix=DEVICE
// From 16 rows and columns on, and of tall matrices that take as many multiplications, the runtime makes and multiplies reflectors, for Hessenberg's form from 48; there is none on devices.
// DEVICE-NOT: kernel.

// CHECK-LABEL: func.func @tall(
//  CHECK-SAME:   %[[A:[a-z0-9]*]]: tensor<5x40x16xf64>)
//   CHECK-NOT:   scf.for
//       CHECK:   %[[QR:.*]]:2 = kernel.qr ins(%[[A]] : tensor<5x40x16xf64>) outs(%{{.*}}, %{{.*}} : tensor<5x40x16xf64>, tensor<5x16xf64>)
//       CHECK:   kernel.householder_product ins(%[[QR]]#0, %[[QR]]#1 : tensor<5x40x16xf64>, tensor<5x16xf64>) outs(%{{.*}} : tensor<5x40x16xf64>)
func.func @tall(%a: tensor<5x40x16xf64>) -> tensor<5x40x16xf64> {
  %qr:2 = solver.qr %a : (tensor<5x40x16xf64>) -> (tensor<5x40x16xf64>, tensor<5x16xf64>)
  %q = solver.householder_product %qr#0, %qr#1 : (tensor<5x40x16xf64>, tensor<5x16xf64>) -> tensor<5x40x16xf64>
  return %q : tensor<5x40x16xf64>
}

// CHECK-LABEL: func.func @form(
//       CHECK:   kernel.hessenberg ins(%{{.*}} : tensor<48x48xcomplex<f32>>) outs(%{{.*}}, %{{.*}} : tensor<48x48xcomplex<f32>>, tensor<47xcomplex<f32>>)
func.func @form(%a: tensor<48x48xcomplex<f32>>) -> tensor<48x48xcomplex<f32>> {
  %h:2 = solver.hessenberg %a : (tensor<48x48xcomplex<f32>>) -> (tensor<48x48xcomplex<f32>>, tensor<47xcomplex<f32>>)
  return %h#0 : tensor<48x48xcomplex<f32>>
}

// CHECK-LABEL: func.func @few_columns(
//   CHECK-NOT:   kernel.qr
//       CHECK:   scf.for
func.func @few_columns(%a: tensor<18x15xf32>) -> tensor<18x15xf32> {
  %qr:2 = solver.qr %a : (tensor<18x15xf32>) -> (tensor<18x15xf32>, tensor<15xf32>)
  return %qr#0 : tensor<18x15xf32>
}

// CHECK-LABEL: func.func @few_columns_of_many_rows(
//   CHECK-NOT:   scf.for
//       CHECK:   %[[QR:.*]]:2 = kernel.qr
//       CHECK:   kernel.householder_product ins(%[[QR]]#0, %[[QR]]#1
func.func @few_columns_of_many_rows(%a: tensor<256x4xf32>) -> tensor<256x4xf32> {
  %qr:2 = solver.qr %a : (tensor<256x4xf32>) -> (tensor<256x4xf32>, tensor<4xf32>)
  %q = solver.householder_product %qr#0, %qr#1 : (tensor<256x4xf32>, tensor<4xf32>) -> tensor<256x4xf32>
  return %q : tensor<256x4xf32>
}

// Many columns of few rows: loops have vectors along the columns.
// CHECK-LABEL: func.func @wide(
//   CHECK-NOT:   kernel.qr
//       CHECK:   scf.for
func.func @wide(%a: tensor<4x256xf32>) -> tensor<4x256xf32> {
  %qr:2 = solver.qr %a : (tensor<4x256xf32>) -> (tensor<4x256xf32>, tensor<4xf32>)
  return %qr#0 : tensor<4x256xf32>
}
