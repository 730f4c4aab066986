// RUN: shard-opt %s --split-input-file --spmd-deal-blocks --verify-diagnostics | FileCheck %s
// An order goes with the elements of a dim as far as these are treated alike; arguments and results stay in order.

spmd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func @through_products(
//  CHECK-SAME:   %[[A:.*]]: tensor<2x8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>}
//       CHECK:   %[[D:.*]] = spmd.deal %[[A]] dim 1 sizes [4, 4]
//       CHECK:   %[[H:.*]] = stablehlo.dot_general %[[D]],
//       CHECK:   %[[R:.*]] = spmd.deal %[[H]] dim 1 sizes [4, 4] back
//       CHECK:   stablehlo.reduce(%[[H]]
//       CHECK:   return %[[R]]
func.func @through_products(%a: tensor<2x8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x" order zigzag}, {}]>},
                            %w: tensor<4x5xf32>) -> (tensor<2x8x5xf32>, tensor<f32>) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [2] x [0] : (tensor<2x8x4xf32>, tensor<4x5xf32>) -> tensor<2x8x5xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %loss = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x8x5xf32>, tensor<f32>) -> tensor<f32>
  return %0, %loss : tensor<2x8x5xf32>, tensor<f32>
}

// Positions, and what is computed of them; sizes given by the user.
// CHECK-LABEL: func @positions(
//       CHECK:   %[[I:.*]] = spmd.dealt_iota sizes [5, 3] : tensor<8xi32>
//       CHECK:   %[[F:.*]] = stablehlo.convert %[[I]] : (tensor<8xi32>) -> tensor<8xf32>
//       CHECK:   %[[B:.*]] = stablehlo.broadcast_in_dim %[[F]], dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>
//       CHECK:   stablehlo.sine %[[B]]
func.func @positions(%a: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [5, 3] order zigzag}, {}]>}) -> tensor<f32> {
  %i = stablehlo.iota dim = 0 : tensor<8x4xf32>
  %s = stablehlo.sine %i : tensor<8x4xf32>
  %0 = stablehlo.multiply %a, %s : tensor<8x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %loss = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// Neighbours are those in order.
// CHECK-LABEL: func @reads_neighbours(
//       CHECK:   %[[E:.*]] = stablehlo.exponential
//       CHECK:   %[[N:.*]] = spmd.deal %[[E]] dim 0 sizes [4, 4] back
//       CHECK:   stablehlo.slice %[[N]] [1:8]
func.func @reads_neighbours(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" order zigzag}]>}) -> tensor<7xf32> {
  %0 = stablehlo.exponential %a : tensor<8xf32>
  // expected-remark@+1 {{'stablehlo.slice' reads operand 0 in order, so it is put in order again: 'tensor<8xf32>'}}
  %1 = stablehlo.slice %0 [1:8] : (tensor<8xf32>) -> tensor<7xf32>
  return %1 : tensor<7xf32>
}

// All that a loop carries on is in one order, from before it to after it.
// CHECK-LABEL: func @loop(
//       CHECK:   %[[D:.*]] = spmd.deal %arg0 dim 0 sizes [4, 4]
//   CHECK-NOT:   spmd.deal
//       CHECK:   stablehlo.while(%{{.*}} = %[[D]],
//   CHECK-NOT:   spmd.deal
//       CHECK:   spmd.deal %{{.*}} dim 0 sizes [4, 4] back
//  CHECK-NEXT:   return
func.func @loop(%a: tensor<8xf32>) -> tensor<8xf32> {
  %n = stablehlo.constant dense<3> : tensor<i32>
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%x = %a, %i = %c) : tensor<8xf32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = spmd.constrain %x <@mesh, [{"x" order zigzag}]> : tensor<8xf32>
    %2 = stablehlo.sine %1 : tensor<8xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %3 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %3 : tensor<8xf32>, tensor<i32>
  }
  return %0#0 : tensor<8xf32>
}

// Both dims of a bias: rows go with queries, columns with keys.
#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#v = affine_map<(q, k, d, e) -> (k, e)>
#o = affine_map<(q, k, d, e) -> (q, e)>
#r = affine_map<(q, k, d, e) -> (q)>
#b = affine_map<(q, k, d, e) -> (q, k)>
// CHECK-LABEL: func @attention(
//       CHECK:   %[[ROWS:.*]] = spmd.deal %arg1 dim 0 sizes [4, 4]
//       CHECK:   %[[BIAS:.*]] = spmd.deal %[[ROWS]] dim 1 sizes [4, 4]
//       CHECK:   pairs.all_pairs softmax {{.*}} extras(%[[BIAS]]) {{.*}}key_order = array<i64: 4, 4>, query_order = array<i64: 4, 4>
func.func @attention(%x: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" order zigzag}, {}]>}, %bias: tensor<8x8xf32>) -> tensor<8x4xf32> {
  %y = stablehlo.negate %x : tensor<8x4xf32>
  %o, %max, %sum = pairs.all_pairs softmax %x, %y, %y extras(%bias) maps [#q, #k, #v, #b, #o, #r, #r] score {
  ^bb0(%raw: tensor<f32>, %more: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %0 = stablehlo.add %raw, %more : tensor<f32>
    pairs.yield %0 : tensor<f32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xf32>) -> (tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>)
  return %o : tensor<8x4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @manual(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{asks for 'order zigzag' in a manual region, whose blocks are in order; ask for it outside}}
  %0 = spmd.manual(%a) in [#spmd.sharding<@mesh, [{"x" order zigzag}]>] out [#spmd.sharding<@mesh, [{"x"}]>] along ["x"] {
  ^bb0(%b: tensor<4xf32>):
    spmd.return %b : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
