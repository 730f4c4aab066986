// Queries see the keys of their own document; tiles of others are left out. Queries of the last document have no key: theirs is
// the average of all keys where a number masks, and so is their gradient.
// RUN: shard-opt %s --spmd-expand-all-pairs -o %t.mlir
// RUN: shard-run %t.mlir --mesh=x=1 --seed=1 --outputs=@%t.npz
// RUN: shard-run %s --seed=1 --mesh=x=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --sizes=0:1=71,0,389 --sizes=1:1=150,220,90 --sizes=2:1=150,220,90 --sizes=3:1=71,0,389
spmd.mesh @mesh = <["x"=3]>
#q = affine_map<(h, q, k, d, e) -> (h, q, d)>
#k = affine_map<(h, q, k, d, e) -> (h, k, d)>
#v = affine_map<(h, q, k, d, e) -> (h, k, e)>
#out = affine_map<(h, q, k, d, e) -> (h, q, e)>
#row = affine_map<(h, q, k, d, e) -> (h, q)>
#docq = affine_map<(h, q, k, d, e) -> (q)>
#dock = affine_map<(h, q, k, d, e) -> (k)>
!t = tensor<2x460x8xf32>
!r = tensor<2x460xf32>
func.func @main(%q: !t {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>}, %k: !t {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>},
                %v: !t {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>}, %g: !t {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>})
    -> (!t, !t, !t, !t, !t) {
  %place = stablehlo.iota dim = 0 : tensor<460xi32>
  %length = stablehlo.constant dense<100> : tensor<460xi32>
  %most = stablehlo.constant dense<3> : tensor<460xi32>
  %docq = stablehlo.divide %place, %length : tensor<460xi32>
  %dock = stablehlo.minimum %docq, %most : tensor<460xi32>
  %o:3 = pairs.all_pairs softmax %q, %k, %v extras(%docq, %dock) maps [#q, #k, #v, #docq, #dock, #out, #row, #row] score {
  ^bb0(%raw: tensor<f32>, %a: tensor<i32>, %b: tensor<i32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<-1.0e9> : tensor<f32>
    %same = stablehlo.compare EQ, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s = stablehlo.select %same, %raw, %low : tensor<i1>, tensor<f32>
    pairs.yield %s : tensor<f32>
  } : (!t, !t, !t, tensor<460xi32>, tensor<460xi32>) -> (!t, !r, !r)
  %rows = stablehlo.broadcast_in_dim %o#2, dims = [0, 1] : (!r) -> !t
  %part = stablehlo.divide %g, %rows : !t
  %og = stablehlo.multiply %o#0, %part : !t
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %delta = stablehlo.reduce(%og init: %zero) applies stablehlo.add across dimensions = [2] : (!t, tensor<f32>) -> !r
  %dq, %dk, %dv = pairs.attention_backward %q, %k, %v, %o#1, %delta, %part extras(%docq, %dock)
      maps [#q, #k, #v, #row, #row, #out, #docq, #dock, #q, #k, #v] score {
  ^bb0(%raw: tensor<f32>, %a: tensor<i32>, %b: tensor<i32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<-1.0e9> : tensor<f32>
    %same = stablehlo.compare EQ, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s = stablehlo.select %same, %raw, %low : tensor<i1>, tensor<f32>
    pairs.yield %s : tensor<f32>
  } slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %a: tensor<i32>, %b: tensor<i32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %same = stablehlo.compare EQ, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s = stablehlo.select %same, %ds, %none : tensor<i1>, tensor<f32>
    pairs.yield %s : tensor<f32>
  } : (!t, !t, !t, !r, !r, !t, tensor<460xi32>, tensor<460xi32>) -> (!t, !t, !t)
  %w:3 = pairs.all_pairs softmax %q, %k, %v extras(%dock, %dock) maps [#q, #k, #v, #docq, #dock, #out, #row, #row] score {
  ^bb0(%raw: tensor<f32>, %a: tensor<i32>, %b: tensor<i32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %other = stablehlo.compare NE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s = stablehlo.select %other, %low, %raw : tensor<i1>, tensor<f32>
    pairs.yield %s : tensor<f32>
  } : (!t, !t, !t, tensor<460xi32>, tensor<460xi32>) -> (!t, !r, !r)
  return %o#0, %dq, %dk, %dv, %w#0 : !t, !t, !t, !t, !t
}
