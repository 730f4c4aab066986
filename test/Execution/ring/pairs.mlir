// Nearest neighbours, sums of kernels and extremes over all pairs of points, both clouds cut.
// RUN: shard-opt %s --spmd-expand-all-pairs -o %t.mlir
// RUN: shard-run %t.mlir --mesh=x=1 --seed=1 --outputs=@%t.npz
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --mesh=x=1
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --sizes=0:0=0,40,1 --sizes=1:0=100,0,57
spmd.mesh @mesh = <["x"=3]>
#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#v = affine_map<(q, k, d, e) -> (k, e)>
#out = affine_map<(q, k, d, e) -> (q, e)>
#row = affine_map<(q, k, d, e) -> (q)>
func.func @main(%q: tensor<41x3xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %k: tensor<157x3xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %v: tensor<157x2xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<41x5xf32>, tensor<41x5xi32>, tensor<41x2xf32>, tensor<41xf32>, tensor<41xf32>) {
  %0:2 = pairs.all_pairs top_k %q, %k maps [#q, #k, #out, #out] pair {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.subtract %a, %b : tensor<f32>
    %2 = stablehlo.multiply %1, %1 : tensor<f32>
    pairs.yield %2 : tensor<f32>
  } score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %1 = stablehlo.negate %raw : tensor<f32>
    pairs.yield %1 : tensor<f32>
  } : (tensor<41x3xf32>, tensor<157x3xf32>) -> (tensor<41x5xf32>, tensor<41x5xi32>)
  %3 = pairs.all_pairs sum %q, %k, %v maps [#q, #k, #v, #out] pair {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.subtract %a, %b : tensor<f32>
    %2 = stablehlo.multiply %1, %1 : tensor<f32>
    pairs.yield %2 : tensor<f32>
  } score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %1 = stablehlo.negate %raw : tensor<f32>
    %2 = stablehlo.exponential %1 : tensor<f32>
    pairs.yield %2 : tensor<f32>
  } : (tensor<41x3xf32>, tensor<157x3xf32>, tensor<157x2xf32>) -> tensor<41x2xf32>
  %4 = pairs.all_pairs max %q, %k maps [#q, #k, #row] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<41x3xf32>, tensor<157x3xf32>) -> tensor<41xf32>
  %5 = pairs.all_pairs min %q, %k maps [#q, #k, #row] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<41x3xf32>, tensor<157x3xf32>) -> tensor<41xf32>
  return %0#0, %0#1, %3, %4, %5 : tensor<41x5xf32>, tensor<41x5xi32>, tensor<41x2xf32>, tensor<41xf32>, tensor<41xf32>
}
