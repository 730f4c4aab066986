// Steps of attention on sm_90a whose bulk copies go over batch dims that stand before, between and behind lines, some one behind the other, some
// shared by queries, as heads of which several have one key: what is on each rank, and in shards of sizes that are known late, some of them empty.
// RUN: shard-opt %s --spmd-expand-all-pairs -o %t.mlir
// RUN: shard-run %t.mlir --mesh=x=1 --seed=1 --outputs=@%t.npz
// RUN: shard-run %s --mesh=x=1 --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=4e-6 --device=emulated-cuda --precision=highest --check-kernels --kernel-schedule=run-ahead
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=4e-6 --sizes=0:1=70,0,10 --sizes=1:2=0,65,5 --sizes=2:1=0,65,5 --device=emulated-cuda --precision=highest --check-kernels --kernel-schedule=random=5
// RUN: shard-translate %s --mesh=x=1 --target=cuda --precision=highest --arch=sm_90a --emit=ptx -o - | FileCheck %s
// Of queries two dims are one (heads and those that share a key), of keys as well (batch and heads), of values none.
// CHECK: cp.async.bulk.tensor.4d
// CHECK: cp.async.bulk.tensor.3d
// CHECK: cp.async.bulk.tensor.4d
// CHECK-NOT: cp.async.bulk
spmd.mesh @mesh = <["x"=3]>
#q = affine_map<(b, h, g, q, k, d, e) -> (b, q, h, g, d)>
#k = affine_map<(b, h, g, q, k, d, e) -> (b, h, k, d)>
#v = affine_map<(b, h, g, q, k, d, e) -> (b, k, h, e)>
#out = affine_map<(b, h, g, q, k, d, e) -> (b, h, g, q, e)>
#row = affine_map<(b, h, g, q, k, d, e) -> (b, h, g, q)>
func.func @main(%q: tensor<2x80x2x2x64xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}, {}, {}]>},
                %k: tensor<2x2x70x64xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {"x"}, {}]>},
                %v: tensor<2x70x2x40xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}, {}]>})
    -> (tensor<2x2x2x80x40xf32>, tensor<2x2x2x80xf32>, tensor<2x2x2x80xf32>) {
  %0:3 = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #out, #row, #row] score {
  ^bb0(%raw: tensor<f32>, %b: tensor<i32>, %h: tensor<i32>, %g: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale = stablehlo.constant dense<0.125> : tensor<f32>
    %1 = stablehlo.multiply %raw, %scale : tensor<f32>
    pairs.yield %1 : tensor<f32>
  } : (tensor<2x80x2x2x64xbf16>, tensor<2x2x70x64xbf16>, tensor<2x70x2x40xbf16>)
      -> (tensor<2x2x2x80x40xf32>, tensor<2x2x2x80xf32>, tensor<2x2x2x80xf32>)
  return %0#0, %0#1, %0#2 : tensor<2x2x2x80x40xf32>, tensor<2x2x2x80xf32>, tensor<2x2x2x80xf32>
}
