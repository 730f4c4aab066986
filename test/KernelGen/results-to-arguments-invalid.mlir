// RUN: shard-opt %s --spmd-results-to-arguments --verify-diagnostics

// expected-error @below {{result of type 'f32'; expected ranked tensors, which can be given a buffer}}
func.func @main(%x: f32) -> f32 {
  return %x : f32
}
