// RUN: shard-run %s --mesh=x=1 --seed=1 --device=emulated-cuda --precision=highest --outputs=@%t.npz
// RUN: env FAKE_LIBRARY_LOG=1 SHARDRT_CUDNN_LIBRARY=%shardc_build/lib/ShardRuntimeTestFakeLibraries.so shard-run %s --mesh=x=1 --seed=1 --device=emulated-cuda --precision=highest --kernels=library --expect=@%t.npz --rtol=1e-2 --atol=1e-2 2> %t.log
// RUN: FileCheck %s --implicit-check-not="fake library: {{[^d]}}" < %t.log
// RUN: env FAKE_LIBRARY_REFUSE=1 SHARDRT_CUDNN_LIBRARY=%shardc_build/lib/ShardRuntimeTestFakeLibraries.so shard-run %s --mesh=x=1 --seed=1 --device=emulated-cuda --precision=highest --kernels=library --expect=@%t.npz --rtol=0 --atol=0
// RUN: env FAKE_LIBRARY_LOG=1 SHARDRT_CUDNN_LIBRARY=%shardc_build/lib/ShardRuntimeTestFakeLibraries.so shard-run %s --seed=1 --device=emulated-cuda --precision=highest --kernels=library --expect=@%t.npz --rtol=1e-2 --atol=1e-2 2> %t.log
// RUN: FileCheck %s --check-prefix=RING --implicit-check-not="fake library: {{[^d]}}" < %t.log
// RUN: env FAKE_LIBRARY_LOG=1 SHARDRT_CUDNN_LIBRARY=%shardc_build/lib/ShardRuntimeTestFakeLibraries.so shard-run %s --seed=1 --sizes=0:1=0,23,14 --sizes=1:1=20,0,21 --sizes=2:1=20,0,21 --sizes=3:0=9,0,31 --sizes=4:0=9,0,31 --sizes=5:0=9,0,31 --device=emulated-cuda --precision=highest --kernels=library --repeat=2 --expect=@%t.npz --rtol=1e-2 --atol=1e-2 2> %t.log
// RUN: FileCheck %s --check-prefix=RING --implicit-check-not="fake library: {{[^d]}}" < %t.log
// RUN: env FAKE_LIBRARY_LOG=1 SHARDRT_CUDNN_LIBRARY=%shardc_build/lib/ShardRuntimeTestFakeLibraries.so shard-run %s --seed=1 --sizes=3:0=10,17,13 --sizes=4:0=4,26,10 --sizes=5:0=4,26,10 --device=emulated-cuda --precision=highest --kernels=library --expect=@%t.npz --rtol=1e-2 --atol=1e-2 2> %t.log
// RUN: FileCheck %s --check-prefix=SHIFTED --implicit-check-not="fake library: {{[^d]}}" < %t.log
// RUN: env FAKE_CUDNN_VERSION=91300 SHARDRT_CUDNN_LIBRARY=%shardc_build/lib/ShardRuntimeTestFakeLibraries.so shard-run %s --mesh=x=1 --seed=1 --device=emulated-cuda --precision=highest --kernels=library --report=json | FileCheck %s --check-prefix=REPORT
// RUN: shard-run %s --mesh=x=1 --seed=1 --device=emulated-cuda --precision=highest --kernels=auto --expect=@%t.npz --rtol=0 --atol=0
// RUN: bash -c 'shard-run %s --mesh=x=1 --device=emulated-cuda --precision=highest --kernels=library 2>%t.txt; echo code $? >> %t.txt; FAKE_LIBRARY_FAIL=1 SHARDRT_CUDNN_LIBRARY=%shardc_build/lib/ShardRuntimeTestFakeLibraries.so shard-run %s --mesh=x=1 --device=emulated-cuda --precision=highest --kernels=library 2>>%t.txt; echo code $? >> %t.txt'
// RUN: FileCheck %s --check-prefix=ERRORS < %t.txt
// Attention by a stand-in for cuDNN, which does the ops of the graph: two queries that share keys, in f16, and one with a causal mask, in bf16.
// Maxima and sums are results as well, so that they have to be what the op says they are. Then in a ring, where blocks are taken into the state one after the
// other: blocks are uneven, and some are empty; where queries are cut otherwise than keys, a mask begins somewhere in a block, and
// what has rows without columns is done by kernels. Releases that store no maxima and sums are not asked.
// REPORT: "libraries":["generated: attention of 2x4x37x32 f16 and 2x2x41x32 f16 and 2x2x41x24 f16 ({{.*}}library-attention.mlir:{{[0-9]+}})"
// ERRORS: attention of {{.*}}: no cuDNN: an emulated device takes one from SHARDRT_CUDNN_LIBRARY alone, which names none; --kernels=generated needs none
// ERRORS-NEXT: code 77
// ERRORS-NEXT: rank 0: attention of 2x4x37x32 f16 and 2x2x41x32 f16 and 2x2x41x24 f16 ({{.*}}): cuDNN: attention failed: CUDNN_STATUS_EXECUTION_FAILED
// ERRORS-NEXT: code 1
// SHIFTED: did product mul index index add ge select most sub exp sum div product to {{.*}} bf16
// CHECK: did product mul most sub exp sum div product to 2x4x37x24 f16
// CHECK: did product mul index index ge select most sub exp sum div product to 1x1x40x16 bf16
// RING: did product mul
spmd.mesh @mesh = <["x"=3]>
#q = affine_map<(b, h, g, q, k, d, e) -> (b, q, h, g, d)>
#k = affine_map<(b, h, g, q, k, d, e) -> (b, k, h, d)>
#v = affine_map<(b, h, g, q, k, d, e) -> (b, k, h, e)>
#out = affine_map<(b, h, g, q, k, d, e) -> (b, h, g, q, e)>
#row = affine_map<(b, h, g, q, k, d, e) -> (b, h, g, q)>
#Q = affine_map<(q, k, d, e) -> (q, d)>
#K = affine_map<(q, k, d, e) -> (k, d)>
#V = affine_map<(q, k, d, e) -> (k, e)>
#O = affine_map<(q, k, d, e) -> (q, e)>
#R = affine_map<(q, k, d, e) -> (q)>
func.func @main(%q: tensor<2x37x2x2x32xf16> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}, {}, {}]>},
                %k: tensor<2x41x2x32xf16> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}, {}]>},
                %v: tensor<2x41x2x24xf16> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}, {}]>},
                %x: tensor<40x16xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %y: tensor<40x16xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %z: tensor<40x16xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<2x2x2x37x24xf32>, tensor<2x2x2x37xf32>, tensor<2x2x2x37xf32>, tensor<40x16xf32>, tensor<40xf32>, tensor<40xf32>) {
  %0:3 = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #out, #row, #row] score {
  ^bb0(%raw: tensor<f32>, %b: tensor<i32>, %h: tensor<i32>, %g: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale = stablehlo.constant dense<4.0> : tensor<f32>
    %s = stablehlo.divide %raw, %scale : tensor<f32>
    pairs.yield %s : tensor<f32>
  } : (tensor<2x37x2x2x32xf16>, tensor<2x41x2x32xf16>, tensor<2x41x2x24xf16>) -> (tensor<2x2x2x37x24xf32>, tensor<2x2x2x37xf32>, tensor<2x2x2x37xf32>)
  %1:3 = pairs.all_pairs softmax %x, %y, %z maps [#Q, #K, #V, #O, #R, #R] {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale = stablehlo.constant dense<0.25> : tensor<f32>
    %low = stablehlo.constant dense<-1.0e30> : tensor<f32>
    %s1 = stablehlo.multiply %raw, %scale : tensor<f32>
    %s2 = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s3 = stablehlo.select %s2, %s1, %low : tensor<i1>, tensor<f32>
    pairs.yield %s3 : tensor<f32>
  } : (tensor<40x16xbf16>, tensor<40x16xbf16>, tensor<40x16xbf16>) -> (tensor<40x16xf32>, tensor<40xf32>, tensor<40xf32>)
  return %0#0, %0#1, %0#2, %1#0, %1#1, %1#2 : tensor<2x2x2x37x24xf32>, tensor<2x2x2x37xf32>, tensor<2x2x2x37xf32>, tensor<40x16xf32>, tensor<40xf32>, tensor<40xf32>
}
