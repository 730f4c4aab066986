// RUN: shard-opt %s --spmd-split-bands --canonicalize | FileCheck %s
// A product of 19 million operations is over before ranks have synchronised once, on a machine where that takes 200 us.
// RUN: shard-opt %s --spmd-set-machine=machine=generic,link.latency=200us --spmd-split-bands --canonicalize | FileCheck %s --check-prefix=WHOLE
// WHOLE-LABEL: func @blocks(
//   WHOLE-NOT:   stablehlo.concatenate
//       WHOLE:   stablehlo.dot_general {{.*}} (tensor<1024x96xf32>, tensor<96x96xf32>)

// Three blocks of columns, each with a third of the rows.
// CHECK-LABEL: func @blocks(
//  CHECK-SAME:   %[[X:.*]]: tensor<1024x96xf32>
//   CHECK-DAG:   %[[W:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<32x32xf32>
//   CHECK-DAG:   %[[X0:.*]] = tensor.extract_slice %[[X]][0, 0] [1024, 32]
//   CHECK-DAG:   %[[X1:.*]] = tensor.extract_slice %[[X]][0, 32] [1024, 32]
//   CHECK-DAG:   %[[X2:.*]] = tensor.extract_slice %[[X]][0, 64] [1024, 32]
//   CHECK-DAG:   %[[Y0:.*]] = stablehlo.dot_general %[[X0]], %[[W]]
//   CHECK-DAG:   %[[Y1:.*]] = stablehlo.dot_general %[[X1]], %[[W]]
//   CHECK-DAG:   %[[Y2:.*]] = stablehlo.dot_general %[[X2]], %[[W]]
//       CHECK:   stablehlo.concatenate %[[Y0]], %[[Y1]], %[[Y2]], dim = 1
func.func @blocks(%x: tensor<1024x96xf32>) -> tensor<1024x96xf32> {
  %i = stablehlo.iota dim = 0 : tensor<96xf32>
  %n = stablehlo.constant dense<3.200000e+01> : tensor<96xf32>
  %q = stablehlo.divide %i, %n : tensor<96xf32>
  %g = stablehlo.floor %q : tensor<96xf32>
  %row = stablehlo.broadcast_in_dim %g, dims = [0] : (tensor<96xf32>) -> tensor<96x96xf32>
  %column = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<96xf32>) -> tensor<96x96xf32>
  %same = stablehlo.compare EQ, %row, %column, FLOAT : (tensor<96x96xf32>, tensor<96x96xf32>) -> tensor<96x96xi1>
  %w = stablehlo.convert %same : (tensor<96x96xi1>) -> tensor<96x96xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1024x96xf32>, tensor<96x96xf32>) -> tensor<1024x96xf32>
  return %y : tensor<1024x96xf32>
}

// Where a transpose alone reads it, the parts are transposed and joined along the other dim.
// CHECK-LABEL: func @transposed(
//   CHECK-DAG:   %[[T0:.*]] = stablehlo.transpose %{{.*}}, dims = [2, 0, 1] : (tensor<8x128x32xf32>) -> tensor<32x8x128xf32>
//       CHECK:   stablehlo.concatenate {{.*}}, dim = 0 : (tensor<32x8x128xf32>, tensor<32x8x128xf32>, tensor<32x8x128xf32>) -> tensor<96x8x128xf32>
//   CHECK-NOT:   stablehlo.transpose
//       CHECK:   return
func.func @transposed(%x: tensor<8x128x96xf32>) -> tensor<96x8x128xf32> {
  %i = stablehlo.iota dim = 0 : tensor<96xf32>
  %n = stablehlo.constant dense<3.200000e+01> : tensor<96xf32>
  %q = stablehlo.divide %i, %n : tensor<96xf32>
  %g = stablehlo.floor %q : tensor<96xf32>
  %row = stablehlo.broadcast_in_dim %g, dims = [0] : (tensor<96xf32>) -> tensor<96x96xf32>
  %column = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<96xf32>) -> tensor<96x96xf32>
  %same = stablehlo.compare EQ, %row, %column, FLOAT : (tensor<96x96xf32>, tensor<96x96xf32>) -> tensor<96x96xi1>
  %w = stablehlo.convert %same : (tensor<96x96xi1>) -> tensor<96x96xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<8x128x96xf32>, tensor<96x96xf32>) -> tensor<8x128x96xf32>
  %t = stablehlo.transpose %y, dims = [2, 0, 1] : (tensor<8x128x96xf32>) -> tensor<96x8x128xf32>
  return %t : tensor<96x8x128xf32>
}

// Above the diagonal there are too many; and of arguments nobody knows.
// CHECK-LABEL: func @dense(
// CHECK-COUNT-2: stablehlo.dot_general {{.*}} (tensor<1024x96xf32>, tensor<96x96xf32>)
//   CHECK-NOT:   stablehlo.dot_general
func.func @dense(%x: tensor<1024x96xf32>, %s: tensor<f32>) -> tensor<1024x96xf32> {
  %i = stablehlo.iota dim = 0 : tensor<96x96xf32>
  %j = stablehlo.iota dim = 1 : tensor<96x96xf32>
  %above = stablehlo.compare LT, %i, %j, FLOAT : (tensor<96x96xf32>, tensor<96x96xf32>) -> tensor<96x96xi1>
  %w = stablehlo.convert %above : (tensor<96x96xi1>) -> tensor<96x96xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1024x96xf32>, tensor<96x96xf32>) -> tensor<1024x96xf32>
  %t = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<96x96xf32>
  %same = stablehlo.compare EQ, %i, %t, FLOAT : (tensor<96x96xf32>, tensor<96x96xf32>) -> tensor<96x96xi1>
  %v = stablehlo.convert %same : (tensor<96x96xi1>) -> tensor<96x96xf32>
  %z = stablehlo.dot_general %y, %v, contracting_dims = [1] x [0] : (tensor<1024x96xf32>, tensor<96x96xf32>) -> tensor<1024x96xf32>
  return %z : tensor<1024x96xf32>
}
