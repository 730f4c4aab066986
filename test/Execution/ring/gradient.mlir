// The gradient of causal attention with dropped weights and a grouped key, against the plain ops it stands for.
// RUN: shard-opt %s --spmd-expand-all-pairs -o %t.mlir
// RUN: shard-run %t.mlir --mesh=x=1,y=1 --seed=1 --outputs=@%t.npz
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --mesh=x=3,y=1
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --mesh=x=1,y=1
spmd.mesh @mesh = <["x"=2, "y"=2]>
#q = affine_map<(g, q, k, d, e) -> (g, q, d)>
#k = affine_map<(g, q, k, d, e) -> (k, d)>
#v = affine_map<(g, q, k, d, e) -> (k, e)>
#o = affine_map<(g, q, k, d, e) -> (q, g, e)>
#r = affine_map<(g, q, k, d, e) -> (g, q)>
#s = affine_map<(g, q, k, d, e) -> (g)>
func.func @main(%q: tensor<4x53x12xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"y"}, {"x"}, {}]>},
                %k: tensor<53x12xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %v: tensor<53x20xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %g: tensor<53x4x20xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {"y"}, {}]>},
                %scale: tensor<4xf32>)
    -> (tensor<4x53x12xf32>, tensor<53x12xf32>, tensor<53x20xf32>, tensor<4xf32>) {
  %o, %max, %sum = pairs.all_pairs softmax %q, %k, %v extras(%scale) maps [#q, #k, #v, #s, #o, #r, #r] {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %c: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.multiply %raw, %c : tensor<f32>
    %3 = stablehlo.select %1, %2, %low : tensor<i1>, tensor<f32>
    pairs.yield %3 : tensor<f32>
  } : (tensor<4x53x12xf32>, tensor<53x12xf32>, tensor<53x20xf32>, tensor<4xf32>) -> (tensor<53x4x20xf32>, tensor<4x53xf32>, tensor<4x53xf32>)
  %rows = stablehlo.broadcast_in_dim %sum, dims = [1, 0] : (tensor<4x53xf32>) -> tensor<53x4x20xf32>
  %part = stablehlo.divide %g, %rows : tensor<53x4x20xf32>
  %og = stablehlo.multiply %o, %part : tensor<53x4x20xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sums = stablehlo.reduce(%og init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<53x4x20xf32>, tensor<f32>) -> tensor<53x4xf32>
  %delta = stablehlo.transpose %sums, dims = [1, 0] : (tensor<53x4xf32>) -> tensor<4x53xf32>
  %dq, %dk, %dv, %ds = pairs.attention_backward %q, %k, %v, %max, %delta, %part extras(%scale)
      maps [#q, #k, #v, #r, #r, #o, #s, #q, #k, #v, #s] {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %c: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.multiply %raw, %c : tensor<f32>
    %3 = stablehlo.select %1, %2, %low : tensor<i1>, tensor<f32>
    pairs.yield %3 : tensor<f32>
  } slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %c: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %1 = stablehlo.multiply %ds, %c : tensor<f32>
    %2 = stablehlo.multiply %ds, %raw : tensor<f32>
    pairs.yield %1, %2 : tensor<f32>, tensor<f32>
  } : (tensor<4x53x12xf32>, tensor<53x12xf32>, tensor<53x20xf32>, tensor<4x53xf32>, tensor<4x53xf32>, tensor<53x4x20xf32>, tensor<4xf32>)
      -> (tensor<4x53x12xf32>, tensor<53x12xf32>, tensor<53x20xf32>, tensor<4xf32>)
  return %dq, %dk, %dv, %ds : tensor<4x53x12xf32>, tensor<53x12xf32>, tensor<53x20xf32>, tensor<4xf32>
}
