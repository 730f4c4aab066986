// RUN: shard-opt %s --spmd-expand-linear-algebra | FileCheck %s

// CHECK-LABEL: func.func @cholesky
//       CHECK:   %[[FACTOR:.*]] = stablehlo.cholesky %{{.*}}, lower = true : tensor<2x3x3xf32>
//       CHECK:   %[[INFO:.*]] = stablehlo.select {{.*}} tensor<2xi32>
//       CHECK:   return %[[FACTOR]], %[[INFO]]
func.func @cholesky(%a: tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2xi32>) {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2x3x3xf32>, tensor<2xi32>
}

// CHECK-LABEL: func.func @solve
//       CHECK:   "stablehlo.triangular_solve"
//  CHECK-SAME:   left_side = true, lower = false, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = true
func.func @solve(%a: tensor<3x3xf64>, %b: tensor<3x2xf64>) -> tensor<3x2xf64> {
  %0 = stablehlo.custom_call @lapack_dtrsm_ffi(%a, %b) {mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 67 : ui8, uplo = 85 : ui8}} : (tensor<3x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  return %0 : tensor<3x2xf64>
}

// LAPACK counts rows from one.
// CHECK-LABEL: func.func @lu
//       CHECK:   %[[LU:.*]], %[[PIVOTS:.*]], %{{.*}}, %[[INFO:.*]] = solver.lu
//       CHECK:   %[[ONE:.*]] = stablehlo.constant dense<1>
//       CHECK:   %[[ROWS:.*]] = stablehlo.add %[[PIVOTS]], %[[ONE]]
//       CHECK:   return %[[LU]], %[[ROWS]], %[[INFO]]
func.func @lu(%a: tensor<5x4x3xf32>) -> (tensor<5x4x3xf32>, tensor<5x3xi32>, tensor<5xi32>) {
  %0:3 = stablehlo.custom_call @cusolver_getrf_ffi(%a) : (tensor<5x4x3xf32>) -> (tensor<5x4x3xf32>, tensor<5x3xi32>, tensor<5xi32>)
  return %0#0, %0#1, %0#2 : tensor<5x4x3xf32>, tensor<5x3xi32>, tensor<5xi32>
}

// Wide matrices are turned; left vectors are V.
// CHECK-LABEL: func.func @svd
//       CHECK:   %{{.*}}, %[[SIGMA:.*]], %[[V:.*]] = solver.orthogonalize %{{.*}} : (tensor<5x3xf32>)
//       CHECK:   solver.qr
//       CHECK:   solver.householder_product
//       CHECK:   return %[[SIGMA]], %[[V]]
func.func @svd(%a: tensor<3x5xf32>) -> (tensor<3xf32>, tensor<3x3xf32>, tensor<3x5xf32>) {
  %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 83 : ui8}} : (tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<3x5xf32>, tensor<i32>)
  return %0#1, %0#2, %0#3 : tensor<3xf32>, tensor<3x3xf32>, tensor<3x5xf32>
}

// Eigenvalues of any matrix come from its Schur form.
// CHECK-LABEL: func.func @eig
//   CHECK-NOT:   custom_call
//       CHECK:   %[[PACKED:.*]], %[[TAUS:.*]] = solver.hessenberg %arg0
//       CHECK:   %[[Q:.*]] = solver.householder_product
//       CHECK:   %[[T:.*]], %{{.*}} = solver.schur %[[PACKED]], %{{.*}} : (tensor<3x3xf32>, tensor<3x3xf32>)
func.func @eig(%a: tensor<3x3xf32>) -> tensor<3xf32> {
  %0:5 = stablehlo.custom_call @lapack_sgeev_ffi(%a) : (tensor<3x3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>, tensor<i32>)
  return %0#0 : tensor<3xf32>
}
