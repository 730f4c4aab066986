// RUN: shard-opt %s --split-input-file --spmd-sum-after-loops | FileCheck %s
// What a loop adds up of products in each iteration is one product after it.

// The loop reads one factor from slots, backwards, and makes the other: it keeps this in the same order.
// CHECK-LABEL: func.func @gradient(
//  CHECK-SAME:   %[[X:.*]]: tensor<5x8x4xf32>, %[[H:.*]]: tensor<8x4xf32>, %[[W:.*]]: tensor<4x4xf32>
//       CHECK:   %[[NONE:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<5x8x4xf32>
//       CHECK:   %[[LOOP:.*]]:4 = stablehlo.while({{.*}}, %[[KEPT:.*]] = %[[NONE]])
//       CHECK:     %[[J:.*]] = stablehlo.subtract
//       CHECK:     %[[Y:.*]] = stablehlo.tanh
//   CHECK-NOT:     stablehlo.dot_general
//       CHECK:     %[[SLOT:.*]] = stablehlo.reshape %[[Y]] : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
//       CHECK:     stablehlo.dynamic_update_slice %[[KEPT]], %[[SLOT]], %[[J]]
//       CHECK:   %[[SUM:.*]] = stablehlo.dot_general %[[LOOP]]#1, %[[LOOP]]#3, contracting_dims = [0, 1] x [0, 1]
//       CHECK:   %[[TURNED:.*]] = stablehlo.transpose %[[SUM]], dims = [1, 0]
//       CHECK:   %[[ALL:.*]] = stablehlo.add %[[W]], %[[TURNED]]
//       CHECK:   return %[[LOOP]]#2, %[[ALL]]
func.func @gradient(%x: tensor<5x8x4xf32>, %h: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> (tensor<8x4xf32>, tensor<4x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %r:4 = stablehlo.while(%i = %zero, %xs = %x, %a = %h, %g = %w) : tensor<i32>, tensor<5x8x4xf32>, tensor<8x4xf32>, tensor<4x4xf32>
  cond {
    %c = stablehlo.compare LT, %i, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.subtract %four, %i : tensor<i32>
    %s = stablehlo.dynamic_slice %xs, %j, %zero, %zero, sizes = [1, 8, 4] : (tensor<5x8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x4xf32>
    %now = stablehlo.reshape %s : (tensor<1x8x4xf32>) -> tensor<8x4xf32>
    %y = stablehlo.tanh %a : tensor<8x4xf32>
    %p = stablehlo.dot_general %now, %y, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %t = stablehlo.transpose %p, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %sum = stablehlo.add %g, %t : tensor<4x4xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %xs, %y, %sum : tensor<i32>, tensor<5x8x4xf32>, tensor<8x4xf32>, tensor<4x4xf32>
  }
  return %r#2, %r#3 : tensor<8x4xf32>, tensor<4x4xf32>
}

// -----

// What is added up is looked at in each iteration, or the loop has no slots: both stay.
// CHECK-LABEL: func.func @stays(
//       CHECK:   stablehlo.while
//       CHECK:     stablehlo.reduce
//       CHECK:     stablehlo.reduce
//   CHECK-NOT:   stablehlo.reduce
func.func @stays(%h: tensor<8x4xf32>, %w: tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %r:4 = stablehlo.while(%i = %zero, %a = %h, %g = %w, %seen = %w) : tensor<i32>, tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>
  cond {
    %c = stablehlo.compare LT, %i, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %all = stablehlo.broadcast_in_dim %seen, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
    %y = stablehlo.multiply %a, %all : tensor<8x4xf32>
    %p = stablehlo.reduce(%y init: %none) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
    %sum = stablehlo.add %g, %p : tensor<4xf32>
    %q = stablehlo.reduce(%y init: %none) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
    %used = stablehlo.add %seen, %q : tensor<4xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %y, %sum, %used : tensor<i32>, tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#1, %r#2, %r#3 : tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>
}
