// RUN: shard-opt %s --spmd-verify-imported --split-input-file --verify-diagnostics

// expected-error @below {{has other functions than @main after import}}
module {
  spmd.mesh @mesh = <["x"=2]>
  func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
  func.func private @other(%a: tensor<8xf32>) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'sdy.propagation_barrier' op is left after import}}
  %0 = sdy.propagation_barrier %a allowed_direction=FORWARD : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// No op of a later level.
spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'local.all_reduce' op is left after import, expected only 'spmd', 'pairs'}}
  %0 = local.all_reduce sum %a along ["x"] on @mesh : tensor<8xf32>
  return %0 : tensor<8xf32>
}
