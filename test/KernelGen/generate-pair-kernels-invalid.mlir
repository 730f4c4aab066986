// RUN: shard-opt %s --spmd-generate-pair-kernels --split-input-file --verify-diagnostics

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>
func.func @depth_of_unknown_size(%q: memref<40x?xf32>, %k: memref<50x?xf32>, %acc: memref<40xf32>) {
  %zero = arith.constant 0 : index
  // expected-error @+1 {{has a depth of unknown size, expected a static one; do not cut that dim unevenly}}
  pairs.pair_step sum ins(%q, %k : memref<40x?xf32>, memref<50x?xf32>) at (%zero, %zero) outs(%acc : memref<40xf32>)
      maps [#q, #k, #row] score {
  ^bb0(%raw: f32, %i: i32, %j: i32):
    pairs.yield %raw : f32
  }
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>
func.func @state_of_another_type(%q: memref<40x3xf32>, %k: memref<50x3xf32>, %acc: memref<40xf64>) {
  %zero = arith.constant 0 : index
  // expected-error @+1 {{has a state of type 'memref<40xf64>', expected 'f32'}}
  pairs.pair_step sum ins(%q, %k : memref<40x3xf32>, memref<50x3xf32>) at (%zero, %zero) outs(%acc : memref<40xf64>)
      maps [#q, #k, #row] score {
  ^bb0(%raw: f32, %i: i32, %j: i32):
    pairs.yield %raw : f32
  }
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>
func.func @tensors(%q: tensor<40x8xf32>, %k: tensor<50x8xf32>, %acc: tensor<40xf32>) -> tensor<40xf32> {
  %zero = arith.constant 0 : index
  // expected-error @+1 {{is on tensors, expected buffers}}
  %0 = pairs.pair_step sum ins(%q, %k : tensor<40x8xf32>, tensor<50x8xf32>) at (%zero, %zero) outs(%acc : tensor<40xf32>)
      maps [#q, #k, #row] score {
  ^bb0(%raw: f32, %i: i32, %j: i32):
    pairs.yield %raw : f32
  } -> tensor<40xf32>
  return %0 : tensor<40xf32>
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>
func.func @region_on_tensors(%q: tensor<40x8xf32>, %k: tensor<50x8xf32>, %acc: tensor<40xf32>) -> tensor<40xf32> {
  %zero = arith.constant 0 : index
  // expected-error @+1 {{has a region on tensors; run --spmd-lower-to-linalg first}}
  %0 = pairs.pair_step sum ins(%q, %k : tensor<40x8xf32>, tensor<50x8xf32>) at (%zero, %zero) outs(%acc : tensor<40xf32>)
      maps [#q, #k, #row] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } -> tensor<40xf32>
  return %0 : tensor<40xf32>
}
