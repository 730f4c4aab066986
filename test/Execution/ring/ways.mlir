// Causal attention and its gradient in each way of pairing queries and keys, against the plain ops that it replaces; uneven blocks, some of them empty.
// RUN: sed 's/WAY/ring/' %s > %t.ring.mlir
// RUN: shard-opt %t.ring.mlir --spmd-expand-all-pairs -o %t.mlir
// RUN: shard-run %t.mlir --mesh=x=1,y=1 --seed=1 --outputs=@%t.npz
// RUN: sed 's/WAY/zigzag/' %s > %t.zigzag.mlir
// RUN: sed 's/WAY/gather/' %s > %t.gather.mlir
// RUN: sed 's/WAY/heads/' %s > %t.heads.mlir
// RUN: shard-run %t.ring.mlir --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --sizes=0:1=0,19,11,23 --sizes=1:0=23,0,29,1
// RUN: shard-run %t.zigzag.mlir --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --mesh=x=3,y=2
// RUN: shard-run %t.zigzag.mlir --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --sizes=0:1=0,19,11,23 --sizes=1:0=23,0,29,1
// RUN: shard-run %t.gather.mlir --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --sizes=0:1=0,19,11,23 --sizes=1:0=23,0,29,1
// Sizes that are said late: no more moves than where they are known.
// RUN: shard-translate %t.ring.mlir --dynamic=all -o %t.ring.so
// RUN: shard-run %t.ring.so --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 2>&1 | grep -o 'move [0-9]* bytes' > %t.open
// RUN: shard-run %t.ring.mlir --seed=1 2>&1 | grep -o 'move [0-9]* bytes' | diff %t.open -
// RUN: shard-run %t.ring.so --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --sizes=0:1=0,19,11,23 --sizes=1:0=23,0,29,1
// RUN: shard-translate %t.zigzag.mlir --dynamic=all -o %t.zigzag.so
// RUN: shard-run %t.zigzag.so --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 2>&1 | grep -o 'move [0-9]* bytes' > %t.open
// RUN: shard-run %t.zigzag.mlir --seed=1 2>&1 | grep -o 'move [0-9]* bytes' | diff %t.open -
// RUN: shard-run %t.zigzag.so --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --sizes=0:1=0,19,11,23 --sizes=1:0=23,0,29,1 --sizes=2:0=0,53,0,0
// RUN: shard-translate %t.gather.mlir --dynamic=all -o %t.gather.so
// RUN: shard-run %t.gather.so --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --sizes=0:1=0,19,11,23 --sizes=1:0=23,0,29,1
// Dealt out by the program, on axes of any size and with queries and keys in orders of their own.
// RUN: shard-run %t.ring.mlir --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --sizes=0:1=zigzag
// RUN: shard-run %t.ring.mlir --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --sizes=0:1=zigzag --mesh=x=3,y=2
// RUN: shard-run %t.ring.mlir --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --sizes=0:1=zigzag --mesh=x=1,y=1
// RUN: shard-run %t.ring.mlir --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --sizes=0:1=51,1,0,1,zigzag --sizes=1:0=0,0,0,53,zigzag
// RUN: shard-run %t.ring.mlir --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --sizes=0:1=0,19,11,23,zigzag --sizes=1:0=23,0,29,1
// RUN: not shard-run %t.heads.mlir --seed=1 2>&1 | FileCheck %s
// CHECK: asks for pairs.way = "heads", expected one of those that it can go: "ring", "zigzag", "gather"
spmd.mesh @mesh = <["x"=4, "y"=2]>
#q = affine_map<(g, q, k, d, e) -> (g, q, d)>
#k = affine_map<(g, q, k, d, e) -> (k, d)>
#v = affine_map<(g, q, k, d, e) -> (k, e)>
#o = affine_map<(g, q, k, d, e) -> (q, g, e)>
#r = affine_map<(g, q, k, d, e) -> (g, q)>
#s = affine_map<(g, q, k, d, e) -> (g)>
#b = affine_map<(g, q, k, d, e) -> (q, k)>
#m = affine_map<(g, q, k, d, e) -> (k)>
func.func @main(%q: tensor<4x53x12xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"y"}, {"x"}, {}]>},
                %k: tensor<53x12xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %v: tensor<53x20xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %g: tensor<53x4x20xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {"y"}, {}]>},
                %scale: tensor<4xf32>, %bias: tensor<53x53xf32>, %more: tensor<53xf32>)
    -> (tensor<53x4x20xf32>, tensor<4x53x12xf32>, tensor<53x12xf32>, tensor<53x20xf32>, tensor<4xf32>) {
  %o, %max, %sum = pairs.all_pairs softmax %q, %k, %v extras(%scale, %bias, %more) maps [#q, #k, #v, #s, #b, #m, #o, #r, #r]
      {band_upper = 0 : i64, pairs.way = #pairs.way<WAY>} score {
  ^bb0(%raw: tensor<f32>, %c: tensor<f32>, %e: tensor<f32>, %a: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.multiply %raw, %c : tensor<f32>
    %3 = stablehlo.add %2, %e : tensor<f32>
    %4 = stablehlo.add %3, %a : tensor<f32>
    %5 = stablehlo.select %1, %4, %low : tensor<i1>, tensor<f32>
    pairs.yield %5 : tensor<f32>
  } : (tensor<4x53x12xf32>, tensor<53x12xf32>, tensor<53x20xf32>, tensor<4xf32>, tensor<53x53xf32>, tensor<53xf32>)
      -> (tensor<53x4x20xf32>, tensor<4x53xf32>, tensor<4x53xf32>)
  %og = stablehlo.multiply %o, %g : tensor<53x4x20xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sums = stablehlo.reduce(%og init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<53x4x20xf32>, tensor<f32>) -> tensor<53x4xf32>
  %turned = stablehlo.transpose %sums, dims = [1, 0] : (tensor<53x4xf32>) -> tensor<4x53xf32>
  %delta = stablehlo.divide %turned, %sum : tensor<4x53xf32>
  %wide = stablehlo.broadcast_in_dim %sum, dims = [1, 0] : (tensor<4x53xf32>) -> tensor<53x4x20xf32>
  %part = stablehlo.divide %g, %wide : tensor<53x4x20xf32>
  %dq, %dk, %dv, %ds = pairs.attention_backward %q, %k, %v, %max, %delta, %part extras(%scale, %bias, %more)
      maps [#q, #k, #v, #r, #r, #o, #s, #b, #m, #q, #k, #v, #s] {band_upper = 0 : i64, pairs.way = #pairs.way<WAY>} score {
  ^bb0(%raw: tensor<f32>, %c: tensor<f32>, %e: tensor<f32>, %a: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.multiply %raw, %c : tensor<f32>
    %3 = stablehlo.add %2, %e : tensor<f32>
    %4 = stablehlo.add %3, %a : tensor<f32>
    %5 = stablehlo.select %1, %4, %low : tensor<i1>, tensor<f32>
    pairs.yield %5 : tensor<f32>
  } slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %c: tensor<f32>, %e: tensor<f32>, %a: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %1 = stablehlo.multiply %ds, %c : tensor<f32>
    %2 = stablehlo.multiply %ds, %raw : tensor<f32>
    pairs.yield %1, %2 : tensor<f32>, tensor<f32>
  } : (tensor<4x53x12xf32>, tensor<53x12xf32>, tensor<53x20xf32>, tensor<4x53xf32>, tensor<4x53xf32>, tensor<53x4x20xf32>, tensor<4xf32>,
       tensor<53x53xf32>, tensor<53xf32>) -> (tensor<4x53x12xf32>, tensor<53x12xf32>, tensor<53x20xf32>, tensor<4xf32>)
  return %o, %dq, %dk, %dv, %ds : tensor<53x4x20xf32>, tensor<4x53x12xf32>, tensor<53x12xf32>, tensor<53x20xf32>, tensor<4xf32>
}
