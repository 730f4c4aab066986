// RUN: shard-opt %s --spmd-lower-to-linalg --canonicalize | FileCheck %s

// Windows that have nothing in common: one op reads the places of a window and writes all of its elements.
// CHECK-LABEL: func.func @side_by_side(
//   CHECK-NOT:   scf.for
//       CHECK:   linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]
//       CHECK:     arith.cmpf oge
//       CHECK:   -> tensor<3x4x2xf32>
//       CHECK:   tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : tensor<3x4x2xf32> into tensor<3x8xf32>
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
func.func @side_by_side(%x: tensor<3x8xf32>, %dy: tensor<3x4xf32>) -> tensor<3x8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %dy, %zero) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %more = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<3x8xf32>, tensor<3x4xf32>, tensor<f32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// Windows of three elements, two apart: each chooses once; then cells of two elements ask the two windows that may have them. The
// ninth element is a cell that ends early.
// CHECK-LABEL: func.func @overlapping(
//   CHECK-NOT:   scf.for
//       CHECK:   %[[CHOSEN:.*]] = linalg.generic
//       CHECK:   -> tensor<4xi32>
//       CHECK:   tensor.pad %[[CHOSEN]] low[1] high[1]
//       CHECK:   linalg.generic
//       CHECK:   -> tensor<4x2xf32>
//       CHECK:   tensor.insert_slice %{{.*}} into %{{.*}}[0] [8] [1] : tensor<8xf32> into tensor<9xf32>
//       CHECK:   linalg.generic
//       CHECK:   -> tensor<1x1xf32>
//       CHECK:   tensor.insert_slice %{{.*}} into %{{.*}}[8] [1] [1] : tensor<1xf32> into tensor<9xf32>
func.func @overlapping(%x: tensor<9xf32>, %dy: tensor<4xf32>) -> tensor<9xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %dy, %zero) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %more = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<9xf32>, tensor<4xf32>, tensor<f32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// The gradient of a mean, as JAX writes it: elements that are spread apart, then sums of two neighbours. Each element is one of the
// source, and there is no array with zeros between.
// CHECK-LABEL: func.func @spread(
//   CHECK-NOT:   linalg.fill
//       CHECK:   linalg.generic
//       CHECK:   -> tensor<4x2xf32>
//       CHECK:   tensor.collapse_shape %{{.*}} {{\[\[}}0, 1]] : tensor<4x2xf32> into tensor<8xf32>
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
func.func @spread(%dy: tensor<4xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %dy, %zero, low = [1], high = [1], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<9xf32>
  %1 = "stablehlo.reduce_window"(%0, %zero) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<9xf32>, tensor<f32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Channels of a number that is known later are cut: each is in one window, so that nothing is added to them.
// CHECK-LABEL: func.func @open_channels(
//   CHECK-NOT:   scf.for
//   CHECK-NOT:   arith.maxsi
//       CHECK:   linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]
//       CHECK:     arith.cmpf oge
//       CHECK:   -> tensor<?x4x2xf32>
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
func.func @open_channels(%x: tensor<?x8xf32>, %dy: tensor<?x4xf32>) -> tensor<?x8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %dy, %zero) <{padding = dense<0> : tensor<2x2xi64>,
      window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %keep = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %keep : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<?x8xf32>, tensor<?x4xf32>, tensor<f32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
