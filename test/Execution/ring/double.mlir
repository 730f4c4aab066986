// Attention of f64 holds all its digits, where scores are far apart as well.
// RUN: shard-opt %s --spmd-expand-all-pairs -o %t.mlir
// RUN: shard-run %t.mlir --mesh=x=1 --seed=1 --outputs=@%t.npz
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=1e-12 --atol=1e-14
spmd.mesh @mesh = <["x"=2]>
#q = affine_map<(h, q, k, d, e) -> (h, q, d)>
#k = affine_map<(h, q, k, d, e) -> (h, k, d)>
#v = affine_map<(h, q, k, d, e) -> (h, k, e)>
#out = affine_map<(h, q, k, d, e) -> (h, q, e)>
#row = affine_map<(h, q, k, d, e) -> (h, q)>
func.func @main(%q: tensor<2x37x4xf64> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>},
                %k: tensor<2x41x4xf64> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>},
                %v: tensor<2x41x5xf64> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>})
    -> (tensor<2x37x5xf64>, tensor<2x37xf64>, tensor<2x37xf64>) {
  %0:3 = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #out, #row, #row] score {
  ^bb0(%raw: tensor<f64>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale = stablehlo.constant dense<100.0> : tensor<f64>
    %1 = stablehlo.multiply %raw, %scale : tensor<f64>
    pairs.yield %1 : tensor<f64>
  } : (tensor<2x37x4xf64>, tensor<2x41x4xf64>, tensor<2x41x5xf64>) -> (tensor<2x37x5xf64>, tensor<2x37xf64>, tensor<2x37xf64>)
  return %0#0, %0#1, %0#2 : tensor<2x37x5xf64>, tensor<2x37xf64>, tensor<2x37xf64>
}
