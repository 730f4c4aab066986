// RUN: shard-opt %s --spmd-import --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=4]>
// expected-error@+1 {{'spmd.order' is "1=zigzag", but dim 1 is not cut there; an order is one of blocks}}
func.func @main(%x: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, spmd.order = "1=zigzag"}) -> tensor<16x4xf32> {
  return %x : tensor<16x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<16x4xf32>) -> tensor<16x4xf32> {
  // expected-error@+1 {{'spmd.order' is "0=striped", expected DIM=zigzag, such as "2=zigzag"}}
  %y = sdy.sharding_constraint %x <@mesh, [{"x"}, {}]> {spmd.order = "0=striped"} : tensor<16x4xf32>
  return %y : tensor<16x4xf32>
}
