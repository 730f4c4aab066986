// RUN: shard-opt %s --spmd-make-reproducible --split-input-file | FileCheck %s

// Eight terms: the anchor is 3/4 of eight times the power of two above the largest, and
// what is added up are multiples of its last digit.
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[X:.*]]: tensor<8x3xf32>
//       CHECK:   %[[SIZES:.*]] = stablehlo.abs %[[X]]
//       CHECK:   %[[LARGEST:.*]] = stablehlo.reduce(%[[SIZES]] {{.*}} applies stablehlo.maximum across dimensions = [0]
//       CHECK:   %[[POWER:.*]] = stablehlo.add %[[FLOOR:.*]], %[[FLOOR]] : tensor<3xf64>
//       CHECK:   %[[TERMS:.*]] = stablehlo.constant dense<6.000000e+00> : tensor<3xf64>
//       CHECK:   stablehlo.multiply %[[POWER]], %[[TERMS]]
//       CHECK:   %[[ANCHOR:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [1] : (tensor<3xf64>) -> tensor<8x3xf64>
//       CHECK:   %[[MOVED:.*]] = stablehlo.add %{{.*}}, %[[ANCHOR]] : tensor<8x3xf64>
//       CHECK:   %[[ROUNDED:.*]] = stablehlo.subtract %[[MOVED]], %[[ANCHOR]]
//       CHECK:   %[[SUM:.*]] = stablehlo.reduce(%[[ROUNDED]] {{.*}} applies stablehlo.add across dimensions = [0] : (tensor<8x3xf64>
//       CHECK:   stablehlo.convert %[[SUM]] : (tensor<3xf64>) -> tensor<3xf32>
func.func @main(%x: tensor<8x3xf32>) -> tensor<3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// Sixteen products have 49 of 53 digits: 25 of one factor, 24 of the other, both as
// wide in memory as they were.
// CHECK-LABEL: func.func @main(
//       CHECK:   stablehlo.constant dense<0x41A8000000000000> : tensor<4xf64>
//       CHECK:   %[[LHS:.*]] = stablehlo.convert %{{.*}} : (tensor<4x16xf64>) -> tensor<4x16xf32>
//       CHECK:   stablehlo.constant dense<0x41B8000000000000> : tensor<5xf64>
//       CHECK:   %[[RHS:.*]] = stablehlo.convert %{{.*}} : (tensor<16x5xf64>) -> tensor<16x5xf32>
//       CHECK:   %[[SUM:.*]] = stablehlo.dot_general %[[LHS]], %[[RHS]], contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x5xf32>) -> tensor<4x5xf64>
//       CHECK:   stablehlo.convert %[[SUM]] : (tensor<4x5xf64>) -> tensor<4x5xf32>
func.func @main(%x: tensor<4x16xf32>, %w: tensor<16x5xf32>) -> tensor<4x5xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

// Numbers of f64 are taken in two parts, and so are the sums.
// CHECK-LABEL: func.func @main(
//       CHECK:   %[[FIRST:.*]] = stablehlo.reduce({{.*}} applies stablehlo.add across dimensions = [0]
//       CHECK:   %[[SECOND:.*]] = stablehlo.reduce({{.*}} applies stablehlo.add across dimensions = [0]
//       CHECK:   %[[SUM:.*]] = stablehlo.add %[[FIRST]], %[[SECOND]] : tensor<f64>
//       CHECK:   return %[[SUM]]
func.func @main(%x: tensor<8xf64>) -> tensor<f64> {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf64>, tensor<f64>) -> tensor<f64>
  return %0 : tensor<f64>
}

// -----

// Neighbours are multiplied, then neighbours of these: the last of three waits.
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[X:.*]]: tensor<3xf32>
//       CHECK:   %[[EVEN:.*]] = stablehlo.slice %[[X]] [0:2:2]
//       CHECK:   %[[ODD:.*]] = stablehlo.slice %[[X]] [1:2:2]
//       CHECK:   %[[PAIR:.*]] = stablehlo.multiply %[[EVEN]], %[[ODD]] : tensor<1xf32>
//       CHECK:   %[[LAST:.*]] = stablehlo.slice %[[X]] [2:3]
//       CHECK:   stablehlo.concatenate %[[PAIR]], %[[LAST]], dim = 0
//   CHECK-NOT:   stablehlo.reduce
func.func @main(%x: tensor<3xf32>) -> tensor<f32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %one) applies stablehlo.multiply across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// What has no order stays as it is: extremes, integers, single terms.
// CHECK-LABEL: func.func @main(
//   CHECK-NOT:   f64
func.func @main(%x: tensor<4x1xf32>, %i: tensor<4xi32>) -> (tensor<1xf32>, tensor<i32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<4x1xf32>, tensor<f32>) -> tensor<1xf32>
  %1 = stablehlo.reduce(%i init: %none) applies stablehlo.add across dimensions = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
  %2 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<1xf32>, tensor<i32>, tensor<4xf32>
}

// -----

// Rows that several updates meet in are summed in f64, from zero; the operand is added once.
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[X:.*]]: tensor<10x6xf32>
//       CHECK:   stablehlo.broadcast_in_dim %{{.*}}, dims = [1] : (tensor<6xf64>) -> tensor<4x6xf64>
//       CHECK:   %[[SUMS:.*]] = "stablehlo.scatter"
//       CHECK:   (tensor<10x6xf64>, tensor<4x1xi32>, tensor<4x6xf64>) -> tensor<10x6xf64>
//       CHECK:   %[[WIDE:.*]] = stablehlo.convert %[[X]] : (tensor<10x6xf32>) -> tensor<10x6xf64>
//       CHECK:   stablehlo.add %[[SUMS]], %[[WIDE]] : tensor<10x6xf64>
func.func @main(%x: tensor<10x6xf32>, %i: tensor<4x1xi32>, %u: tensor<4x6xf32>) -> tensor<10x6xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<10x6xf32>, tensor<4x1xi32>, tensor<4x6xf32>) -> tensor<10x6xf32>
  return %0 : tensor<10x6xf32>
}

// -----

// Two values that are combined together: a tree of both.
// CHECK-LABEL: func.func @main(
//       CHECK:   stablehlo.add %{{.*}} : tensor<1xf32>
//       CHECK:   stablehlo.multiply %{{.*}} : tensor<1xf32>
//   CHECK-NOT:   stablehlo.reduce
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<f32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0:2 = stablehlo.reduce(%x init: %zero), (%y init: %one) across dimensions = [0] : (tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<f32>, %d: tensor<f32>) {
      %s = stablehlo.add %a, %b : tensor<f32>
      %t = stablehlo.multiply %c, %d : tensor<f32>
      stablehlo.return %s, %t : tensor<f32>, tensor<f32>
    }
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}

// -----

// Of two dims, one after the other, each where its lines are whole.
// CHECK-LABEL: func.func @main(
//       CHECK:   stablehlo.transpose
//       CHECK:   stablehlo.fft %{{.*}}, type = FFT, length = [8] {spmd.whole_lines}
//       CHECK:   stablehlo.transpose
//       CHECK:   stablehlo.fft %{{.*}}, type = FFT, length = [6] {spmd.whole_lines}
func.func @main(%x: tensor<8x6xcomplex<f32>>) -> tensor<8x6xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [8, 6] : (tensor<8x6xcomplex<f32>>) -> tensor<8x6xcomplex<f32>>
  return %0 : tensor<8x6xcomplex<f32>>
}

// -----

// A running product of five: windows of two, of four, and of four and one.
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[X:.*]]: tensor<5xf32>
//       CHECK:   %[[PADDED:.*]] = stablehlo.pad %[[X]], %{{.*}}, low = [4], high = [0], interior = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<9xf32>
//       CHECK:   %[[TWO:.*]] = stablehlo.multiply %{{.*}}, %{{.*}} : tensor<8xf32>
//       CHECK:   %[[FOUR:.*]] = stablehlo.multiply %{{.*}}, %{{.*}} : tensor<6xf32>
//       CHECK:   %[[FIRST:.*]] = stablehlo.slice %[[PADDED]] [0:5]
//       CHECK:   %[[OTHERS:.*]] = stablehlo.slice %[[FOUR]] [1:6]
//       CHECK:   stablehlo.multiply %[[FIRST]], %[[OTHERS]] : tensor<5xf32>
func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %one) <{padding = dense<[[4, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 5>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %p : tensor<f32>
  }) : (tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// Updates stand side by side by place, are multiplied there, and one of a place is left.
// CHECK-LABEL: func.func @main(
//       CHECK:   "stablehlo.sort"
//  CHECK-SAME:     is_stable = true
// CHECK-COUNT-2:  stablehlo.multiply %{{.*}}, %{{.*}} : tensor<4xf32>
//   CHECK-NOT:   stablehlo.multiply %{{.*}} : tensor<4xf32>
//       CHECK:   %[[IS_LAST:.*]] = stablehlo.compare NE
//       CHECK:   %[[SPREAD:.*]] = stablehlo.broadcast_in_dim %[[IS_LAST]]
//       CHECK:   %[[LAST:.*]] = stablehlo.select %[[SPREAD]]
//       CHECK:   "stablehlo.scatter"(%{{.*}}, %[[LAST]],
func.func @main(%x: tensor<8xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// What no rank has a part of stays a product, and a sum of as many as a vector has lanes.
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[X:.*]]: tensor<8x40xf32>, %[[W:.*]]: tensor<40x8xf32>
//       CHECK:   stablehlo.dot_general %[[X]], %[[W]], contracting_dims = [1] x [0] {spmd.whole_sum} : (tensor<8x40xf32>, tensor<40x8xf32>) -> tensor<8x8xf32>
//       CHECK:   %[[PADDED:.*]] = stablehlo.pad %[[X]], {{.*}} -> tensor<8x48xf32>
//       CHECK:   %[[LANES:.*]] = stablehlo.reshape %[[PADDED]] : (tensor<8x48xf32>) -> tensor<8x3x16xf32>
//       CHECK:   %[[PARTS:.*]] = stablehlo.reduce(%[[LANES]] {{.*}} across dimensions = [1] {spmd.whole_sum}
//       CHECK:   stablehlo.reduce(%[[PARTS]] {{.*}} across dimensions = [1] {spmd.whole_sum}
//   CHECK-NOT:   f64
func.func @main(%x: tensor<8x40xf32>, %w: tensor<40x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {spmd.whole_sum} : (tensor<8x40xf32>, tensor<40x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] {spmd.whole_sum} : (tensor<8x40xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8xf32>
}
