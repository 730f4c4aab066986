// RUN: shard-opt %s --spmd-lower-to-linalg | FileCheck %s --check-prefix=ANY
// RUN: shard-opt %s --spmd-lower-to-linalg=fixed-level | FileCheck %s --check-prefix=FIXED
// RUN: shard-opt %s --spmd-lower-cpu=reproducible --mlir-print-ir-after=spmd-lower-to-linalg -o /dev/null 2>&1 | FileCheck %s --check-prefix=FIXED
// The runtime decomposes matrices by the widest registers that there are, unless bits are to be the same everywhere.

//   ANY-LABEL: func.func @main(
//         ANY:   kernel.eigh ins(
//         ANY:   kernel.svd ins(
//         ANY:   kernel.qr ins(
//         ANY:   kernel.householder_product ins(
// FIXED-LABEL: func.func @main(
//       FIXED:   kernel.eigh fixed_level ins(
//       FIXED:   kernel.svd fixed_level ins(
//       FIXED:   kernel.qr fixed_level ins(
//       FIXED:   kernel.householder_product fixed_level ins(
spmd.mesh @mesh = <["x"=1]>
func.func @main(%a: tensor<3x20x20xf32>) -> (tensor<3x20x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20x20xf32>) {
  %vectors, %values = solver.eigh %a, lower = true : (tensor<3x20x20xf32>) -> (tensor<3x20x20xf32>, tensor<3x20xf32>)
  %w, %sigma, %v = solver.orthogonalize %a : (tensor<3x20x20xf32>) -> (tensor<3x20x20xf32>, tensor<3x20xf32>, tensor<3x20x20xf32>)
  %packed, %taus = solver.qr %a : (tensor<3x20x20xf32>) -> (tensor<3x20x20xf32>, tensor<3x20xf32>)
  %q = solver.householder_product %packed, %taus : (tensor<3x20x20xf32>, tensor<3x20xf32>) -> tensor<3x20x20xf32>
  return %vectors, %values, %sigma, %q : tensor<3x20x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20x20xf32>
}
