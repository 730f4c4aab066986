// RUN: shard-opt %s --spmd-expand-open-depths | FileCheck %s
// Ops on all pairs whose depth or feature is said when the program is bound are plain ops; others stay.
spmd.mesh @mesh = <["x"=1], #spmd.extents<[dim [0, 1] = 246713]>>
#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#v = affine_map<(q, k, d, e) -> (k, e)>
#row = affine_map<(q, k, d, e) -> (q)>
#out = affine_map<(q, k, d, e) -> (q, e)>

// CHECK-LABEL: func.func @open_depth(
//  CHECK-SAME:   %[[Q:.*]]: tensor<8x246713xf32>, %[[K:.*]]: tensor<6x246713xf32>, %[[V:.*]]: tensor<6x3xf32>
//   CHECK-NOT:   pairs.all_pairs
//       CHECK:   stablehlo.dot_general %[[Q]], %[[K]]
//       CHECK:   stablehlo.exponential
//       CHECK:   stablehlo.dot_general %{{.*}}, %[[V]]
func.func @open_depth(%q: tensor<8x246713xf32>, %k: tensor<6x246713xf32>, %v: tensor<6x3xf32>) -> tensor<8x3xf32> {
  %0:3 = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #out, #row, #row] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<8x246713xf32>, tensor<6x246713xf32>, tensor<6x3xf32>) -> (tensor<8x3xf32>, tensor<8xf32>, tensor<8xf32>)
  return %0#0 : tensor<8x3xf32>
}

// CHECK-LABEL: func.func @open_feature(
//   CHECK-NOT:   pairs.all_pairs
//       CHECK:   stablehlo.exponential
func.func @open_feature(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x246713xf32>) -> tensor<8x246713xf32> {
  %0:3 = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #out, #row, #row] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<8x4xf32>, tensor<6x4xf32>, tensor<6x246713xf32>) -> (tensor<8x246713xf32>, tensor<8xf32>, tensor<8xf32>)
  return %0#0 : tensor<8x246713xf32>
}

// Queries and keys may be open: no row of scratch is as long as they are.
// CHECK-LABEL: func.func @open_keys(
//       CHECK:   pairs.all_pairs softmax
//   CHECK-NOT:   stablehlo
func.func @open_keys(%q: tensor<246713x4xf32>, %k: tensor<246713x4xf32>, %v: tensor<246713x3xf32>) -> tensor<246713x3xf32> {
  %0:3 = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #out, #row, #row] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<246713x4xf32>, tensor<246713x4xf32>, tensor<246713x3xf32>) -> (tensor<246713x3xf32>, tensor<246713xf32>, tensor<246713xf32>)
  return %0#0 : tensor<246713x3xf32>
}
