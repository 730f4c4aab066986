// RUN: shard-opt %s --spmd-anchor-loop-values | FileCheck %s

// A new value goes to the tensor that it replaces.
// CHECK-LABEL: func.func @new_value(
//       CHECK:   scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %{{.*}})
//       CHECK:     %[[NEW:.*]] = math.exp
//       CHECK:     %[[KEPT:.*]] = bufferization.materialize_in_destination %[[NEW]] in %[[CARRIED]]
//       CHECK:     scf.yield %[[KEPT]]
func.func @new_value(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %x) -> tensor<4xf32> {
    %1 = math.exp %carried : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// An insertion is there already.
// CHECK-LABEL: func.func @built_in_place(
//   CHECK-NOT:   materialize_in_destination
func.func @built_in_place(%x: tensor<4xf32>, %v: f32, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %x) -> tensor<4xf32> {
    %1 = tensor.insert %v into %carried[%i] : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
