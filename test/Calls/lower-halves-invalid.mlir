// RUN: shard-opt %s --split-input-file --spmd-lower-communication --verify-diagnostics

spmd.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<8x4xf32>, %t: i64, %zero: tensor<f32>) -> tensor<10x4xf32> attributes {spmd.local_view} {
  // expected-error @below {{'local.exchange_wait' op waits for what is not one 'local.exchange_start'}}
  %h = local.exchange_wait %t of %x "halo_exchange" [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %zero : tensor<f32> on @mesh : tensor<8x4xf32> -> tensor<10x4xf32>
  return %h : tensor<10x4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32>) attributes {spmd.local_view} {
  // expected-error @below {{'spmd.host_call' op is left after partition, expected only 'spmd.mesh', 'local', 'pairs', 'kernel'}}
  spmd.host_call 4(%x) effects : (tensor<4xf32>) -> ()
  return
}
