// RUN: shard-opt %s --spmd-import --spmd-raise --spmd-propagate --spmd-partition --spmd-communicate | FileCheck %s

// As in cut-sums.mlir, but a second product needs all of %x: it is gathered once for both.
// CHECK-LABEL: func.func @main(
//   CHECK-NOT:   all_to_all
//       CHECK:   all_gather
//   CHECK-NOT:   all_to_all
//   CHECK-NOT:   reduce_scatter
//       CHECK:   return
sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<4096x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<8x8xf32>, tensor<4096x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<4096x8xf32>, tensor<4096x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4096x8xf32>, tensor<8x8xf32>) -> tensor<4096x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<4096x8xf32>
}
