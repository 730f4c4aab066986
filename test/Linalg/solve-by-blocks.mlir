// RUN: shard-opt %s --spmd-lower-to-linalg --split-input-file | FileCheck %s
// RUN: shard-opt %s --spmd-lower-to-linalg=many-threads --split-input-file | FileCheck %s --check-prefix=DEVICE
// On devices loops of single elements are one kernel: nothing else stands among them.
// DEVICE-LABEL: func.func @forward(
//       DEVICE: scf.for
//   DEVICE-NOT: linalg.generic

// Two blocks of 32 rows, then one of 6: what rows of other blocks take from a block is a product, then its own go row by row.
// CHECK-LABEL: func.func @forward(
//  CHECK-SAME:     %[[A:[a-z0-9]*]]: tensor<70x70xf32>, %[[B:[a-z0-9]*]]: tensor<70x9xf32>)
//       CHECK:   scf.for %[[AT:.*]] = %c0{{.*}} to %c2{{.*}} step {{.*}} iter_args(%[[X:.*]] = %{{.*}}) -> (tensor<70x9xf32>)
//       CHECK:     %[[FROM:.*]] = arith.muli %[[AT]], %c32
//   CHECK-DAG:     tensor.extract_slice %[[B]][%[[FROM]], 0] [32, 9] [1, 1]
//   CHECK-DAG:     %[[FACTORS:.*]] = tensor.extract_slice %[[A]][%[[FROM]], 0] [32, %[[FROM]]] [1, 1]
//   CHECK-DAG:     %[[KNOWN:.*]] = tensor.extract_slice %[[X]][0, 0] [%[[FROM]], 9] [1, 1]
//       CHECK:     linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[FACTORS]], %[[KNOWN]] :
//       CHECK:     scf.for %[[ROW:.*]] = %c0{{.*}} to %c32
//       CHECK:       tensor.extract_slice %{{.*}}[%[[ROW]], 0] [1, %[[ROW]]] [1, 1]
//       CHECK:       linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]}
//       CHECK:     tensor.insert_slice %{{.*}} into %[[X]][%[[FROM]], 0] [32, 9] [1, 1]
//       CHECK:   tensor.extract_slice %[[B]][64, 0] [6, 9] [1, 1]
//       CHECK:   scf.for %{{.*}} = %c0{{.*}} to %c6
func.func @forward(%a: tensor<70x70xf32>, %b: tensor<70x9xf32>) -> tensor<70x9xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<70x70xf32>, tensor<70x9xf32>) -> tensor<70x9xf32>
  return %0 : tensor<70x9xf32>
}

// -----

// The last rows first; the factors of rows are columns of the transpose.
// CHECK-LABEL: func.func @backward(
//  CHECK-SAME:     %[[A:[a-z0-9]*]]: tensor<64x64xf32>
//       CHECK:   scf.for %[[AT:.*]] = %c0{{.*}} to %c2{{.*}} step
//       CHECK:     %[[KNOWN:.*]] = arith.muli %[[AT]], %c32
//       CHECK:     tensor.extract_slice %[[A]][%{{.*}}, %{{.*}}] [%[[KNOWN]], 32] [1, 1]
func.func @backward(%a: tensor<64x64xf32>, %b: tensor<64x9xf32>) -> tensor<64x9xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false,
      transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<64x64xf32>, tensor<64x9xf32>) -> tensor<64x9xf32>
  return %0 : tensor<64x9xf32>
}

// -----

// From the right: rows of the transpose.
// CHECK-LABEL: func.func @right(
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}} : tensor<9x40xf32>) outs(%{{.*}} : tensor<40x9xf32>)
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}} : tensor<40x9xf32>) outs(%{{.*}} : tensor<9x40xf32>)
func.func @right(%a: tensor<40x40xf32>, %b: tensor<9x40xf32>) -> tensor<9x40xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = true, unit_diagonal = true,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<40x40xf32>, tensor<9x40xf32>) -> tensor<9x40xf32>
  return %0 : tensor<9x40xf32>
}

// -----

// No block is full: no product. One column: numbers, and no vectors of one.
// CHECK-LABEL: func.func @small(
//   CHECK-NOT:   "reduction"
//       CHECK:   scf.for %[[ROW:.*]] = %c0{{.*}} to %c20
//       CHECK:     scf.for %{{.*}} = %c0{{.*}} to %[[ROW]] step {{.*}} -> (f32)
//   CHECK-NOT:   "reduction"
//       CHECK:   return
func.func @small(%a: tensor<20x20xf32>, %b: tensor<20x1xf32>) -> tensor<20x1xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<20x20xf32>, tensor<20x1xf32>) -> tensor<20x1xf32>
  return %0 : tensor<20x1xf32>
}

// -----

// The upper factor's rows, each block from its first column on.
// CHECK-LABEL: func.func @cholesky(
//  CHECK-SAME:     %[[A:[a-z0-9]*]]: tensor<64x64xf32>)
//       CHECK:   scf.for %[[AT:.*]] = %c0{{.*}} to %c2{{.*}} step {{.*}} iter_args(%[[X:.*]] = %{{.*}}) -> (tensor<64x64xf32>)
//       CHECK:     %[[FROM:.*]] = arith.muli %[[AT]], %c32
//   CHECK-DAG:     %[[FACTORS:.*]] = tensor.extract_slice %[[X]][0, %[[FROM]]] [%[[FROM]], 32] [1, 1]
//   CHECK-DAG:     %[[KNOWN:.*]] = tensor.extract_slice %[[X]][0, %[[FROM]]] [%[[FROM]], %{{.*}}] [1, 1]
//       CHECK:     linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[FACTORS]], %[[KNOWN]] :
//       CHECK:     math.sqrt
func.func @cholesky(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.cholesky %a, lower = false : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
