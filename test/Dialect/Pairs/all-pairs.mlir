// RUN: shard-opt %s | shard-opt | FileCheck %s

#q = affine_map<(b, q, k, d, e) -> (b, q, d)>
#k = affine_map<(b, q, k, d, e) -> (b, k, d)>
#v = affine_map<(b, q, k, d, e) -> (b, k, e)>
#o = affine_map<(b, q, k, d, e) -> (b, q, e)>
#row = affine_map<(b, q, k, d, e) -> (b, q)>
#col = affine_map<(b, q, k, d, e) -> (b, k)>

// CHECK-LABEL: func.func @attention(
//  CHECK-SAME:   %[[Q:.*]]: tensor<4x32x64xbf16>, %[[K:.*]]: tensor<4x48x64xbf16>, %[[V:.*]]: tensor<4x48x16xbf16>, %[[PAD:.*]]: tensor<4x48xi1>
func.func @attention(%q: tensor<4x32x64xbf16>, %k: tensor<4x48x64xbf16>, %v: tensor<4x48x16xbf16>, %pad: tensor<4x48xi1>)
    -> (tensor<4x32x16xbf16>, tensor<4x32xf32>, tensor<4x32xf32>) {
  // CHECK: pairs.all_pairs softmax %[[Q]], %[[K]], %[[V]] extras(%[[PAD]]) maps [{{.*}}] {band_upper = 0 : i64} score {
  %out, %max, %sum = pairs.all_pairs softmax %q, %k, %v extras(%pad) maps [#q, #k, #v, #col, #o, #row, #row] {band_upper = 0 : i64} score {
  // CHECK-NEXT: ^bb0(%[[RAW:.*]]: tensor<f32>, %{{.*}}: tensor<i1>, %{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>):
  ^bb0(%raw: tensor<f32>, %keep: tensor<i1>, %b: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %minus = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %seen = stablehlo.compare GE, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %both = stablehlo.and %seen, %keep : tensor<i1>
    %s = stablehlo.select %both, %raw, %minus : tensor<i1>, tensor<f32>
    pairs.yield %s : tensor<f32>
  } : (tensor<4x32x64xbf16>, tensor<4x48x64xbf16>, tensor<4x48x16xbf16>, tensor<4x48xi1>)
      -> (tensor<4x32x16xbf16>, tensor<4x32xf32>, tensor<4x32xf32>)
  return %out, %max, %sum : tensor<4x32x16xbf16>, tensor<4x32xf32>, tensor<4x32xf32>
}

// One block of keys: what it adds up to, divided by nothing yet.
// CHECK-LABEL: func.func @block(
func.func @block(%q: tensor<4x32x64xf32>, %k: tensor<4x48x64xf32>, %v: tensor<4x48x16xf32>) -> tensor<4x32x16xf32> {
  // CHECK: pairs.all_pairs softmax unnormalized %{{.*}}, %{{.*}}, %{{.*}} maps
  %out, %max, %sum = pairs.all_pairs softmax unnormalized %q, %k, %v maps [#q, #k, #v, #o, #row, #row] score {
  ^bb0(%raw: tensor<f32>, %b: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<4x32x64xf32>, tensor<4x48x64xf32>, tensor<4x48x16xf32>) -> (tensor<4x32x16xf32>, tensor<4x32xf32>, tensor<4x32xf32>)
  return %out : tensor<4x32x16xf32>
}

// Dropout of half the weights.
// CHECK-LABEL: func.func @backward(
func.func @backward(%q: tensor<4x32x64xf32>, %k: tensor<4x48x64xf32>, %v: tensor<4x48x16xf32>, %max: tensor<4x32xf32>,
                    %delta: tensor<4x32xf32>, %dout: tensor<4x32x16xf32>, %keep: tensor<32x48xi1>, %bias: tensor<32x48xf32>)
    -> (tensor<4x32x64xf32>, tensor<4x48x64xf32>, tensor<4x48x16xf32>, tensor<32x48xf32>) {
  // CHECK: pairs.attention_backward %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} extras(%{{.*}}, %{{.*}}) maps [{{.*}}] score {
  // CHECK: } weight {
  // CHECK: } slope {
  %dq, %dk, %dv, %dbias = pairs.attention_backward %q, %k, %v, %max, %delta, %dout extras(%keep, %bias)
      maps [#q, #k, #v, #row, #row, #o, affine_map<(b, q, k, d, e) -> (q, k)>, affine_map<(b, q, k, d, e) -> (q, k)>,
            #q, #k, #v, affine_map<(b, q, k, d, e) -> (q, k)>] score {
  ^bb0(%raw: tensor<f32>, %m: tensor<i1>, %add: tensor<f32>, %b: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %s = stablehlo.add %raw, %add : tensor<f32>
    pairs.yield %s : tensor<f32>
  } weight {
  ^bb0(%p: tensor<f32>, %m: tensor<i1>, %add: tensor<f32>, %b: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %twice = stablehlo.add %p, %p : tensor<f32>
    %w = stablehlo.select %m, %twice, %zero : tensor<i1>, tensor<f32>
    pairs.yield %w : tensor<f32>
  } slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %m: tensor<i1>, %add: tensor<f32>, %b: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %ds, %ds : tensor<f32>, tensor<f32>
  } : (tensor<4x32x64xf32>, tensor<4x48x64xf32>, tensor<4x48x16xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32x16xf32>, tensor<32x48xi1>, tensor<32x48xf32>)
    -> (tensor<4x32x64xf32>, tensor<4x48x64xf32>, tensor<4x48x16xf32>, tensor<32x48xf32>)
  return %dq, %dk, %dv, %dbias : tensor<4x32x64xf32>, tensor<4x48x64xf32>, tensor<4x48x16xf32>, tensor<32x48xf32>
}

// The three nearest points: scores are squared distances, negated.
// CHECK-LABEL: func.func @nearest(
func.func @nearest(%x: tensor<32x3xf32>, %y: tensor<48x3xf32>) -> (tensor<32x3xf32>, tensor<32x3xi32>) {
  // CHECK: pairs.all_pairs top_k %{{.*}}, %{{.*}} maps [{{.*}}] pair {
  %far, %which = pairs.all_pairs top_k %x, %y
      maps [affine_map<(q, k, d, e) -> (q, d)>, affine_map<(q, k, d, e) -> (k, d)>,
            affine_map<(q, k, d, e) -> (q, e)>, affine_map<(q, k, d, e) -> (q, e)>] pair {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.subtract %a, %b : tensor<f32>
    %d = stablehlo.multiply %c, %c : tensor<f32>
    pairs.yield %d : tensor<f32>
  } score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %s = stablehlo.negate %raw : tensor<f32>
    pairs.yield %s : tensor<f32>
  } : (tensor<32x3xf32>, tensor<48x3xf32>) -> (tensor<32x3xf32>, tensor<32x3xi32>)
  return %far, %which : tensor<32x3xf32>, tensor<32x3xi32>
}
