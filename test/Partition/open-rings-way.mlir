// Which way takes least where sizes are not known: equal blocks meet in a ring, but a ring waits for the rank that has most rows. Heads are the same work for any sizes.
// RUN: shard-opt %s --spmd-propagate --spmd-partition | FileCheck %s --check-prefix=KNOWN
// RUN: shard-opt %s --spmd-import=dynamic=all --spmd-propagate --spmd-partition | FileCheck %s --check-prefix=OPEN
// KNOWN-LABEL: func.func @main(
//       KNOWN: meets block 1 of 2 of a ring (ring {{[0-9.]+}} ms,
//   KNOWN-NOT: local.all_to_all
//       KNOWN: return
// OPEN-LABEL: func.func @main(
//       OPEN: local.all_to_all {{.*}} takes some heads with all queries and keys (ring {{[0-9.]+}} ms,
//       OPEN: return
spmd.mesh @mesh = <["x"=2]>
#q = affine_map<(h, q, k, d, e) -> (h, q, d)>
#k = affine_map<(h, q, k, d, e) -> (h, k, d)>
#v = affine_map<(h, q, k, d, e) -> (h, k, e)>
#out = affine_map<(h, q, k, d, e) -> (h, q, e)>
#row = affine_map<(h, q, k, d, e) -> (h, q)>
func.func @main(%q: tensor<8x2048x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>},
                %k: tensor<8x2048x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>},
                %v: tensor<8x2048x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>})
    -> (tensor<8x2048x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %0:3 = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #out, #row, #row] score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<8x2048x64xf32>, tensor<8x2048x64xf32>, tensor<8x2048x64xf32>) -> (tensor<8x2048x64xf32>, tensor<8x2048xf32>, tensor<8x2048xf32>)
  return %0#0 : tensor<8x2048x64xf32>
}
