// RUN: shard-opt %s --spmd-raise-all-pairs --cse | FileCheck %s

// No maximum, and the sum divides afterwards.
// CHECK-LABEL: func.func @divided_last(
//  CHECK-SAME:   %[[Q:.*]]: tensor<8x4xf32>, %[[K:.*]]: tensor<6x4xf32>, %[[V:.*]]: tensor<6x3xf32>
//  CHECK-NEXT:   %[[OUT:.*]]:3 = pairs.all_pairs softmax %[[Q]], %[[K]], %[[V]] maps [{{.*}}] score {
//  CHECK-NEXT:   ^bb0(%[[RAW:.*]]: tensor<f32>, %{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>):
//  CHECK-NEXT:     pairs.yield %[[RAW]]
//  CHECK-NEXT:   } : (tensor<8x4xf32>, tensor<6x4xf32>, tensor<6x3xf32>) -> (tensor<8x3xf32>, tensor<8xf32>, tensor<8xf32>)
//  CHECK-NEXT:   return %[[OUT]]#0
func.func @divided_last(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x3xf32>) -> tensor<8x3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %e = stablehlo.exponential %s : tensor<8x6xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
  %ev = stablehlo.dot_general %e, %v, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x3xf32>) -> tensor<8x3xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<8xf32>) -> tensor<8x3xf32>
  %o = stablehlo.divide %ev, %b : tensor<8x3xf32>
  return %o : tensor<8x3xf32>
}

// A window: keys from three before a query to itself. Its rows all have a key.
// CHECK-LABEL: func.func @window(
//       CHECK:   pairs.all_pairs softmax {{.*}} {band_lower = -3 : i64, band_upper = 0 : i64} score {
//       CHECK-NOT: exponential
func.func @window(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x3xf32>) -> tensor<8x3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %minus = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %i = stablehlo.iota dim = 0 : tensor<8x8xi32>
  %j = stablehlo.iota dim = 1 : tensor<8x8xi32>
  %three = stablehlo.constant dense<3> : tensor<8x8xi32>
  %first = stablehlo.subtract %i, %three : tensor<8x8xi32>
  %after = stablehlo.compare GE, %j, %first, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
  %before = stablehlo.compare LE, %j, %i, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
  %in = stablehlo.and %after, %before : tensor<8x8xi1>
  %out = stablehlo.broadcast_in_dim %minus, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
  %masked = stablehlo.select %in, %s, %out : tensor<8x8xi1>, tensor<8x8xf32>
  %m = stablehlo.reduce(%masked init: %minus) applies stablehlo.maximum across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  %shifted = stablehlo.subtract %masked, %mb : tensor<8x8xf32>
  %e = stablehlo.exponential %shifted : tensor<8x8xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  %p = stablehlo.divide %e, %lb : tensor<8x8xf32>
  %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  return %o : tensor<8x3xf32>
}

// The last two queries have no key in the band: theirs is the average of all keys, which a
// band would skip.
// CHECK-LABEL: func.func @empty_rows(
//       CHECK:   pairs.all_pairs softmax
//   CHECK-NOT:   band_
//       CHECK:   return
func.func @empty_rows(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x3xf32>) -> tensor<8x3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %large = stablehlo.constant dense<-1.0e9> : tensor<8x6xf32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %i = stablehlo.iota dim = 0 : tensor<8x6xi32>
  %j = stablehlo.iota dim = 1 : tensor<8x6xi32>
  %in = stablehlo.compare GE, %j, %i, SIGNED : (tensor<8x6xi32>, tensor<8x6xi32>) -> tensor<8x6xi1>
  %masked = stablehlo.select %in, %s, %large : tensor<8x6xi1>, tensor<8x6xf32>
  %e = stablehlo.exponential %masked : tensor<8x6xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
  %p = stablehlo.divide %e, %lb : tensor<8x6xf32>
  %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x3xf32>) -> tensor<8x3xf32>
  return %o : tensor<8x3xf32>
}

// Keys and values are repeated for each of two queries of a group: they lack the group's dim.
// CHECK-LABEL: func.func @repeated_keys(
//  CHECK-SAME:   %[[Q:.*]]: tensor<4x8x5xf32>, %[[K:.*]]: tensor<2x6x5xf32>, %[[V:.*]]: tensor<2x6x3xf32>
//       CHECK:   %[[GROUPS:.*]] = stablehlo.reshape %[[Q]] : (tensor<4x8x5xf32>) -> tensor<2x2x8x5xf32>
//       CHECK:   pairs.all_pairs softmax %[[GROUPS]], %[[K]], %[[V]]
func.func @repeated_keys(%q: tensor<4x8x5xf32>, %k: tensor<2x6x5xf32>, %v: tensor<2x6x3xf32>) -> tensor<4x8x3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %kb = stablehlo.broadcast_in_dim %k, dims = [0, 2, 3] : (tensor<2x6x5xf32>) -> tensor<2x2x6x5xf32>
  %kr = stablehlo.reshape %kb : (tensor<2x2x6x5xf32>) -> tensor<4x6x5xf32>
  %vb = stablehlo.broadcast_in_dim %v, dims = [0, 2, 3] : (tensor<2x6x3xf32>) -> tensor<2x2x6x3xf32>
  %vr = stablehlo.reshape %vb : (tensor<2x2x6x3xf32>) -> tensor<4x6x3xf32>
  %s = stablehlo.dot_general %q, %kr, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x8x5xf32>, tensor<4x6x5xf32>) -> tensor<4x8x6xf32>
  %e = stablehlo.exponential %s : tensor<4x8x6xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x8x6xf32>, tensor<f32>) -> tensor<4x8xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x8x6xf32>
  %p = stablehlo.divide %e, %lb : tensor<4x8x6xf32>
  %o = stablehlo.dot_general %p, %vr, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x8x6xf32>, tensor<4x6x3xf32>) -> tensor<4x8x3xf32>
  return %o : tensor<4x8x3xf32>
}

// A softmax over features, then a sum over tokens: linear attention has no pair of tokens.
// CHECK-LABEL: func.func @linear_attention(
//   CHECK-NOT:   pairs.all_pairs
//       CHECK:   return
func.func @linear_attention(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x3xf32>) -> tensor<8x3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %k : tensor<8x4xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %p = stablehlo.divide %e, %lb : tensor<8x4xf32>
  %kv = stablehlo.dot_general %p, %v, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  %o = stablehlo.dot_general %q, %kv, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  return %o : tensor<8x3xf32>
}

// One block of keys: a running maximum is subtracted, and nothing is divided yet. A condition masks the exponentials.
// CHECK-LABEL: func.func @block(
//  CHECK-SAME:   %[[Q:.*]]: tensor<8x4xf32>, %[[K:.*]]: tensor<6x4xf32>, %[[V:.*]]: tensor<6x3xf32>, %[[KEEP:.*]]: tensor<6xi1>, %[[M:.*]]: tensor<8xf32>
//       CHECK:   %[[OUT:.*]]:3 = pairs.all_pairs softmax unnormalized %[[Q]], %[[K]], %[[V]] extras(%[[KEEP]]) maps [{{.*}}] score {
//       CHECK:     %[[LOW:.*]] = stablehlo.constant dense<0xFF800000>
//       CHECK:     stablehlo.select %{{.*}}, %{{.*}}, %[[LOW]]
//       CHECK:   %[[LEAST:.*]] = stablehlo.maximum %[[OUT]]#1, %{{.*}}
//       CHECK:   %[[NEW:.*]] = stablehlo.maximum %[[M]], %[[LEAST]]
//       CHECK:   %[[SHIFT:.*]] = stablehlo.subtract %[[OUT]]#1, %[[NEW]]
//       CHECK:   %[[FACTOR:.*]] = stablehlo.exponential %[[SHIFT]]
//       CHECK:   %[[SUM:.*]] = stablehlo.multiply %[[OUT]]#2, %[[FACTOR]]
//       CHECK:   %[[ACC:.*]] = stablehlo.multiply %[[OUT]]#0
//       CHECK:   return %[[NEW]], %[[SUM]], %[[ACC]]
func.func @block(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x3xf32>, %keep: tensor<6xi1>, %m: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8x3xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %minus = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<0.0> : tensor<8x6xf32>
  %low = stablehlo.constant dense<-1.0e30> : tensor<8x6xf32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %keeps = stablehlo.broadcast_in_dim %keep, dims = [1] : (tensor<6xi1>) -> tensor<8x6xi1>
  %masked = stablehlo.select %keeps, %s, %low : tensor<8x6xi1>, tensor<8x6xf32>
  %most = stablehlo.reduce(%masked init: %minus) applies stablehlo.maximum across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
  %new = stablehlo.maximum %m, %most : tensor<8xf32>
  %mb = stablehlo.broadcast_in_dim %new, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
  %shifted = stablehlo.subtract %masked, %mb : tensor<8x6xf32>
  %e = stablehlo.exponential %shifted : tensor<8x6xf32>
  %p = stablehlo.select %keeps, %e, %none : tensor<8x6xi1>, tensor<8x6xf32>
  %l = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
  %acc = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x3xf32>) -> tensor<8x3xf32>
  return %new, %l, %acc : tensor<8xf32>, tensor<8xf32>, tensor<8x3xf32>
}

// The gradient of one block, as flash attention has it: probabilities anew, from the logarithm of each row's sum.
// CHECK-LABEL: func.func @block_gradient(
//  CHECK-SAME:   %[[Q:.*]]: tensor<8x4xf32>, %[[K:.*]]: tensor<6x4xf32>, %[[V:.*]]: tensor<6x3xf32>, %[[LSE:.*]]: tensor<8xf32>, %[[DELTA:.*]]: tensor<8xf32>, %[[DOUT:.*]]: tensor<8x3xf32>
//  CHECK-NEXT:   %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = pairs.attention_backward %[[Q]], %[[K]], %[[V]], %[[LSE]], %[[DELTA]], %[[DOUT]] maps
//       CHECK:   } slope {
//       CHECK:     stablehlo.multiply %{{.*}}, %{{.*}} : tensor<f32>
//       CHECK:   return %[[DQ]], %[[DK]], %[[DV]]
func.func @block_gradient(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x3xf32>, %lse: tensor<8xf32>, %delta: tensor<8xf32>,
                          %dout: tensor<8x3xf32>) -> (tensor<8x4xf32>, tensor<6x4xf32>, tensor<6x3xf32>) {
  %half = stablehlo.constant dense<0.5> : tensor<8x6xf32>
  %raw = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %s = stablehlo.multiply %raw, %half : tensor<8x6xf32>
  %rows = stablehlo.broadcast_in_dim %lse, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
  %shifted = stablehlo.subtract %s, %rows : tensor<8x6xf32>
  %p = stablehlo.exponential %shifted : tensor<8x6xf32>
  %dp = stablehlo.dot_general %dout, %v, contracting_dims = [1] x [1] : (tensor<8x3xf32>, tensor<6x3xf32>) -> tensor<8x6xf32>
  %deltas = stablehlo.broadcast_in_dim %delta, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
  %less = stablehlo.subtract %dp, %deltas : tensor<8x6xf32>
  %product = stablehlo.multiply %p, %less : tensor<8x6xf32>
  %ds = stablehlo.multiply %product, %half : tensor<8x6xf32>
  %dq = stablehlo.dot_general %ds, %k, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  %dk = stablehlo.dot_general %ds, %q, contracting_dims = [0] x [0] : (tensor<8x6xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
  %dv = stablehlo.dot_general %p, %dout, contracting_dims = [0] x [0] : (tensor<8x6xf32>, tensor<8x3xf32>) -> tensor<6x3xf32>
  return %dq, %dk, %dv : tensor<8x4xf32>, tensor<6x4xf32>, tensor<6x3xf32>
}

// Two products of dims of their own, one of keys that all heads share, are one of both: there is no tensor of scores.
// CHECK-LABEL: func.func @two_products(
//  CHECK-SAME:   %[[Q:.*]]: tensor<2x8x4xf32>, %[[K:.*]]: tensor<2x6x4xf32>, %[[R:.*]]: tensor<2x8x3xf32>, %[[S:.*]]: tensor<6x3xf32>, %[[V:.*]]: tensor<2x6x5xf32>
//       CHECK:   %[[TWO:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<2x8x4xf32>
//       CHECK:   %[[TWICE:.*]] = stablehlo.multiply %[[Q]], %[[TWO]]
//       CHECK:   %[[QR:.*]] = stablehlo.concatenate %[[R]], %[[TWICE]], dim = 2 : (tensor<2x8x3xf32>, tensor<2x8x4xf32>) -> tensor<2x8x7xf32>
//       CHECK:   %[[SHARED:.*]] = stablehlo.broadcast_in_dim %[[S]], dims = [1, 2] : (tensor<6x3xf32>) -> tensor<2x6x3xf32>
//       CHECK:   %[[KS:.*]] = stablehlo.concatenate %[[SHARED]], %[[K]], dim = 2
//       CHECK:   pairs.all_pairs softmax %[[QR]], %[[KS]], %[[V]] maps
//  CHECK-NEXT:   ^bb0(%[[RAW:.*]]: tensor<f32>, %{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>):
//       CHECK:     %[[EIGHTH:.*]] = stablehlo.constant dense<1.250000e-01> : tensor<f32>
//  CHECK-NEXT:     %[[SCORE:.*]] = stablehlo.multiply %[[RAW]], %[[EIGHTH]] : tensor<f32>
//  CHECK-NEXT:     pairs.yield %[[SCORE]]
func.func @two_products(%q: tensor<2x8x4xf32>, %k: tensor<2x6x4xf32>, %r: tensor<2x8x3xf32>, %s: tensor<6x3xf32>, %v: tensor<2x6x5xf32>) -> tensor<2x8x5xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x8x4xf32>, tensor<2x6x4xf32>) -> tensor<2x8x6xf32>
  %b = stablehlo.dot_general %r, %s, contracting_dims = [2] x [1] : (tensor<2x8x3xf32>, tensor<6x3xf32>) -> tensor<2x8x6xf32>
  %c = stablehlo.constant dense<0.25> : tensor<2x8x6xf32>
  %d = stablehlo.constant dense<0.125> : tensor<2x8x6xf32>
  %ac = stablehlo.multiply %a, %c : tensor<2x8x6xf32>
  %bd = stablehlo.multiply %d, %b : tensor<2x8x6xf32>
  %scores = stablehlo.add %bd, %ac : tensor<2x8x6xf32>
  %e = stablehlo.exponential %scores : tensor<2x8x6xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x8x6xf32>, tensor<f32>) -> tensor<2x8xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<2x8xf32>) -> tensor<2x8x6xf32>
  %p = stablehlo.divide %e, %lb : tensor<2x8x6xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x8x6xf32>, tensor<2x6x5xf32>) -> tensor<2x8x5xf32>
  return %o : tensor<2x8x5xf32>
}

// The second product has a function of its own: it is a bias, and stays a tensor.
// CHECK-LABEL: func.func @product_of_its_own(
//       CHECK:   %[[BIAS:.*]] = stablehlo.dot_general %arg2, %arg3
//       CHECK:   pairs.all_pairs softmax %arg0, %arg1, %arg4 extras(%[[BIAS]])
func.func @product_of_its_own(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>, %r: tensor<8x3xf32>, %s: tensor<6x3xf32>, %v: tensor<6x5xf32>) -> tensor<8x5xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %b = stablehlo.dot_general %r, %s, contracting_dims = [1] x [1] : (tensor<8x3xf32>, tensor<6x3xf32>) -> tensor<8x6xf32>
  %t = stablehlo.tanh %b : tensor<8x6xf32>
  %scores = stablehlo.add %a, %t : tensor<8x6xf32>
  %e = stablehlo.exponential %scores : tensor<8x6xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
  %p = stablehlo.divide %e, %lb : tensor<8x6xf32>
  %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x5xf32>) -> tensor<8x5xf32>
  return %o : tensor<8x5xf32>
}
