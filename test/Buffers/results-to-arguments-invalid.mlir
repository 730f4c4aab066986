// RUN: shard-opt %s --spmd-results-to-arguments --split-input-file --verify-diagnostics

// expected-error @below {{result of type 'f32'; expected ranked tensors, which can be given a buffer}}
func.func @main(%x: f32) -> f32 {
  return %x : f32
}

// -----

// expected-error @below {{body has several blocks; expected structured control flow}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}
