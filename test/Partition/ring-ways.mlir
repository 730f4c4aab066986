// RUN: shard-opt %s --split-input-file --spmd-propagate --spmd-partition --verify-diagnostics | FileCheck %s

spmd.mesh @mesh = <["x"=4]>
#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#v = affine_map<(q, k, d, e) -> (k, e)>
#out = affine_map<(q, k, d, e) -> (q, e)>
#row = affine_map<(q, k, d, e) -> (q)>
// Of eight parts of the queries rank r takes the r-th and the r-th from the end. Keys stay in blocks, of which comes what either part needs.
// CHECK-LABEL: func.func @main(
//   CHECK-DAG:   %[[FRONT:.*]] = local.lookup [0, 2, 4, 6] along ["x"]
//   CHECK-DAG:   %[[BACK:.*]] = local.lookup [14, 12, 10, 8] along ["x"]
//   CHECK-DAG:   %[[OWN:.*]] = local.lookup [0, 4, 8, 12] along ["x"]
//       CHECK:   %[[QF:.*]] = local.halo_exchange %arg0 [<dim 0 along ["x"] : [0:4, 4:8, 8:12, 12:16] -> [0:2, 2:4, 4:6, 6:8]>]
//  CHECK-SAME:     takes queries in zigzag order
//       CHECK:   %[[QB:.*]] = local.halo_exchange %arg0 [<dim 0 along ["x"] : [0:4, 4:8, 8:12, 12:16] -> [14:16, 12:14, 10:12, 8:10]>]
//       CHECK:   pairs.pair_step softmax ins(%[[QF]], %arg1, %arg2 {{.*}} at(%[[FRONT]], %[[OWN]])
//       CHECK:   pairs.pair_step softmax ins(%[[QB]], %arg1, %arg2 {{.*}} at(%[[BACK]], %[[OWN]])
//       CHECK:   -> [4:8, 8:12, 12:12, 0:4]>]
//       CHECK:   pairs.pair_step softmax ins(%[[QF]],
//       CHECK:   pairs.pair_step softmax ins(%[[QB]],
//       CHECK:   -> [8:12, 12:14, 0:4, 4:8]>]
//       CHECK:   -> [12:16, 0:4, 4:8, 8:10]>]
//       CHECK:   local.rebalance {{.*}} [<dim 0 along ["x"] : [0:2, 2:4, 4:6, 6:8] -> [0:4, 4:8, 0:0, 0:0]>]
//       CHECK:   local.rebalance {{.*}} [<dim 0 along ["x"] : [6:8, 4:6, 2:4, 0:2] -> [0:0, 0:0, 0:4, 4:8]>]
//       CHECK:   tensor.concat dim(0)
func.func @main(%q: tensor<16x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %k: tensor<16x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %v: tensor<16x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<16x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}) {
  %0:3 = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #out, #row, #row] {band_upper = 0 : i64, pairs.way = #pairs.way<zigzag>} score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<16xf32>, tensor<16xf32>)
  return %0#0 : tensor<16x8xf32>
}

// -----

spmd.mesh @mesh = <["x"=4]>
#q = affine_map<(h, q, k, d, e) -> (h, q, d)>
#k = affine_map<(h, q, k, d, e) -> (k, d)>
#v = affine_map<(h, q, k, d, e) -> (k, e)>
#out = affine_map<(h, q, k, d, e) -> (h, q, e)>
#row = affine_map<(h, q, k, d, e) -> (h, q)>
// Many heads share one of keys and values: all of them are less than a rank's queries, and one meeting is less than three.
// CHECK-LABEL: func.func @main(
//       CHECK:   local.all_gather {{.*}} reason "'pairs.all_pairs' takes all keys at once (ring {{[0-9.]+}} ms, gather {{[0-9.]+}} ms)"
//       CHECK:   pairs.pair_step softmax
//   CHECK-NOT:   pairs.pair_step
func.func @main(%q: tensor<32x16x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>},
                %k: tensor<16x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %v: tensor<16x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<32x16x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %0:3 = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #out, #row, #row] score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<32x16x4xf32>, tensor<16x4xf32>, tensor<16x8xf32>) -> (tensor<32x16x8xf32>, tensor<32x16xf32>, tensor<32x16xf32>)
  return %0#0 : tensor<32x16x8xf32>
}

// -----

spmd.mesh @mesh = <["x"=8]>
#q = affine_map<(h, q, k, d, e) -> (h, q, d)>
#k = affine_map<(h, q, k, d, e) -> (h, k, d)>
#row = affine_map<(h, q, k, d, e) -> (h, q)>
// A window as wide as two blocks: all that a rank needs comes in one halo, less than it has queries.
// CHECK-LABEL: func.func @main(
//       CHECK:   local.halo_exchange {{.*}} [<dim 1 along ["x"] : [0:2, 2:4, 4:6, 6:8, 8:10, 10:12, 12:14, 14:16] -> [0:2, 0:4, 1:6, 3:8, 5:10, 7:12, 9:14, 11:16]>]
//       CHECK:   pairs.pair_step sum
//   CHECK-NOT:   pairs.pair_step
func.func @main(%q: tensor<3x16x16xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>},
                %k: tensor<3x16x16xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>})
    -> (tensor<3x16xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = pairs.all_pairs sum %q, %k maps [#q, #k, #row] {band_lower = -3 : i64, band_upper = 0 : i64, pairs.way = #pairs.way<gather>} score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<3x16x16xf32>, tensor<3x16x16xf32>) -> tensor<3x16xf32>
  return %0 : tensor<3x16xf32>
}

// -----

spmd.mesh @mesh = <["x"=2, "y"=2]>
#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>
// Two axes make one ring of four; where they cut keys in another order, blocks follow it.
// CHECK-LABEL: func.func @main(
//       CHECK:   <dim 0 along ["y", "x"] : [0:2, 2:4, 4:6, 6:8] -> [2:4, 4:6, 6:8, 0:2]>
//  CHECK-SAME:     meets block 1 of 4 of a ring
//       CHECK:   <dim 0 along ["y", "x"] : [0:2, 2:4, 4:6, 6:8] -> [4:6, 6:8, 0:2, 2:4]>
//       CHECK:   <dim 0 along ["y", "x"] : [0:2, 2:4, 4:6, 6:8] -> [6:8, 0:2, 2:4, 4:6]>
func.func @main(%q: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x", "y"}, {}]>},
                %k: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"y", "x"}, {}]>})
    -> (tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x", "y"}]>}) {
  %0 = pairs.all_pairs max %q, %k maps [#q, #k, #row] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>
func.func @main(%q: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %k: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{'pairs.all_pairs' op asks for pairs.way = "zigzag", expected one of those that it can go: "ring", "gather"}}
  %0 = pairs.all_pairs max %q, %k maps [#q, #k, #row] {pairs.way = #pairs.way<zigzag>} score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
