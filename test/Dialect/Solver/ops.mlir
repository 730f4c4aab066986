// RUN: shard-opt %s | shard-opt | FileCheck %s

// CHECK-LABEL: func.func @solver
func.func @solver(%a: tensor<4x6x6xf32>, %v: tensor<4x6xf32>, %b: tensor<4x6x2xf32>, %p: tensor<4x3xi32>) {
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
  return
}
