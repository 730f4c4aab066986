// Rings whose sizes are said when the program is bound: what a rank needs of a block is a formula, and the way is that of the estimate.
// RUN: sed 's/WAY/ring/' %s | shard-opt --spmd-import=dynamic=all --spmd-propagate --spmd-partition | FileCheck %s --check-prefix=RING
// RUN: sed 's/WAY/zigzag/' %s | shard-opt --spmd-import=dynamic=all --spmd-propagate --spmd-partition | FileCheck %s --check-prefix=ZIGZAG
// RUN: sed 's/WAY/heads/' %s | shard-opt --spmd-import=dynamic=all --spmd-propagate --spmd-partition | FileCheck %s --check-prefix=HEADS

// Of the other block come the keys that some query here asks for; their gradients go back one behind the other.
// RING-LABEL: func.func @main(
//       RING: pairs.pair_step
//       RING: local.halo_exchange {{.*}} [0:8, 8:16] -> [8:8, 0:8] by {{.*}} -> #spmd.formula<kept (#spmd.formula<rotate [1, 0] (#spmd.formula<shards [0] (#spmd.formula<given [1, 1, 16]>)>)>,
//  RING-SAME:   #spmd.formula<positions [{{.*}}, 1, 1] (#spmd.formula<shards [0] (#spmd.formula<given [0, 1, 16]>)>,
//  RING-SAME:   meets block 1 of 2 of a ring
//       RING: pairs.pair_step
//       RING: local.rebalance {{.*}} [0:0, 0:8] -> [0:8, 0:0] by #spmd.formula<shards [0] (#spmd.formula<packed (#spmd.formula<kept
//  RING-SAME:   -> #spmd.formula<rotate [1, 0] (#spmd.formula<shards [0] (#spmd.formula<packed
//  RING-SAME:   gives back gradients of block 1 of 2 of a ring
//       RING: return

// Queries are dealt out in parts of fixed sizes, whatever sizes they come in; of keys comes what either part needs.
// ZIGZAG-LABEL: func.func @main(
//       ZIGZAG: local.halo_exchange %arg0 {{.*}} [0:8, 8:16] -> [0:4, 4:8] by #spmd.formula<shards [0] (#spmd.formula<given [0, 1, 16]>)> -> #spmd.formula<elements [2] (#spmd.formula<shards [0] (#spmd.formula<fixed [0, 8, 16]>)>)>
//  ZIGZAG-SAME:   -> tensor<2x4x4xf32>
//       ZIGZAG: local.halo_exchange %arg0 {{.*}} -> [12:16, 8:12] by {{.*}} -> #spmd.formula<positions [15, -1] (#spmd.formula<elements [2] (#spmd.formula<positions [-1, 1] (#spmd.formula<shards [0] (#spmd.formula<fixed [0, 8, 16]>)>)>)>)>
//       ZIGZAG: #spmd.formula<hull (#spmd.formula<kept
//  ZIGZAG-SAME:   meets block 1 of 2 of a ring
//       ZIGZAG: return

// All queries and keys of some heads: whoever meets them knows the sizes.
// HEADS-LABEL: func.func @main(
//       HEADS: local.all_to_all %arg0 [<dim 0 along ["x"] : [0:2, 0:2] -> [0:1, 1:2]>, <dim 1 along ["x"] : [0:8, 8:16] -> [0:16, 0:16] by
//  HEADS-SAME:   -> tensor<1x16x4xf32>
//       HEADS: pairs.pair_step
//   HEADS-NOT: pairs.pair_step
//       HEADS: local.all_to_all {{.*}} -> tensor<2x?x4xf32>
//       HEADS: return
spmd.mesh @mesh = <["x"=2]>
#q = affine_map<(h, q, k, d, e) -> (h, q, d)>
#k = affine_map<(h, q, k, d, e) -> (h, k, d)>
#v = affine_map<(h, q, k, d, e) -> (h, k, e)>
#out = affine_map<(h, q, k, d, e) -> (h, q, e)>
#row = affine_map<(h, q, k, d, e) -> (h, q)>
func.func @main(%q: tensor<2x16x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>},
                %k: tensor<2x16x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>},
                %v: tensor<2x16x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>},
                %max: tensor<2x16xf32>, %delta: tensor<2x16xf32>, %g: tensor<2x16x4xf32>)
    -> (tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>) {
  %dq, %dk, %dv = pairs.attention_backward %q, %k, %v, %max, %delta, %g maps [#q, #k, #v, #row, #row, #out, #q, #k, #v]
      {band_upper = 0 : i64, pairs.way = #pairs.way<WAY>} score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %ds : tensor<f32>
  } : (tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x16x4xf32>)
      -> (tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>)
  return %dq, %dk, %dv : tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>
}
