// RUN: shard-opt %s --split-input-file --verify-diagnostics

#q = affine_map<(q, k, d) -> (q, d)>
#k = affine_map<(q, k, d) -> (k, d)>
#row = affine_map<(q, k, d) -> (q)>
func.func @too_few(%q: tensor<4x3xf32>, %k: tensor<6x3xf32>, %at: index, %m: tensor<4xf32>) {
  // expected-error @below {{'pairs.pair_step' op has maps over 3 dims, expected at least query, key, depth and feature}}
  %0 = pairs.pair_step max ins(%q, %k : tensor<4x3xf32>, tensor<6x3xf32>) at (%at)
      outs(%m : tensor<4xf32>) maps [#q, #k, #row] score {
  ^bb0(%raw: f32, %i: index, %j: index):
    pairs.yield %raw : f32
  } -> tensor<4xf32>
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>
func.func @states(%q: tensor<4x3xf32>, %k: tensor<6x3xf32>, %at: index, %m: tensor<4xf32>) {
  // expected-error @below {{'pairs.pair_step' op has 2 states and 0 rows, which do not belong to it}}
  %0:2 = pairs.pair_step max ins(%q, %k : tensor<4x3xf32>, tensor<6x3xf32>) at (%at, %at)
      outs(%m, %m : tensor<4xf32>, tensor<4xf32>) maps [#q, #k, #row, #row] score {
  ^bb0(%raw: f32, %i: index, %j: index):
    pairs.yield %raw : f32
  } -> tensor<4xf32>, tensor<4xf32>
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d + 1)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>
func.func @shifted(%q: tensor<4x3xf32>, %k: tensor<6x3xf32>, %at: index, %m: tensor<4xf32>) {
  // expected-error @below {{'pairs.pair_step' op has map affine_map<(d0, d1, d2, d3) -> (d0, d2 + 1)> for 'tensor<4x3xf32>', expected each of its dims to be one of 4 dims}}
  %0 = pairs.pair_step max ins(%q, %k : tensor<4x3xf32>, tensor<6x3xf32>) at (%at, %at)
      outs(%m : tensor<4xf32>) maps [#q, #k, #row] score {
  ^bb0(%raw: f32, %i: index, %j: index):
    pairs.yield %raw : f32
  } -> tensor<4xf32>
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#v = affine_map<(q, k, d, e) -> (k, e)>
#row = affine_map<(q, k, d, e) -> (q)>
#o = affine_map<(q, k, d, e) -> (q, e)>
func.func @no_slope(%q: tensor<4x3xf32>, %k: tensor<6x3xf32>, %v: tensor<6x2xf32>, %r: tensor<4xf32>, %d: tensor<4x2xf32>, %at: index) {
  // expected-error @below {{'pairs.pair_step' op is a backward step without value or slope, or not of softmax}}
  %0:3 = pairs.pair_step softmax backward ins(%q, %k, %v : tensor<4x3xf32>, tensor<6x3xf32>, tensor<6x2xf32>)
      rows(%r, %r, %d : tensor<4xf32>, tensor<4xf32>, tensor<4x2xf32>) at (%at, %at)
      outs(%q, %k, %v : tensor<4x3xf32>, tensor<6x3xf32>, tensor<6x2xf32>) maps [#q, #k, #v, #row, #row, #o, #q, #k, #v] score {
  ^bb0(%raw: f32, %i: index, %j: index):
    pairs.yield %raw : f32
  } -> tensor<4x3xf32>, tensor<6x3xf32>, tensor<6x2xf32>
  return
}
