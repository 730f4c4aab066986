// RUN: shard-opt %s --split-input-file --verify-diagnostics --spmd-verify-communication

spmd.mesh @mesh = <["x"=2]>
func.func @never_waited(%x: tensor<8x4xf32>) attributes {spmd.local_view} {
  // expected-error@+1 {{has no 'local.exchange_wait', expected one}}
  %t = local.exchange_start %x : tensor<8x4xf32>
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @other_value(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>, %zero: tensor<f32>) -> tensor<10x4xf32> attributes {spmd.local_view} {
  // expected-error@+1 {{starts one value, but another is waited for}}
  %t = local.exchange_start %x : tensor<8x4xf32>
  // expected-note@+1 {{waited for here}}
  %h = local.exchange_wait %t of %y "halo_exchange" [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %zero : tensor<f32> on @mesh : tensor<8x4xf32> -> tensor<10x4xf32>
  return %h : tensor<10x4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @no_start(%x: tensor<8x4xf32>, %t: i64, %zero: tensor<f32>) -> tensor<10x4xf32> attributes {spmd.local_view} {
  // expected-error@+1 {{waits for a token that no 'local.exchange_start' gave}}
  %h = local.exchange_wait %t of %x "halo_exchange" [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %zero : tensor<f32> on @mesh : tensor<8x4xf32> -> tensor<10x4xf32>
  return %h : tensor<10x4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @other_block(%x: tensor<8x4xf32>, %p: tensor<i1>, %zero: tensor<f32>) -> tensor<10x4xf32> attributes {spmd.local_view} {
  // expected-error@+1 {{is not waited for in its own block}}
  %t = local.exchange_start %x : tensor<8x4xf32>
  %r = scf.execute_region -> tensor<10x4xf32> {
    %h = local.exchange_wait %t of %x "halo_exchange" [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %zero : tensor<f32> on @mesh : tensor<8x4xf32> -> tensor<10x4xf32>
    scf.yield %h : tensor<10x4xf32>
  }
  return %r : tensor<10x4xf32>
}
