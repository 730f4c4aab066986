// RUN: shard-opt %s --spmd-recompute-scores | FileCheck %s
// What a loop keeps of scores for the loop of its gradient follows from queries and keys, which it keeps too.

// CHECK-LABEL: func @kept(
//       CHECK:   %[[F:.*]]:4 = stablehlo.while(
//   CHECK-NOT:   tensor<3x16x16xf32>
//       CHECK:   stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[Q:.*]] = %[[F]]#2, %[[X:.*]] = %[[F]]#3)
//       CHECK:   } do {
//       CHECK:     %[[J:.*]] = stablehlo.subtract
//       CHECK:     %[[A:.*]] = stablehlo.dynamic_slice %[[Q]], %[[J]],
//       CHECK:     %[[QUERIES:.*]] = stablehlo.reshape %[[A]]
//       CHECK:     %[[B:.*]] = stablehlo.dynamic_slice %[[X]], %[[J]],
//       CHECK:     %[[KEYS:.*]] = stablehlo.reshape %[[B]]
//       CHECK:     %[[S:.*]] = stablehlo.dot_general %[[QUERIES]], %[[KEYS]]
//       CHECK:     %[[E:.*]] = stablehlo.exponential %[[S]]
//   CHECK-NOT:   tensor<3x16x16xf32>
//       CHECK:   return
func.func @kept(%x: tensor<16x4xf32>, %w: tensor<3x4x4xf32>) -> tensor<16x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<3x16x4xf32>
  %scores = stablehlo.constant dense<0.0> : tensor<3x16x16xf32>
  %f:5 = stablehlo.while(%y = %x, %i = %zero, %qs = %none, %xs = %none, %es = %scores)
      : tensor<16x4xf32>, tensor<i32>, tensor<3x16x4xf32>, tensor<3x16x4xf32>, tensor<3x16x16xf32>
  cond {
    %go = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %ws = stablehlo.dynamic_slice %w, %i, %zero, %zero, sizes = [1, 4, 4] : (tensor<3x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xf32>
    %wi = stablehlo.reshape %ws : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
    %q = stablehlo.dot_general %y, %wi, contracting_dims = [1] x [0] : (tensor<16x4xf32>, tensor<4x4xf32>) -> tensor<16x4xf32>
    %s = stablehlo.dot_general %q, %y, contracting_dims = [1] x [1] : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x16xf32>
    %e = stablehlo.exponential %s : tensor<16x16xf32>
    %o = stablehlo.dot_general %e, %y, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %q1 = stablehlo.reshape %q : (tensor<16x4xf32>) -> tensor<1x16x4xf32>
    %nq = stablehlo.dynamic_update_slice %qs, %q1, %i, %zero, %zero : (tensor<3x16x4xf32>, tensor<1x16x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x16x4xf32>
    %x1 = stablehlo.reshape %y : (tensor<16x4xf32>) -> tensor<1x16x4xf32>
    %nx = stablehlo.dynamic_update_slice %xs, %x1, %i, %zero, %zero : (tensor<3x16x4xf32>, tensor<1x16x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x16x4xf32>
    %e1 = stablehlo.broadcast_in_dim %e, dims = [1, 2] : (tensor<16x16xf32>) -> tensor<1x16x16xf32>
    %ne = stablehlo.dynamic_update_slice %es, %e1, %i, %zero, %zero : (tensor<3x16x16xf32>, tensor<1x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x16x16xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %o, %n, %nq, %nx, %ne : tensor<16x4xf32>, tensor<i32>, tensor<3x16x4xf32>, tensor<3x16x4xf32>, tensor<3x16x16xf32>
  }
  %g:5 = stablehlo.while(%y = %f#0, %i = %zero, %qs = %f#2, %xs = %f#3, %es = %f#4)
      : tensor<16x4xf32>, tensor<i32>, tensor<3x16x4xf32>, tensor<3x16x4xf32>, tensor<3x16x16xf32>
  cond {
    %go = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %j = stablehlo.subtract %two, %i : tensor<i32>
    %es1 = stablehlo.dynamic_slice %es, %j, %zero, %zero, sizes = [1, 16, 16] : (tensor<3x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x16xf32>
    %e = stablehlo.reshape %es1 : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
    %o = stablehlo.dot_general %e, %y, contracting_dims = [0] x [0] : (tensor<16x16xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %o, %n, %qs, %xs, %es : tensor<16x4xf32>, tensor<i32>, tensor<3x16x4xf32>, tensor<3x16x4xf32>, tensor<3x16x16xf32>
  }
  return %g#0 : tensor<16x4xf32>
}

// The keys are not kept, and follow from the iteration before.
// CHECK-LABEL: func @keys_are_gone(
//       CHECK:   stablehlo.while({{.*}}tensor<3x16x16xf32>
//       CHECK:   stablehlo.while({{.*}}tensor<3x16x16xf32>
//       CHECK:     stablehlo.dynamic_slice {{.*}} -> tensor<1x16x16xf32>
func.func @keys_are_gone(%x: tensor<16x4xf32>) -> tensor<16x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %scores = stablehlo.constant dense<0.0> : tensor<3x16x16xf32>
  %f:3 = stablehlo.while(%y = %x, %i = %zero, %es = %scores) : tensor<16x4xf32>, tensor<i32>, tensor<3x16x16xf32>
  cond {
    %go = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %s = stablehlo.dot_general %y, %y, contracting_dims = [1] x [1] : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x16xf32>
    %e = stablehlo.exponential %s : tensor<16x16xf32>
    %o = stablehlo.dot_general %e, %y, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %e1 = stablehlo.reshape %e : (tensor<16x16xf32>) -> tensor<1x16x16xf32>
    %ne = stablehlo.dynamic_update_slice %es, %e1, %i, %zero, %zero : (tensor<3x16x16xf32>, tensor<1x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x16x16xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %o, %n, %ne : tensor<16x4xf32>, tensor<i32>, tensor<3x16x16xf32>
  }
  %g:3 = stablehlo.while(%y = %f#0, %i = %zero, %es = %f#2) : tensor<16x4xf32>, tensor<i32>, tensor<3x16x16xf32>
  cond {
    %go = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %es1 = stablehlo.dynamic_slice %es, %i, %zero, %zero, sizes = [1, 16, 16] : (tensor<3x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x16xf32>
    %e = stablehlo.reshape %es1 : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
    %o = stablehlo.dot_general %e, %y, contracting_dims = [0] x [0] : (tensor<16x16xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %o, %n, %es : tensor<16x4xf32>, tensor<i32>, tensor<3x16x16xf32>
  }
  return %g#0 : tensor<16x4xf32>
}
