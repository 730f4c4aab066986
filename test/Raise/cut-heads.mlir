// RUN: shard-opt %s --split-input-file --spmd-cut-heads | FileCheck %s
// RUN: shard-opt %s --split-input-file --spmd-cut-heads --spmd-mark-whole-sums | FileCheck %s --check-prefix=SUMS
// Attention whose keys are cut is made by ranks that have whole heads, so that each row's sum is one rank's.

spmd.mesh @mesh = <["x"=4]>
// CHECK-LABEL: func.func @tokens(
//  CHECK-SAME:   %[[Q:.*]]: tensor<2x8x4xf32> {{.*}} %[[K:.*]]: tensor<2x8x4xf32> {{.*}} %[[V:.*]]: tensor<2x8x4xf32>
//       CHECK:   %[[ROWS:.*]] = spmd.constrain %[[Q]] <@mesh, [{}, {"x", ?}, {?}]>
//       CHECK:   %[[HEADS:.*]] = spmd.constrain %[[ROWS]] <@mesh, [{"x"}, {}, {?}]>
//       CHECK:   %{{.*}}:3 = pairs.all_pairs softmax %[[HEADS]], %{{.*}}, %{{.*}}
//       CHECK:   %[[OUT:.*]] = spmd.constrain %{{.*}}#0 <@mesh, [{"x"}, {}, {?}]>
//       CHECK:   %[[BACK:.*]] = spmd.constrain %[[OUT]] <@mesh, [{}, {"x", ?}, {?}]>
//       CHECK:   return %[[BACK]]
// SUMS-LABEL: func.func @tokens(
//       SUMS:   pairs.all_pairs softmax
//  SUMS-SAME:     spmd.whole_sum
func.func @tokens(%q: tensor<2x8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>},
                  %k: tensor<2x8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>},
                  %v: tensor<2x8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>}) -> tensor<2x8x4xf32> {
  %out, %max, %sum = pairs.all_pairs softmax %q, %k, %v
      maps [affine_map<(h, q, k, d, e) -> (h, q, d)>, affine_map<(h, q, k, d, e) -> (h, k, d)>, affine_map<(h, q, k, d, e) -> (h, k, e)>,
            affine_map<(h, q, k, d, e) -> (h, q, e)>, affine_map<(h, q, k, d, e) -> (h, q)>, affine_map<(h, q, k, d, e) -> (h, q)>]
      score {
      ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
        pairs.yield %raw : tensor<f32>
      } : (tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> (tensor<2x8x4xf32>, tensor<2x8xf32>, tensor<2x8xf32>)
  return %out : tensor<2x8x4xf32>
}

// -----

spmd.mesh @mesh = <["x"=4]>
// Whole already, and cut along heads alone: as it is.
// CHECK-LABEL: func.func @heads(
//   CHECK-NOT:   spmd.constrain
func.func @heads(%q: tensor<2x8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}, {}]>}, %k: tensor<2x8x4xf32>,
                 %v: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %out, %max, %sum = pairs.all_pairs softmax %q, %k, %v
      maps [affine_map<(h, q, k, d, e) -> (h, q, d)>, affine_map<(h, q, k, d, e) -> (h, k, d)>, affine_map<(h, q, k, d, e) -> (h, k, e)>,
            affine_map<(h, q, k, d, e) -> (h, q, e)>, affine_map<(h, q, k, d, e) -> (h, q)>, affine_map<(h, q, k, d, e) -> (h, q)>]
      score {
      ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
        pairs.yield %raw : tensor<f32>
      } : (tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> (tensor<2x8x4xf32>, tensor<2x8xf32>, tensor<2x8xf32>)
  return %out : tensor<2x8x4xf32>
}

// -----

spmd.mesh @mesh = <["x"=4]>
// No dim that queries, keys and values share.
// CHECK-LABEL: func.func @no_heads(
//   CHECK-NOT:   spmd.constrain
func.func @no_heads(%q: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                    %k: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}, %v: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %out, %max, %sum = pairs.all_pairs softmax %q, %k, %v
      maps [affine_map<(q, k, d, e) -> (q, d)>, affine_map<(q, k, d, e) -> (k, d)>, affine_map<(q, k, d, e) -> (k, e)>,
            affine_map<(q, k, d, e) -> (q, e)>, affine_map<(q, k, d, e) -> (q)>, affine_map<(q, k, d, e) -> (q)>]
      score {
      ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
        pairs.yield %raw : tensor<f32>
      } : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>)
  return %out : tensor<8x4xf32>
}
