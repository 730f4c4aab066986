// A ring of more than eight turns is a loop, and its length does not follow the number of ranks.
// RUN: shard-opt %s --spmd-propagate --spmd-partition --spmd-communicate | FileCheck %s
// RUN: shard-opt %s --spmd-propagate --spmd-partition --spmd-communicate | wc -l > %t.16
// RUN: sed 's/"x"=16/"x"=64/' %s > %t.mlir
// RUN: shard-opt %t.mlir --spmd-propagate --spmd-partition --spmd-communicate | wc -l > %t.64
// RUN: diff %t.16 %t.64
spmd.mesh @mesh = <["x"=16]>
#q = affine_map<(h, q, k, d, e) -> (h, q, d)>
#k = affine_map<(h, q, k, d, e) -> (h, k, d)>
#v = affine_map<(h, q, k, d, e) -> (h, k, e)>
#out = affine_map<(h, q, k, d, e) -> (h, q, e)>
#row = affine_map<(h, q, k, d, e) -> (h, q)>
// Keys and values are passed on while they are met; whose they are follows from the rank and the turn. The last turn passes nothing.
// CHECK-LABEL: func.func @even(
//   CHECK-DAG:   %[[PLACE:.*]] = local.lookup [0, 1, 2, {{.*}}, 15] along ["x"] on @mesh
//       CHECK:   %[[BOTH:.*]] = tensor.concat dim(2) %arg1, %arg2
//       CHECK:   stablehlo.while
//       CHECK:   } do {
//       CHECK:     %[[T:.*]] = local.exchange_start %[[BLOCK:.*]] : tensor<2x64x12xf32>
//       CHECK:     arith.addi %[[PLACE]]
//       CHECK:     arith.remui
//       CHECK:     pairs.pair_step softmax
//       CHECK:     local.exchange_wait %[[T]] of %[[BLOCK]] "rebalance" [<dim 1 along ["x"] : [0:64, 64:128, {{.*}}, 960:1024] -> [64:128, {{.*}}, 960:1024, 0:64]>]
//  CHECK-SAME:       reason "'pairs.all_pairs' passes blocks round a ring of 16"
//       CHECK:     stablehlo.return
//   CHECK-NOT:   exchange
//       CHECK:   pairs.pair_step softmax
//   CHECK-NOT:   pairs.pair_step
//       CHECK:   return
func.func @even(%q: tensor<2x1024x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>},
                %k: tensor<2x1024x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>},
                %v: tensor<2x1024x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>})
    -> (tensor<2x1024x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %0:3 = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #out, #row, #row] {pairs.way = #pairs.way<ring>} score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<2x1024x4xf32>, tensor<2x1024x4xf32>, tensor<2x1024x8xf32>) -> (tensor<2x1024x8xf32>, tensor<2x1024xf32>, tensor<2x1024xf32>)
  return %0#0 : tensor<2x1024x8xf32>
}
