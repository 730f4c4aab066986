// RUN: shard-opt %s --split-input-file --verify-diagnostics --spmd-verify-local

spmd.mesh @mesh = <["x"=2]>
// expected-error@+1 {{lacks 'spmd.local_view': it is not in the local view; run --spmd-partition first}}
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> attributes {spmd.local_view} {
  // expected-error@+1 {{'spmd.reshard' op is left after partition, expected only 'spmd.mesh', 'local', 'pairs'}}
  %0 = spmd.reshard %x <@mesh, [{}]> -> <@mesh, [{"x"}]> reason "a test" : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {spmd.local_view} {
  // expected-error@+1 {{has 'spmd.shardings', which says how a value of the global view is cut, but is left after partition}}
  %0 = stablehlo.negate %x {spmd.shardings = [#spmd.sharding<@mesh, [{"x"}]>]} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {spmd.local_view} {
  // expected-error@+1 {{'spmd.pad' op is left after partition}}
  %0 = spmd.pad wrap %x low = [1] high = [-1] : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
