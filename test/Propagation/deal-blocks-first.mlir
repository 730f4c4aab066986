// RUN: shard-opt %s --spmd-propagate-shardings --verify-diagnostics
// An order that nobody has put elements in is not left out.

spmd.mesh @mesh = <["x"=2]>
// expected-error @below {{sharding has dim 0 in 'order zigzag'; run --spmd-deal-blocks first}}
func.func @main(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" order zigzag}]>}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
