// RUN: shard-opt %s --spmd-import --spmd-raise --spmd-propagate --spmd-partition --spmd-communicate --spmd-lower-cpu \
// RUN:   --mlir-print-ir-after=one-shot-bufferize 2>&1 >/dev/null | FileCheck %s

// Steps of an iteration whose first value, whether to go on, the body does not read, rotate the matrices where they are.
// CHECK-LABEL: func.func {{.*}}@main(
//       CHECK:   scf.for
//   CHECK-NOT:     memref.alloc
//       CHECK:     scf.while
//   CHECK-NOT:     memref.alloc
//       CHECK:   return
func.func public @main(%h: tensor<3x6x6xf32>, %q: tensor<3x6x6xf32>) -> (tensor<3x6x6xf32>, tensor<3x6x6xf32>) {
  %t, %v = solver.schur %h, %q : (tensor<3x6x6xf32>, tensor<3x6x6xf32>) -> (tensor<3x6x6xf32>, tensor<3x6x6xf32>)
  return %t, %v : tensor<3x6x6xf32>, tensor<3x6x6xf32>
}
