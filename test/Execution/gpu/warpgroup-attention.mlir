// Steps of attention on sm_90a: scores from shared memory, weights in registers. Rows and columns that are cut off in a tile, a depth and
// features that fill no panel (72, 40), a mask, a bias and weights that are set to zero, a causal band in f16 (d = 128), and features for which a tile is
// narrow (256); on one rank, and in a ring whose shards differ, one of them empty. Results are those of f32, and so are those
// of other GPUs.
// RUN: shard-opt %s --spmd-expand-all-pairs -o %t.mlir
// RUN: shard-run %t.mlir --mesh=x=1 --seed=1 --outputs=@%t.npz
// RUN: shard-run %s --mesh=x=1 --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=4e-6 --device=emulated-cuda --precision=highest --check-kernels
// RUN: shard-run %s --mesh=x=1 --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=4e-6 --device=emulated-cuda --precision=highest --check-kernels --kernel-schedule=run-ahead
// RUN: shard-run %s --mesh=x=1 --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=4e-6 --device=emulated-cuda --precision=highest --check-kernels --kernel-schedule=random=3
// RUN: shard-run %s --mesh=x=1 --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=4e-6 --device=emulated-cuda --precision=highest --arch=sm_80
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=4e-6 --sizes=0:2=0,70,80 --sizes=1:2=100,0,70 --sizes=2:2=100,0,70 --device=emulated-cuda --precision=highest --check-kernels --kernel-schedule=random=4
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=4e-6 --device=emulated-cuda --precision=highest --check-kernels --kernel-schedule=run-ahead
// RUN: shard-translate %s --mesh=x=1 --target=cuda --precision=highest --arch=sm_90a --emit=ptx -o - | FileCheck %s
// Of scores five products for a depth of 72 (80), of weights three numbers times four (f16: two; narrow: two steps).
// CHECK-COUNT-5: m64n64k16.f32.bf16.bf16
// CHECK-COUNT-12: m64n64k16.f32.bf16.bf16
// CHECK-COUNT-8: m64n64k16.f32.f16.f16
// CHECK-COUNT-8: m64n128k16.f32.f16.f16
// CHECK-COUNT-4: m64n32k16.f32.bf16.bf16
// CHECK-COUNT-6: m64n256k16.f32.bf16.bf16
// CHECK-NOT: wgmma.mma_async
spmd.mesh @mesh = <["x"=3]>
#q = affine_map<(b, h, q, k, d, e) -> (b, h, q, d)>
#k = affine_map<(b, h, q, k, d, e) -> (b, h, k, d)>
#v = affine_map<(b, h, q, k, d, e) -> (b, h, k, e)>
#mask = affine_map<(b, h, q, k, d, e) -> (b, k)>
#bias = affine_map<(b, h, q, k, d, e) -> (h, q, k)>
#out = affine_map<(b, h, q, k, d, e) -> (b, h, q, e)>
#row = affine_map<(b, h, q, k, d, e) -> (b, h, q)>
#Q = affine_map<(q, k, d, e) -> (q, d)>
#K = affine_map<(q, k, d, e) -> (k, d)>
#V = affine_map<(q, k, d, e) -> (k, e)>
#O = affine_map<(q, k, d, e) -> (q, e)>
#R = affine_map<(q, k, d, e) -> (q)>
func.func @main(%q: tensor<1x2x150x72xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {"x"}, {}]>},
                %k: tensor<1x2x170x72xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {"x"}, {}]>},
                %v: tensor<1x2x170x40xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {"x"}, {}]>},
                %mask: tensor<1x170xi1>, %bias: tensor<2x150x170xf32>,
                %x: tensor<200x128xf16> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %y: tensor<200x128xf16> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %z: tensor<200x128xf16> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %w: tensor<70x64xbf16>, %u: tensor<90x64xbf16>, %t: tensor<90x256xbf16>)
    -> (tensor<1x2x150x40xf32>, tensor<1x2x150xf32>, tensor<1x2x150xf32>, tensor<200x128xf32>, tensor<200xf32>, tensor<200xf32>,
        tensor<70x256xf32>, tensor<70xf32>, tensor<70xf32>) {
  %0:3 = pairs.all_pairs softmax %q, %k, %v extras(%mask, %bias) maps [#q, #k, #v, #mask, #bias, #out, #row, #row] score {
  ^bb0(%raw: tensor<f32>, %keep: tensor<i1>, %add: tensor<f32>, %b: tensor<i32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale = stablehlo.constant dense<0.125> : tensor<f32>
    %low = stablehlo.constant dense<-1.0e30> : tensor<f32>
    %s1 = stablehlo.multiply %raw, %scale : tensor<f32>
    %s2 = stablehlo.add %s1, %add : tensor<f32>
    %s3 = stablehlo.select %keep, %s2, %low : tensor<i1>, tensor<f32>
    pairs.yield %s3 : tensor<f32>
  } weight {
  ^bb0(%p: tensor<f32>, %keep: tensor<i1>, %add: tensor<f32>, %b: tensor<i32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %two = stablehlo.constant dense<2> : tensor<i32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %none = stablehlo.constant dense<0> : tensor<i32>
    %s1 = stablehlo.add %i, %j : tensor<i32>
    %s2 = stablehlo.remainder %s1, %two : tensor<i32>
    %s3 = stablehlo.compare EQ, %s2, %none : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s4 = stablehlo.select %s3, %p, %zero : tensor<i1>, tensor<f32>
    pairs.yield %s4 : tensor<f32>
  } : (tensor<1x2x150x72xbf16>, tensor<1x2x170x72xbf16>, tensor<1x2x170x40xbf16>, tensor<1x170xi1>, tensor<2x150x170xf32>)
      -> (tensor<1x2x150x40xf32>, tensor<1x2x150xf32>, tensor<1x2x150xf32>)
  %1:3 = pairs.all_pairs softmax %x, %y, %z maps [#Q, #K, #V, #O, #R, #R] {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale = stablehlo.constant dense<0.0884> : tensor<f32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %s1 = stablehlo.multiply %raw, %scale : tensor<f32>
    %s2 = stablehlo.compare LE, %j, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s3 = stablehlo.select %s2, %s1, %low : tensor<i1>, tensor<f32>
    pairs.yield %s3 : tensor<f32>
  } : (tensor<200x128xf16>, tensor<200x128xf16>, tensor<200x128xf16>) -> (tensor<200x128xf32>, tensor<200xf32>, tensor<200xf32>)
  %2:3 = pairs.all_pairs softmax %w, %u, %t maps [#Q, #K, #V, #O, #R, #R] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale = stablehlo.constant dense<0.125> : tensor<f32>
    %s1 = stablehlo.multiply %raw, %scale : tensor<f32>
    pairs.yield %s1 : tensor<f32>
  } : (tensor<70x64xbf16>, tensor<90x64xbf16>, tensor<90x256xbf16>) -> (tensor<70x256xf32>, tensor<70xf32>, tensor<70xf32>)
  return %0#0, %0#1, %0#2, %1#0, %1#1, %1#2, %2#0, %2#1, %2#2 : tensor<1x2x150x40xf32>, tensor<1x2x150xf32>, tensor<1x2x150xf32>,
      tensor<200x128xf32>, tensor<200xf32>, tensor<200xf32>, tensor<70x256xf32>, tensor<70xf32>, tensor<70xf32>
}
