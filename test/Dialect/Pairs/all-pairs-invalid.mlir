// RUN: shard-opt %s --split-input-file --verify-diagnostics

#q = affine_map<(b, q, k, d, e) -> (b, q, d)>
#k = affine_map<(b, q, k, d, e) -> (b, k, d)>
#v = affine_map<(b, q, k, d, e) -> (b, k, e)>
#o = affine_map<(b, q, k, d, e) -> (b, q, e)>
#row = affine_map<(b, q, k, d, e) -> (b, q)>
func.func @maps(%q: tensor<2x8x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error @below {{'pairs.all_pairs' op has 4 maps, expected 6: one for each operand and result}}
  %out, %max, %sum = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #o] score {
  ^bb0(%raw: tensor<f32>, %b: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<2x8x4xf32>, tensor<2x6x4xf32>, tensor<2x6x3xf32>) -> (tensor<2x8x3xf32>, tensor<2x8xf32>, tensor<2x8xf32>)
  return
}

// -----

#q = affine_map<(b, q, k, d, e) -> (b, q, d)>
#k = affine_map<(b, q, k, d, e) -> (b, k, d)>
#v = affine_map<(b, q, k, d, e) -> (b, k, e)>
#o = affine_map<(b, q, k, d, e) -> (b, q, e)>
#row = affine_map<(b, q, k, d, e) -> (b, q)>
func.func @sizes(%q: tensor<2x8x4xf32>, %k: tensor<2x6x5xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error @below {{'pairs.all_pairs' op key has 5 elements along the depth dim (d3), but another has 4}}
  %out, %max, %sum = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #o, #row, #row] score {
  ^bb0(%raw: tensor<f32>, %b: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<2x8x4xf32>, tensor<2x6x5xf32>, tensor<2x6x3xf32>) -> (tensor<2x8x3xf32>, tensor<2x8xf32>, tensor<2x8xf32>)
  return
}

// -----

#q = affine_map<(b, q, k, d, e) -> (b, q, d)>
#k = affine_map<(b, q, k, d, e) -> (b, k, d)>
#v = affine_map<(b, q, k, d, e) -> (b, k, e)>
#o = affine_map<(b, q, k, d, e) -> (b, q, e)>
#col = affine_map<(b, q, k, d, e) -> (b, k)>
func.func @rows(%q: tensor<2x8x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x3xf32>) {
  // expected-error @below {{'pairs.all_pairs' op result 1 has the key dim, which it cannot have}}
  %out, %max, %sum = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #o, #col, #col] score {
  ^bb0(%raw: tensor<f32>, %b: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<2x8x4xf32>, tensor<2x6x4xf32>, tensor<2x6x3xf32>) -> (tensor<2x8x3xf32>, tensor<2x6xf32>, tensor<2x6xf32>)
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>
func.func @region(%q: tensor<8x4xf64>, %k: tensor<6x4xf64>) {
  // expected-error @below {{'pairs.all_pairs' op region 'score' takes ('tensor<f32>', 'tensor<i32>', 'tensor<i32>'), expected ('tensor<f64>', 'tensor<i32>', 'tensor<i32>')}}
  %out = pairs.all_pairs max %q, %k maps [#q, #k, #row] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<8x4xf64>, tensor<6x4xf64>) -> tensor<8xf64>
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>
func.func @no_value(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>) {
  // expected-error @below {{'pairs.all_pairs' op lacks a value, which 'softmax' weighs}}
  %out, %max, %sum = pairs.all_pairs softmax %q, %k maps [#q, #k, #row, #row, #row] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<8x4xf32>, tensor<6x4xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>
func.func @unnormalized(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>) {
  // expected-error @below {{'pairs.all_pairs' op is 'unnormalized', which belongs to 'softmax', not 'max'}}
  %out = pairs.all_pairs max unnormalized %q, %k maps [#q, #k, #row] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8xf32>
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>
func.func @order(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>) {
  // expected-error @below {{has 'key_order' array<i64: 4, 4>, expected sizes of shards that add up to the 6 elements of the key dim}}
  %out = pairs.all_pairs max %q, %k maps [#q, #k, #row] {key_order = array<i64: 4, 4>} score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8xf32>
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>
func.func @formula_without_order(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>) {
  // expected-error @below {{has 'query_formula' #spmd.formula<given [0, 0, 8]>, but no sizes of shards}}
  %out = pairs.all_pairs max %q, %k maps [#q, #k, #row] {query_formula = #spmd.formula<given [0, 0, 8]>} score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8xf32>
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>
func.func @order_by_intervals(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>) {
  // expected-error @below {{has 'key_formula' #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 8]>)>, expected a formula of boundaries}}
  %out = pairs.all_pairs max %q, %k maps [#q, #k, #row]
      {key_formula = #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 8]>)>, key_order = array<i64: 4, 4>} score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#v = affine_map<(q, k, d, e) -> (k, e)>
#row = affine_map<(q, k, d, e) -> (q)>
#o = affine_map<(q, k, d, e) -> (q, e)>
func.func @gradient_by_intervals(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x5xf32>, %max: tensor<8xf32>, %dout: tensor<8x5xf32>) {
  // expected-error @below {{has 'query_formula' #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 8]>)>, expected a formula of boundaries}}
  %dq, %dk, %dv = pairs.attention_backward %q, %k, %v, %max, %max, %dout maps [#q, #k, #v, #row, #row, #o, #q, #k, #v]
      {query_formula = #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 8]>)>, query_order = array<i64: 4, 4>} score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } weight {
  ^bb0(%p: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %p : tensor<f32>
  } slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %ds : tensor<f32>
  } : (tensor<8x4xf32>, tensor<6x4xf32>, tensor<6x5xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x5xf32>)
      -> (tensor<8x4xf32>, tensor<6x4xf32>, tensor<6x5xf32>)
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#best = affine_map<(q, k, d, e) -> (q, e)>
func.func @order_of_the_best(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>) {
  // expected-error @below {{has dims in zigzag order, which 'top_k' cannot have}}
  %out:2 = pairs.all_pairs top_k %q, %k maps [#q, #k, #best, #best] {query_order = array<i64: 4, 4>} score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<8x4xf32>, tensor<6x4xf32>) -> (tensor<8x3xf32>, tensor<8x3xi32>)
  return
}

// -----

#q = affine_map<(q, k, d) -> (q, d)>
#k = affine_map<(q, k, d) -> (k, d)>
#row = affine_map<(q, k, d) -> (q)>
func.func @too_few(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>) {
  // expected-error @below {{'pairs.all_pairs' op has maps over 3 dims, expected at least query, key, depth and feature}}
  %out = pairs.all_pairs max %q, %k maps [#q, #k, #row] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8xf32>
  return
}

// -----

#q = affine_map<(b, q, k, d, e) -> (b, q, d)>
#k = affine_map<(b, q, k, d, e) -> (b, k, d)>
#row = affine_map<(b, q, k, d, e) -> (q)>
func.func @batch(%q: tensor<2x8x4xf32>, %k: tensor<2x6x4xf32>) {
  // expected-error @below {{'pairs.all_pairs' op result 0 lacks batch dim d0}}
  %out = pairs.all_pairs max %q, %k maps [#q, #k, #row] score {
  ^bb0(%raw: tensor<f32>, %b: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<2x8x4xf32>, tensor<2x6x4xf32>) -> tensor<8xf32>
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#v = affine_map<(q, k, d, e) -> (k, e)>
#row = affine_map<(q, k, d, e) -> (q)>
func.func @weighed_maximum(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x3xf32>) {
  // expected-error @below {{'pairs.all_pairs' op has a value, which 'max' cannot weigh}}
  %out = pairs.all_pairs max %q, %k, %v maps [#q, #k, #v, #row] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<8x4xf32>, tensor<6x4xf32>, tensor<6x3xf32>) -> tensor<8xf32>
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>
func.func @no_yield(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>) {
  // expected-error @below {{'pairs.all_pairs' op region 'score' must end in 'pairs.yield'}}
  %out = pairs.all_pairs max %q, %k maps [#q, #k, #row] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    stablehlo.return %raw : tensor<f32>
  } : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8xf32>
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>
func.func @integer_score(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>) {
  // expected-error @below {{'pairs.all_pairs' op region 'score' yields ('tensor<i32>'), expected 1 of the accumulator type 'f32'}}
  %out = pairs.all_pairs max %q, %k maps [#q, #k, #row] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %i : tensor<i32>
  } : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8xf32>
  return
}
