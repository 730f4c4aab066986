// RUN: shard-opt %s --split-input-file --spmd-deal-blocks=choose | FileCheck %s
// RUN: shard-opt %s --split-input-file --spmd-deal-blocks | FileCheck %s --check-prefix=ASKED
// RUN: shard-opt %s --split-input-file --spmd-propagate=keep-order | FileCheck %s --check-prefix=ASKED
// Where causal ops in a row would each put their queries in zigzag order, all is put in it once, and nothing else: by what costs least.
// ASKED-NOT: spmd.deal

spmd.mesh @mesh = <["x"=4]>
#q = affine_map<(h, q, k, d, e) -> (h, q, d)>
#k = affine_map<(h, q, k, d, e) -> (h, k, d)>
#v = affine_map<(h, q, k, d, e) -> (h, k, e)>
#o = affine_map<(h, q, k, d, e) -> (h, q, e)>
#r = affine_map<(h, q, k, d, e) -> (h, q)>
!t = tensor<8x4096x64xf32>
!r = tensor<8x4096xf32>
// One op of itself: queries and results move either way.
// CHECK-LABEL: func @one(
//   CHECK-NOT:   spmd.deal
//       CHECK:   spmd.order_note = "order zigzag not carried through the program: dealing out takes more than the {{[0-9.]+}} ms that 1 op on all pairs would gain"
func.func @one(%q: !t {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>}, %k: !t, %v: !t) -> !t {
  %o, %m, %l = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #o, #r, #r] {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i0: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (!t, !t, !t) -> (!t, !r, !r)
  return %o : !t
}

// The results are put in order where they are small: before the product, whose other end somebody reads in order.
// CHECK-LABEL: func @two(
//  CHECK-SAME:   %[[X:[^:]*]]: tensor<8x4096x64xf32>
//       CHECK:   %[[D:.*]] = spmd.deal %[[X]] dim 1 sizes [1024, 1024, 1024, 1024] reason "for 'pairs.all_pairs' at {{.*}} (order zigzag carried through the program for 2 ops on all pairs: dealing out takes {{[0-9.]+}} ms, each op for itself {{[0-9.]+}} ms more)"
//       CHECK:   %[[A:.*]]:3 = pairs.all_pairs softmax %[[D]], %[[D]], %[[D]]{{.*}} key_order = array<i64: 1024, 1024, 1024, 1024>, query_order = array<i64: 1024, 1024, 1024, 1024>
//       CHECK:   %[[S:.*]] = stablehlo.sine %[[A]]#0
//       CHECK:   %[[B:.*]]:3 = pairs.all_pairs softmax %[[S]], %[[S]], %[[S]]
//       CHECK:   %[[BACK:.*]] = spmd.deal %[[B]]#0 dim 1 sizes [1024, 1024, 1024, 1024] back
//       CHECK:   %[[P:.*]] = stablehlo.dot_general %[[BACK]],
//       CHECK:   stablehlo.slice %[[P]]
func.func @two(%x: !t {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>}, %w: tensor<64x900xf32>) -> tensor<8x4095x900xf32> {
  %a, %m, %l = pairs.all_pairs softmax %x, %x, %x maps [#q, #k, #v, #o, #r, #r] {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i0: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (!t, !t, !t) -> (!t, !r, !r)
  %s = stablehlo.sine %a : !t
  %b, %m1, %l1 = pairs.all_pairs softmax %s, %s, %s maps [#q, #k, #v, #o, #r, #r] {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i0: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (!t, !t, !t) -> (!t, !r, !r)
  %p = stablehlo.dot_general %b, %w, contracting_dims = [2] x [0] : (!t, tensor<64x900xf32>) -> tensor<8x4096x900xf32>
  %n = stablehlo.slice %p [0:8, 1:4096, 0:900] : (tensor<8x4096x900xf32>) -> tensor<8x4095x900xf32>
  return %n : tensor<8x4095x900xf32>
}

// In a loop one op is enough: it would reorder in each iteration.
// CHECK-LABEL: func @loop(
//       CHECK:   %[[D:.*]] = spmd.deal %arg0
//   CHECK-NOT:   spmd.deal
//       CHECK:   stablehlo.while(%{{.*}} = %[[D]],
//   CHECK-NOT:   spmd.deal
//       CHECK:   spmd.deal %{{.*}} back
//  CHECK-NEXT:   return
func.func @loop(%x: !t {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>}) -> !t {
  %n = stablehlo.constant dense<6> : tensor<i32>
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%y = %x, %i = %c) : !t, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %a, %m, %l = pairs.all_pairs softmax %y, %y, %y maps [#q, #k, #v, #o, #r, #r] {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i0: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (!t, !t, !t) -> (!t, !r, !r)
    %one = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %a, %2 : !t, tensor<i32>
  }
  return %0#0 : !t
}

// Shards of the user's sizes would be uneven work in that order; each op makes them even for itself. A way that is said is gone.
// CHECK-LABEL: func @uneven(
//   CHECK-NOT:   spmd.deal
// CHECK-LABEL: func @said(
//   CHECK-NOT:   spmd.deal
func.func @uneven(%x: !t {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x" sizes [4000, 0, 90, 6]}, {}]>}) -> !t {
  %a, %m, %l = pairs.all_pairs softmax %x, %x, %x maps [#q, #k, #v, #o, #r, #r] {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i0: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (!t, !t, !t) -> (!t, !r, !r)
  %b, %m1, %l1 = pairs.all_pairs softmax %a, %a, %a maps [#q, #k, #v, #o, #r, #r] {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i0: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (!t, !t, !t) -> (!t, !r, !r)
  return %b : !t
}
func.func @said(%x: !t {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>}) -> !t {
  %a, %m, %l = pairs.all_pairs softmax %x, %x, %x maps [#q, #k, #v, #o, #r, #r] {band_upper = 0 : i64, pairs.way = #pairs.way<zigzag>} score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i0: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (!t, !t, !t) -> (!t, !r, !r)
  %b, %m1, %l1 = pairs.all_pairs softmax %a, %a, %a maps [#q, #k, #v, #o, #r, #r] {band_upper = 0 : i64, pairs.way = #pairs.way<zigzag>} score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i0: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (!t, !t, !t) -> (!t, !r, !r)
  return %b : !t
}
