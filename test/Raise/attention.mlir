// RUN: shard-opt %s --spmd-raise-all-pairs --cse | FileCheck %s

// No maximum, and the sum divides afterwards.
// CHECK-LABEL: func.func @divided_last(
//  CHECK-SAME:   %[[Q:.*]]: tensor<8x4xf32>, %[[K:.*]]: tensor<6x4xf32>, %[[V:.*]]: tensor<6x3xf32>
//  CHECK-NEXT:   %[[OUT:.*]]:3 = spmd.all_pairs softmax %[[Q]], %[[K]], %[[V]] maps [{{.*}}] score {
//  CHECK-NEXT:   ^bb0(%[[RAW:.*]]: tensor<f32>, %{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>):
//  CHECK-NEXT:     spmd.yield %[[RAW]]
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
//       CHECK:   spmd.all_pairs softmax {{.*}} {band_lower = -3 : i64, band_upper = 0 : i64} score {
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
//       CHECK:   spmd.all_pairs softmax
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
//       CHECK:   spmd.all_pairs softmax %[[GROUPS]], %[[K]], %[[V]]
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
//   CHECK-NOT:   spmd.all_pairs
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
