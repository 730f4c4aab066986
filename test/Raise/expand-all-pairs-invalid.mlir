// RUN: shard-opt %s --spmd-expand-all-pairs --split-input-file --verify-diagnostics

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>
func.func @unknown_size(%q: tensor<?x4xf32>, %k: tensor<6x4xf32>) -> tensor<?xf32> {
  // expected-error @below {{has a tensor of unknown size, 'tensor<?x4xf32>', and cannot be expanded; expand before partition}}
  %out = pairs.all_pairs max %q, %k maps [#q, #k, #row] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<?x4xf32>, tensor<6x4xf32>) -> tensor<?xf32>
  return %out : tensor<?xf32>
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>
func.func @zigzag(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>) -> tensor<8xf32> {
  // expected-error @below {{has a dim in zigzag order, and cannot be expanded; expand before --spmd-deal-blocks}}
  %out = pairs.all_pairs max %q, %k maps [#q, #k, #row] {query_order = array<i64: 4, 4>} score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8xf32>
  return %out : tensor<8xf32>
}
