// Gradients of keys and of values by one kernel of sm_90a, as far as its products are of 16 bits: gradients of outputs, weights and slopes are rounded to bf16
// (docs/Reference/accuracy.md), each by 2^-9 of itself at most. A causal band, an extra, keys that heads share, features that differ and fill no panel (72, 40); a window and features
// that fill two panels (128), where the next products are under way while weights are found. Rows and columns that no tile fills; three schedules, and rings whose shards differ, some of them empty.
// RUN: shard-opt %s --spmd-expand-all-pairs -o %t.mlir
// RUN: shard-run %t.mlir --mesh=x=1 --seed=1 --outputs=@%t.npz
// RUN: shard-run %s --mesh=x=1 --seed=1 --expect=@%t.npz --rtol=2e-2 --atol=6e-2 --device=emulated-cuda --check-kernels
// RUN: shard-run %s --mesh=x=1 --seed=1 --expect=@%t.npz --rtol=2e-2 --atol=6e-2 --device=emulated-cuda --check-kernels --kernel-schedule=run-ahead
// RUN: shard-run %s --mesh=x=1 --seed=1 --expect=@%t.npz --rtol=2e-2 --atol=6e-2 --device=emulated-cuda --check-kernels --kernel-schedule=random=3
// RUN: shard-run %s --mesh=x=1 --seed=1 --expect=@%t.npz --rtol=2e-2 --atol=6e-2 --device=emulated-cuda --arch=sm_80
// RUN: shard-run %s --mesh=x=1 --seed=1 --expect=@%t.npz --rtol=1e-2 --atol=1e-3 --device=emulated-cuda --precision=highest
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=2e-2 --atol=6e-2 --device=emulated-cuda --check-kernels --sizes=0:1=80,0,70 --sizes=1:0=100,70,0 --sizes=2:0=100,70,0 --kernel-schedule=random=4
// RUN: shard-translate %s --mesh=x=1 --target=cuda --arch=sm_90a --emit=ptx -o - | FileCheck %s
// With 72 and 40 features, of which no more fit beside an extra, tiles of 32: gradients of queries 5 products of scores, 3 of gradients of weights, 2 of slopes; the others 5, 3, 2 and 2.
// CHECK-COUNT-8: m64n32k16.f32.bf16.bf16
// CHECK-COUNT-2: m64n96k16.f32.bf16.bf16
// CHECK-COUNT-8: m64n32k16.f32.bf16.bf16
// CHECK-COUNT-2: m64n64k16.f32.bf16.bf16
// CHECK-COUNT-2: m64n96k16.f32.bf16.bf16
// With 128, tiles of 64: 8, 8, 4; and, of 32 where a window leaves no registers, 8, 8, 2, 2.
// CHECK-COUNT-16: m64n64k16.f32.bf16.bf16
// CHECK-COUNT-4: m64n128k16.f32.bf16.bf16
// CHECK-COUNT-16: m64n32k16.f32.bf16.bf16
// CHECK-COUNT-4: m64n128k16.f32.bf16.bf16
// With 96 and 128, and whole tiles of 64: 6, 8, 4; and 6, 8, 4 and 4.
// CHECK-COUNT-14: m64n64k16.f32.bf16.bf16
// CHECK-COUNT-4: m64n96k16.f32.bf16.bf16
// CHECK-COUNT-14: m64n64k16.f32.bf16.bf16
// CHECK-COUNT-4: m64n128k16.f32.bf16.bf16
// CHECK-COUNT-4: m64n96k16.f32.bf16.bf16
// CHECK-NOT: wgmma.mma_async
spmd.mesh @mesh = <["x"=3]>
#q = affine_map<(g, q, k, d, e) -> (g, q, d)>
#k = affine_map<(g, q, k, d, e) -> (k, d)>
#v = affine_map<(g, q, k, d, e) -> (k, e)>
#o = affine_map<(g, q, k, d, e) -> (q, g, e)>
#r = affine_map<(g, q, k, d, e) -> (g, q)>
#s = affine_map<(g, q, k, d, e) -> (g)>
#Q = affine_map<(q, k, d, e) -> (q, d)>
#K = affine_map<(q, k, d, e) -> (k, d)>
#V = affine_map<(q, k, d, e) -> (k, e)>
#O = affine_map<(q, k, d, e) -> (q, e)>
#R = affine_map<(q, k, d, e) -> (q)>
func.func @main(%q: tensor<2x150x72xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>},
                %k: tensor<170x72xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %v: tensor<170x40xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %max: tensor<2x150xf32>, %delta: tensor<2x150xf32>, %dout: tensor<150x2x40xf32>, %scale: tensor<2xf32>,
                %x: tensor<190x128xbf16>, %y: tensor<140x128xbf16>, %z: tensor<140x128xbf16>,
                %most: tensor<190xf32>, %less: tensor<190xf32>, %dp: tensor<190x128xf32>,
                %a: tensor<128x96xbf16>, %b: tensor<70x96xbf16>, %d: tensor<70x128xbf16>,
                %top: tensor<128xf32>, %mean: tensor<128xf32>, %da: tensor<128x128xf32>)
    -> (tensor<128x96xbf16>, tensor<70x96xbf16>, tensor<70x128xbf16>, tensor<2x150x72xbf16>, tensor<170x72xbf16>, tensor<170x40xbf16>, tensor<190x128xbf16>, tensor<140x128xbf16>, tensor<140x128xbf16>) {
  %0:3 = pairs.attention_backward %q, %k, %v, %max, %delta, %dout extras(%scale) maps [#q, #k, #v, #r, #r, #o, #s, #q, #k, #v] {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %c: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %tenth = stablehlo.constant dense<0.1> : tensor<f32>
    %1 = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.multiply %raw, %c : tensor<f32>
    %3 = stablehlo.multiply %2, %tenth : tensor<f32>
    %4 = stablehlo.select %1, %3, %low : tensor<i1>, tensor<f32>
    pairs.yield %4 : tensor<f32>
  } slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %c: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %tenth = stablehlo.constant dense<0.1> : tensor<f32>
    %1 = stablehlo.multiply %ds, %c : tensor<f32>
    %2 = stablehlo.multiply %1, %tenth : tensor<f32>
    pairs.yield %2 : tensor<f32>
  } : (tensor<2x150x72xbf16>, tensor<170x72xbf16>, tensor<170x40xbf16>, tensor<2x150xf32>, tensor<2x150xf32>, tensor<150x2x40xf32>, tensor<2xf32>)
      -> (tensor<2x150x72xbf16>, tensor<170x72xbf16>, tensor<170x40xbf16>)
  %1:3 = pairs.attention_backward %x, %y, %z, %most, %less, %dp maps [#Q, #K, #V, #R, #R, #O, #Q, #K, #V] {band_lower = -70 : i64, band_upper = 20 : i64} score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale2 = stablehlo.constant dense<0.06> : tensor<f32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %below = stablehlo.constant dense<-70> : tensor<i32>
    %above = stablehlo.constant dense<20> : tensor<i32>
    %2 = stablehlo.multiply %raw, %scale2 : tensor<f32>
    %3 = stablehlo.subtract %j, %i : tensor<i32>
    %4 = stablehlo.compare GE, %3, %below : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.compare LE, %3, %above : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.and %4, %5 : tensor<i1>
    %7 = stablehlo.select %6, %2, %low : tensor<i1>, tensor<f32>
    pairs.yield %7 : tensor<f32>
  } slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale2 = stablehlo.constant dense<0.06> : tensor<f32>
    %2 = stablehlo.multiply %ds, %scale2 : tensor<f32>
    pairs.yield %2 : tensor<f32>
  } : (tensor<190x128xbf16>, tensor<140x128xbf16>, tensor<140x128xbf16>, tensor<190xf32>, tensor<190xf32>, tensor<190x128xf32>)
      -> (tensor<190x128xbf16>, tensor<140x128xbf16>, tensor<140x128xbf16>)
  %2:3 = pairs.attention_backward %a, %b, %d, %top, %mean, %da maps [#Q, #K, #V, #R, #R, #O, #Q, #K, #V] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale3 = stablehlo.constant dense<0.06> : tensor<f32>
    %3 = stablehlo.multiply %raw, %scale3 : tensor<f32>
    pairs.yield %3 : tensor<f32>
  } slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale3 = stablehlo.constant dense<0.06> : tensor<f32>
    %3 = stablehlo.multiply %ds, %scale3 : tensor<f32>
    pairs.yield %3 : tensor<f32>
  } : (tensor<128x96xbf16>, tensor<70x96xbf16>, tensor<70x128xbf16>, tensor<128xf32>, tensor<128xf32>, tensor<128x128xf32>)
      -> (tensor<128x96xbf16>, tensor<70x96xbf16>, tensor<70x128xbf16>)
  return %2#0, %2#1, %2#2, %0#0, %0#1, %0#2, %1#0, %1#1, %1#2 : tensor<128x96xbf16>, tensor<70x96xbf16>, tensor<70x128xbf16>, tensor<2x150x72xbf16>, tensor<170x72xbf16>, tensor<170x40xbf16>, tensor<190x128xbf16>, tensor<140x128xbf16>, tensor<140x128xbf16>
}
