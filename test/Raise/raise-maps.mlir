// RUN: shard-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(spmd-raise-maps))" | FileCheck %s

// Rows, and a scalar of each that chooses: scalars become as wide as rows. The counter's last value is known.
// CHECK-LABEL: func.func @rows(
//  CHECK-SAME:   %[[X:.*]]: tensor<7x3xf32>
//   CHECK-NOT:   stablehlo.while
//       CHECK:   %[[ROWS:.*]] = stablehlo.reshape {{.*}} : (tensor<7x1x3xf32>) -> tensor<7x3xf32>
//       CHECK:   %[[SUM:.*]] = stablehlo.reduce(%[[ROWS]] init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<7x3xf32>, tensor<f32>) -> tensor<7xf32>
//       CHECK:   %[[ABOVE:.*]] = stablehlo.compare GT, %[[SUM]], %{{.*}} : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
//       CHECK:   %[[NEGATED:.*]] = stablehlo.negate %[[ROWS]]
//       CHECK:   %[[WIDE:.*]] = stablehlo.broadcast_in_dim %[[ABOVE]], dims = [0] : (tensor<7xi1>) -> tensor<7x3xi1>
//       CHECK:   %[[CHOSEN:.*]] = stablehlo.select %[[WIDE]], %[[ROWS]], %[[NEGATED]]
//       CHECK:   %[[UNIT:.*]] = stablehlo.broadcast_in_dim %[[CHOSEN]], dims = [0, 2] : (tensor<7x3xf32>) -> tensor<7x1x3xf32>
//       CHECK:   %[[LAST:.*]] = stablehlo.constant dense<7> : tensor<i32>
//       CHECK:   %[[ALL:.*]] = stablehlo.reshape %[[UNIT]] : (tensor<7x1x3xf32>) -> tensor<7x3xf32>
//       CHECK:   return %[[LAST]], %[[ALL]]
func.func @rows(%x: tensor<7x3xf32>, %empty: tensor<7x3xf32>) -> (tensor<i32>, tensor<7x3xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %r:2 = stablehlo.while(%i = %zero, %y = %empty) : tensor<i32>, tensor<7x3xf32>
  cond {
    %c = stablehlo.compare LT, %i, %seven, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %part = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 3] : (tensor<7x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %row = stablehlo.reshape %part : (tensor<1x3xf32>) -> tensor<3xf32>
    %sum = stablehlo.reduce(%row init: %none) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    %above = stablehlo.compare GT, %sum, %none, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %negated = stablehlo.negate %row : tensor<3xf32>
    %chosen = stablehlo.select %above, %row, %negated : tensor<i1>, tensor<3xf32>
    %unit = stablehlo.broadcast_in_dim %chosen, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %set = stablehlo.dynamic_update_slice %y, %unit, %i, %zero : (tensor<7x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<7x3xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %set : tensor<i32>, tensor<7x3xf32>
  }
  return %r#0, %r#1 : tensor<i32>, tensor<7x3xf32>
}

// -----

// From the end on, by an index that is counted from the end where it is below zero, and rows in a larger tensor: row
// 8 - i, of which the counter is part of the value, goes to row 4 - i. What an iteration does not change is outside.
// CHECK-LABEL: func.func @backwards(
//  CHECK-SAME:   %[[X:.*]]: tensor<12xf32>, %[[BY:.*]]: tensor<f32>
//   CHECK-NOT:   stablehlo.while
//       CHECK:   %[[PART:.*]] = stablehlo.slice %[[X]] [4:9] : (tensor<12xf32>) -> tensor<5xf32>
//       CHECK:   %[[TURNED:.*]] = stablehlo.reverse %[[PART]], dims = [0]
//       CHECK:   stablehlo.reshape %[[TURNED]]
//       CHECK:   %[[SINE:.*]] = stablehlo.sine %[[BY]] : tensor<f32>
//       CHECK:   stablehlo.broadcast_in_dim %[[SINE]], dims = [] : (tensor<f32>) -> tensor<5xf32>
//       CHECK:   stablehlo.iota dim = 0 : tensor<5xi32>
//       CHECK:   %[[ALL:.*]] = stablehlo.reshape
//       CHECK:   %[[BACK:.*]] = stablehlo.reverse %[[ALL]], dims = [0] : tensor<5xf32>
//       CHECK:   return %[[BACK]]
func.func @backwards(%x: tensor<12xf32>, %by: tensor<f32>, %empty: tensor<5xf32>) -> tensor<5xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %eight = stablehlo.constant dense<8> : tensor<i32>
  %twelve = stablehlo.constant dense<12> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %second = %zero, %y = %empty) : tensor<i32>, tensor<i32>, tensor<5xf32>
  cond {
    %c = stablehlo.compare LT, %i, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %from = stablehlo.subtract %eight, %second : tensor<i32>
    %below = stablehlo.compare LT, %from, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %end = stablehlo.add %from, %twelve : tensor<i32>
    %at = stablehlo.select %below, %end, %from : tensor<i1>, tensor<i32>
    %part = stablehlo.dynamic_slice %x, %at, sizes = [1] : (tensor<12xf32>, tensor<i32>) -> tensor<1xf32>
    %element = stablehlo.reshape %part : (tensor<1xf32>) -> tensor<f32>
    %sine = stablehlo.sine %by : tensor<f32>
    %product = stablehlo.multiply %element, %sine : tensor<f32>
    %number = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
    %sum = stablehlo.add %product, %number : tensor<f32>
    %to = stablehlo.subtract %four, %i : tensor<i32>
    %index = stablehlo.broadcast_in_dim %to, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %set = "stablehlo.scatter"(%y, %index, %sum) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%old: tensor<f32>, %new: tensor<f32>):
      stablehlo.return %new : tensor<f32>
    }) : (tensor<5xf32>, tensor<1xi32>, tensor<f32>) -> tensor<5xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %step = stablehlo.add %second, %one : tensor<i32>
    stablehlo.return %next, %step, %set : tensor<i32>, tensor<i32>, tensor<5xf32>
  }
  return %r#2 : tensor<5xf32>
}

// -----

// These have something in common: a sum that is carried; an element that the iteration before has written; the last
// index, which several iterations are moved back to. The last one would make 5 x 64 numbers of 64.
// CHECK-LABEL: func.func @loops_that_stay(
// CHECK-COUNT-4: stablehlo.while
func.func @loops_that_stay(%x: tensor<5xf32>, %wide: tensor<64xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %carried:3 = stablehlo.while(%i = %zero, %s = %none, %y = %x) : tensor<i32>, tensor<f32>, tensor<5xf32>
  cond {
    %c = stablehlo.compare LT, %i, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %part = stablehlo.dynamic_slice %x, %i, sizes = [1] : (tensor<5xf32>, tensor<i32>) -> tensor<1xf32>
    %element = stablehlo.reshape %part : (tensor<1xf32>) -> tensor<f32>
    %sum = stablehlo.add %s, %element : tensor<f32>
    %set = stablehlo.dynamic_update_slice %y, %part, %i : (tensor<5xf32>, tensor<1xf32>, tensor<i32>) -> tensor<5xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %sum, %set : tensor<i32>, tensor<f32>, tensor<5xf32>
  }
  %chained:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<5xf32>
  cond {
    %c = stablehlo.compare LT, %i, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %part = stablehlo.dynamic_slice %y, %zero, sizes = [1] : (tensor<5xf32>, tensor<i32>) -> tensor<1xf32>
    %twice = stablehlo.add %part, %part : tensor<1xf32>
    %set = stablehlo.dynamic_update_slice %y, %twice, %i : (tensor<5xf32>, tensor<1xf32>, tensor<i32>) -> tensor<5xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %set : tensor<i32>, tensor<5xf32>
  }
  %moved:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<5xf32>
  cond {
    %c = stablehlo.compare LT, %i, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at = stablehlo.add %i, %two : tensor<i32>
    %part = stablehlo.dynamic_slice %x, %at, sizes = [1] : (tensor<5xf32>, tensor<i32>) -> tensor<1xf32>
    %set = stablehlo.dynamic_update_slice %y, %part, %i : (tensor<5xf32>, tensor<1xf32>, tensor<i32>) -> tensor<5xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %set : tensor<i32>, tensor<5xf32>
  }
  %large:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<5xf32>
  cond {
    %c = stablehlo.compare LT, %i, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %part = stablehlo.dynamic_slice %x, %i, sizes = [1] : (tensor<5xf32>, tensor<i32>) -> tensor<1xf32>
    %element = stablehlo.reshape %part : (tensor<1xf32>) -> tensor<f32>
    %all = stablehlo.broadcast_in_dim %element, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %products = stablehlo.multiply %all, %wide : tensor<64xf32>
    %sum = stablehlo.reduce(%products init: %none) applies stablehlo.add across dimensions = [0] : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
    %unit = stablehlo.reshape %sum : (tensor<f32>) -> tensor<1xf32>
    %set = stablehlo.dynamic_update_slice %y, %unit, %i : (tensor<5xf32>, tensor<1xf32>, tensor<i32>) -> tensor<5xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %set : tensor<i32>, tensor<5xf32>
  }
  return %carried#2, %chained#1, %moved#1, %large#1 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}
