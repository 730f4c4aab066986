// RUN: shard-opt %s | shard-opt | FileCheck %s

// CHECK-LABEL: func.func @solver
func.func @solver(%a: tensor<4x6x6xf32>, %v: tensor<4x6xf32>, %b: tensor<4x6x2xf32>, %p: tensor<4x3xi32>, %f: tensor<4x2xi32>, %z: tensor<3x3xcomplex<f64>>) {
  // CHECK: solver.lu %{{.*}} : (tensor<4x6x6xf32>) -> (tensor<4x6x6xf32>, tensor<4x6xi32>, tensor<4x6xi32>, tensor<4xi32>)
  %0:4 = solver.lu %a : (tensor<4x6x6xf32>) -> (tensor<4x6x6xf32>, tensor<4x6xi32>, tensor<4x6xi32>, tensor<4xi32>)
  // CHECK: solver.permutation %{{.*}} : (tensor<4x3xi32>) -> tensor<4x6xi32>
  %1 = solver.permutation %p : (tensor<4x3xi32>) -> tensor<4x6xi32>
  // CHECK: %[[PACKED:.*]], %[[TAUS:.*]] = solver.qr
  %2:2 = solver.qr %a : (tensor<4x6x6xf32>) -> (tensor<4x6x6xf32>, tensor<4x6xf32>)
  // CHECK: solver.householder_product %[[PACKED]], %[[TAUS]]
  %3 = solver.householder_product %2#0, %2#1 : (tensor<4x6x6xf32>, tensor<4x6xf32>) -> tensor<4x6x6xf32>
  // CHECK: solver.eigh %{{.*}}, lower = true
  %4:2 = solver.eigh %a, lower = true : (tensor<4x6x6xf32>) -> (tensor<4x6x6xf32>, tensor<4x6xf32>)
  // CHECK: solver.orthogonalize
  %5:3 = solver.orthogonalize %a : (tensor<4x6x6xf32>) -> (tensor<4x6x6xf32>, tensor<4x6xf32>, tensor<4x6x6xf32>)
  // CHECK: solver.tridiagonal_solve
  %6 = solver.tridiagonal_solve %v, %v, %v, %b : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6x2xf32>) -> tensor<4x6x2xf32>
  // CHECK: solver.tridiagonal_solve {{.*}} perturbed : (
  %11 = solver.tridiagonal_solve %v, %v, %v, %b perturbed : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6x2xf32>) -> tensor<4x6x2xf32>
  // CHECK: solver.pivoted_qr %{{.*}}, %{{.*}} : (tensor<4x6x2xf32>, tensor<4x2xi32>) -> (tensor<4x6x2xf32>, tensor<4x2xi32>, tensor<4x2xf32>)
  %7:3 = solver.pivoted_qr %b, %f : (tensor<4x6x2xf32>, tensor<4x2xi32>) -> (tensor<4x6x2xf32>, tensor<4x2xi32>, tensor<4x2xf32>)
  // CHECK: solver.hessenberg %{{.*}} : (tensor<4x6x6xf32>) -> (tensor<4x6x6xf32>, tensor<4x5xf32>)
  %8:2 = solver.hessenberg %a : (tensor<4x6x6xf32>) -> (tensor<4x6x6xf32>, tensor<4x5xf32>)
  // CHECK: solver.schur %{{.*}}, %{{.*}} : (tensor<4x6x6xf32>, tensor<4x6x6xf32>) -> (tensor<4x6x6xf32>, tensor<4x6x6xf32>)
  %9:2 = solver.schur %8#0, %a : (tensor<4x6x6xf32>, tensor<4x6x6xf32>) -> (tensor<4x6x6xf32>, tensor<4x6x6xf32>)
  // CHECK: solver.eigenvectors %{{.*}}, %{{.*}} : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
  %10 = solver.eigenvectors %z, %z : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
  return
}
