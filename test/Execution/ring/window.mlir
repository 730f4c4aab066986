// A window of keys on both sides of each query, and its gradient, on 64 ranks: of the ring's turns only the first few and the last few are needed, so
// there are two loops, and gradients go home after each.
// RUN: shard-opt %s --spmd-expand-all-pairs -o %t.mlir
// RUN: shard-run %t.mlir --mesh=x=1 --seed=1 --outputs=@%t.npz
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --mesh=x=17
// Blocks of any sizes: a rank that has nothing in a window is sent nothing.
// RUN: shard-translate %s --mesh=x=7 --dynamic=all -o %t.so
// RUN: shard-run %t.so --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 2>&1 | grep -o 'move [0-9]* bytes' > %t.open
// RUN: shard-run %s --mesh=x=7 --seed=1 2>&1 | grep -o 'move [0-9]* bytes' | diff %t.open -
// RUN: shard-run %t.so --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --sizes=0:1=0,20,0,50,11,9,41 --sizes=1:0=1,2,3,100,10,10,5
spmd.mesh @mesh = <["x"=64]>
#q = affine_map<(g, q, k, d, e) -> (g, q, d)>
#k = affine_map<(g, q, k, d, e) -> (k, d)>
#v = affine_map<(g, q, k, d, e) -> (k, e)>
#o = affine_map<(g, q, k, d, e) -> (q, g, e)>
#r = affine_map<(g, q, k, d, e) -> (g, q)>
#s = affine_map<(g, q, k, d, e) -> (g)>
func.func @main(%q: tensor<4x131x12xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>},
                %k: tensor<131x12xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %v: tensor<131x20xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %g: tensor<131x4x20xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}, {}]>},
                %scale: tensor<4xf32>)
    -> (tensor<4x131x12xf32>, tensor<131x12xf32>, tensor<131x20xf32>, tensor<4xf32>) {
  %o, %max, %sum = pairs.all_pairs softmax %q, %k, %v extras(%scale) maps [#q, #k, #v, #s, #o, #r, #r] {band_lower = -21 : i64, band_upper = 13 : i64} score {
  ^bb0(%raw: tensor<f32>, %c: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %least = stablehlo.constant dense<-21> : tensor<i32>
    %most = stablehlo.constant dense<13> : tensor<i32>
    %away = stablehlo.subtract %j, %i : tensor<i32>
    %from = stablehlo.compare GE, %away, %least : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %to = stablehlo.compare LE, %away, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1 = stablehlo.and %from, %to : tensor<i1>
    %2 = stablehlo.multiply %raw, %c : tensor<f32>
    %3 = stablehlo.select %1, %2, %low : tensor<i1>, tensor<f32>
    pairs.yield %3 : tensor<f32>
  } : (tensor<4x131x12xf32>, tensor<131x12xf32>, tensor<131x20xf32>, tensor<4xf32>) -> (tensor<131x4x20xf32>, tensor<4x131xf32>, tensor<4x131xf32>)
  %rows = stablehlo.broadcast_in_dim %sum, dims = [1, 0] : (tensor<4x131xf32>) -> tensor<131x4x20xf32>
  %part = stablehlo.divide %g, %rows : tensor<131x4x20xf32>
  %og = stablehlo.multiply %o, %part : tensor<131x4x20xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sums = stablehlo.reduce(%og init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<131x4x20xf32>, tensor<f32>) -> tensor<131x4xf32>
  %delta = stablehlo.transpose %sums, dims = [1, 0] : (tensor<131x4xf32>) -> tensor<4x131xf32>
  %dq, %dk, %dv, %ds = pairs.attention_backward %q, %k, %v, %max, %delta, %part extras(%scale)
      maps [#q, #k, #v, #r, #r, #o, #s, #q, #k, #v, #s] {band_lower = -21 : i64, band_upper = 13 : i64} score {
  ^bb0(%raw: tensor<f32>, %c: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %least = stablehlo.constant dense<-21> : tensor<i32>
    %most = stablehlo.constant dense<13> : tensor<i32>
    %away = stablehlo.subtract %j, %i : tensor<i32>
    %from = stablehlo.compare GE, %away, %least : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %to = stablehlo.compare LE, %away, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1 = stablehlo.and %from, %to : tensor<i1>
    %2 = stablehlo.multiply %raw, %c : tensor<f32>
    %3 = stablehlo.select %1, %2, %low : tensor<i1>, tensor<f32>
    pairs.yield %3 : tensor<f32>
  } slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %c: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %1 = stablehlo.multiply %ds, %c : tensor<f32>
    %2 = stablehlo.multiply %ds, %raw : tensor<f32>
    pairs.yield %1, %2 : tensor<f32>, tensor<f32>
  } : (tensor<4x131x12xf32>, tensor<131x12xf32>, tensor<131x20xf32>, tensor<4x131xf32>, tensor<4x131xf32>, tensor<131x4x20xf32>, tensor<4xf32>)
      -> (tensor<4x131x12xf32>, tensor<131x12xf32>, tensor<131x20xf32>, tensor<4xf32>)
  return %dq, %dk, %dv, %ds : tensor<4x131x12xf32>, tensor<131x12xf32>, tensor<131x20xf32>, tensor<4xf32>
}
