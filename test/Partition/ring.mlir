// RUN: shard-opt %s --split-input-file --spmd-propagate --spmd-partition --spmd-communicate | FileCheck %s

spmd.mesh @mesh = <["x"=3]>
#q = affine_map<(h, q, k, d, e) -> (h, q, d)>
#k = affine_map<(h, q, k, d, e) -> (h, k, d)>
#v = affine_map<(h, q, k, d, e) -> (h, k, e)>
#out = affine_map<(h, q, k, d, e) -> (h, q, e)>
#row = affine_map<(h, q, k, d, e) -> (h, q)>
// Keys and values travel as one, straight from their owner; both blocks are on their way before the first step.
// CHECK-LABEL: func.func @main(
//       CHECK:   %[[BOTH:.*]] = tensor.concat dim(2) %arg1, %arg2
//       CHECK:   %[[T1:.*]] = local.exchange_start %[[BOTH]] : tensor<2x8x12xf32>
//       CHECK:   pairs.pair_step softmax ins(%arg0, %arg1, %arg2
//       CHECK:   local.exchange_wait %{{.*}} of %[[BOTH]] "rebalance" [<dim 1 along ["x"] : [0:8, 8:16, 16:24] -> [8:16, 16:24, 0:8]>]
//  CHECK-SAME:     reason "'pairs.all_pairs' meets block 1 of 3 of a ring"
//       CHECK:   pairs.pair_step softmax
//       CHECK:   local.exchange_wait %{{.*}} of %[[BOTH]] "rebalance" [<dim 1 along ["x"] : [0:8, 8:16, 16:24] -> [16:24, 0:8, 8:16]>]
//       CHECK:   pairs.pair_step softmax
//   CHECK-NOT:   all_gather
func.func @main(%q: tensor<2x30x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>},
                %k: tensor<2x24x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>},
                %v: tensor<2x24x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>})
    -> (tensor<2x30x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %0:3 = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #out, #row, #row] score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<2x30x4xf32>, tensor<2x24x4xf32>, tensor<2x24x8xf32>) -> (tensor<2x30x8xf32>, tensor<2x30xf32>, tensor<2x30xf32>)
  return %0#0 : tensor<2x30x8xf32>
}

// -----

spmd.mesh @mesh = <["x"=3]>
#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#v = affine_map<(q, k, d, e) -> (k, e)>
#out = affine_map<(q, k, d, e) -> (q, e)>
#row = affine_map<(q, k, d, e) -> (q)>
// In a window a rank needs the last keys of the block before its own; the step in which nobody needs anything is gone.
// CHECK-LABEL: func.func @main(
//       CHECK:   pairs.pair_step softmax
//       CHECK:   [<dim 0 along ["x"] : [0:8, 8:16, 16:24] -> [16:16, 5:8, 13:16]>]
//       CHECK:   pairs.pair_step softmax
//   CHECK-NOT:   pairs.pair_step
func.func @main(%q: tensor<24x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %k: tensor<24x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %v: tensor<24x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<24x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}) {
  %0:3 = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #out, #row, #row] {band_lower = -3 : i64, band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<24x4xf32>, tensor<24x4xf32>, tensor<24x8xf32>) -> (tensor<24x8xf32>, tensor<24xf32>, tensor<24xf32>)
  return %0#0 : tensor<24x8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#v = affine_map<(q, k, d, e) -> (k, e)>
#out = affine_map<(q, k, d, e) -> (q, e)>
#row = affine_map<(q, k, d, e) -> (q)>
// Queries that every rank has meet the rank's own keys; states are merged.
// CHECK-LABEL: func.func @main(
//       CHECK:   pairs.pair_step softmax
//   CHECK-NOT:   pairs.pair_step
//       CHECK:   local.all_reduce max
//       CHECK:   local.all_reduce sum
func.func @main(%q: tensor<24x4xf32>,
                %k: tensor<24x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %v: tensor<24x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}) -> tensor<24x8xf32> {
  %0:3 = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #out, #row, #row] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<24x4xf32>, tensor<24x4xf32>, tensor<24x8xf32>) -> (tensor<24x8xf32>, tensor<24xf32>, tensor<24xf32>)
  return %0#0 : tensor<24x8xf32>
}
