// RUN: shard-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(spmd-unroll-loops{max-trip-count=3}))" | FileCheck %s

// Two iterations, whose rotations change places: each has its own, as a constant.
// CHECK-LABEL: func.func @lists_change_places(
//  CHECK-SAME:   %[[X:.*]]: tensor<4096xui32>)
//   CHECK-NOT:   stablehlo.while
//       CHECK:   %[[SEVEN:.*]] = stablehlo.constant dense<7> : tensor<ui32>
//       CHECK:   %[[BY7:.*]] = stablehlo.broadcast_in_dim %[[SEVEN]]
//       CHECK:   %[[FIRST:.*]] = stablehlo.shift_left %[[X]], %[[BY7]]
//       CHECK:   %[[NINE:.*]] = stablehlo.constant dense<9> : tensor<ui32>
//       CHECK:   %[[BY9:.*]] = stablehlo.broadcast_in_dim %[[NINE]]
//       CHECK:   %[[SECOND:.*]] = stablehlo.shift_left %[[FIRST]], %[[BY9]]
//       CHECK:   return %[[SECOND]]
func.func @lists_change_places(%x: tensor<4096xui32>) -> tensor<4096xui32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %a = stablehlo.constant dense<[5, 7]> : tensor<2xui32>
  %b = stablehlo.constant dense<[5, 9]> : tensor<2xui32>
  %r:4 = stablehlo.while(%i = %zero, %v = %x, %now = %a, %then = %b) : tensor<i32>, tensor<4096xui32>, tensor<2xui32>, tensor<2xui32>
  cond {
    %c = stablehlo.compare LT, %i, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %s = stablehlo.slice %now [1:2] : (tensor<2xui32>) -> tensor<1xui32>
    %n = stablehlo.reshape %s : (tensor<1xui32>) -> tensor<ui32>
    %by = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<ui32>) -> tensor<4096xui32>
    %w = stablehlo.shift_left %v, %by : tensor<4096xui32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %w, %then, %now : tensor<i32>, tensor<4096xui32>, tensor<2xui32>, tensor<2xui32>
  }
  return %r#1 : tensor<4096xui32>
}

// -----

// Four iterations are too many here, few numbers are not worth it, and a sum is no elementwise op.
// CHECK-LABEL: func.func @loops_that_stay(
// CHECK-COUNT-3: stablehlo.while
func.func @loops_that_stay(%x: tensor<4096xf32>, %y: tensor<8xf32>) -> (tensor<4096xf32>, tensor<8xf32>, tensor<4096xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %start = stablehlo.constant dense<0.0> : tensor<f32>
  %long:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<4096xf32>
  cond {
    %c = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %w = stablehlo.multiply %v, %v : tensor<4096xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %w : tensor<i32>, tensor<4096xf32>
  }
  %small:2 = stablehlo.while(%i = %zero, %v = %y) : tensor<i32>, tensor<8xf32>
  cond {
    %c = stablehlo.compare LT, %i, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %w = stablehlo.multiply %v, %v : tensor<8xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %w : tensor<i32>, tensor<8xf32>
  }
  %sums:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<4096xf32>
  cond {
    %c = stablehlo.compare LT, %i, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %sum = stablehlo.reduce(%v init: %start) applies stablehlo.add across dimensions = [0] : (tensor<4096xf32>, tensor<f32>) -> tensor<f32>
    %all = stablehlo.broadcast_in_dim %sum, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %w = stablehlo.subtract %v, %all : tensor<4096xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %w : tensor<i32>, tensor<4096xf32>
  }
  return %long#1, %small#1, %sums#1 : tensor<4096xf32>, tensor<8xf32>, tensor<4096xf32>
}
