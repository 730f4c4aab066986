// RUN: shard-opt %s --spmd-split-pairs --spmd-add-outputs --spmd-raise-all-pairs --spmd-raise-open-rows --spmd-explain-misses --verify-diagnostics

// The weights are wanted as well.
func.func @weights_returned(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x3xf32>) -> (tensor<8x3xf32>, tensor<8x6xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %e = stablehlo.exponential %s : tensor<8x6xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
  // expected-remark @below {{looks like attention, but is left as it is: 'func.return' needs the scores as well}}
  %p = stablehlo.divide %e, %lb : tensor<8x6xf32>
  %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x3xf32>) -> tensor<8x3xf32>
  return %o, %p : tensor<8x3xf32>, tensor<8x6xf32>
}

// Each exponential has something added to it.
func.func @more_than_exponentials(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x3xf32>) -> tensor<8x3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %small = stablehlo.constant dense<0.1> : tensor<8x6xf32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %e = stablehlo.exponential %s : tensor<8x6xf32>
  // expected-remark @below {{looks like attention, but is left as it is: 'stablehlo.add' adds something to the exponentials, or to their sum}}
  %more = stablehlo.add %e, %small : tensor<8x6xf32>
  %l = stablehlo.reduce(%more init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
  %p = stablehlo.divide %more, %lb : tensor<8x6xf32>
  %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x3xf32>) -> tensor<8x3xf32>
  return %o : tensor<8x3xf32>
}

// -----

// Talking heads: the probabilities of one head weigh the values of another.
func.func @talking_heads(%q: tensor<4x32x4xf32>, %k: tensor<4x32x4xf32>, %v: tensor<4x32x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x32x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x32x4xf32>, tensor<4x32x4xf32>) -> tensor<4x32x32xf32>
  %e = stablehlo.exponential %s : tensor<4x32x32xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x32x32xf32>, tensor<f32>) -> tensor<4x32xf32>
  %ls = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x32xf32>
  %p = stablehlo.divide %e, %ls : tensor<4x32x32xf32>
  // expected-remark@+1 {{looks like attention, but is left as it is: 'stablehlo.dot_general' mixes the probabilities before values are summed up with them}}
  %m = stablehlo.dot_general %w, %p, contracting_dims = [0] x [0] : (tensor<4x4xf32>, tensor<4x32x32xf32>) -> tensor<4x32x32xf32>
  %o = stablehlo.dot_general %m, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x32x32xf32>, tensor<4x32x4xf32>) -> tensor<4x32x4xf32>
  return %o : tensor<4x32x4xf32>
}

// -----

// Talking heads: the score of one head is made of those of all.
func.func @talking_scores(%q: tensor<4x32x4xf32>, %k: tensor<4x32x4xf32>, %v: tensor<4x32x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x32x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x32x4xf32>, tensor<4x32x4xf32>) -> tensor<4x32x32xf32>
  // expected-remark@+1 {{looks like attention, but is left as it is: 'stablehlo.dot_general' takes scores of several pairs together before their softmax}}
  %m = stablehlo.dot_general %w, %s, contracting_dims = [0] x [0] : (tensor<4x4xf32>, tensor<4x32x32xf32>) -> tensor<4x32x32xf32>
  %e = stablehlo.exponential %m : tensor<4x32x32xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x32x32xf32>, tensor<f32>) -> tensor<4x32xf32>
  %ls = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x32xf32>
  %p = stablehlo.divide %e, %ls : tensor<4x32x32xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x32x32xf32>, tensor<4x32x4xf32>) -> tensor<4x32x4xf32>
  return %o : tensor<4x32x4xf32>
}
