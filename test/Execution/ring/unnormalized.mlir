// What one block of keys adds up to: with queries and keys cut, with keys alone cut, where states are merged. Queries from 20 on see
// only keys before 8, those before 5 none at all: their sum and their output are 0.
// RUN: shard-opt %s --spmd-expand-all-pairs -o %t.mlir
// RUN: shard-run %t.mlir --mesh=x=1 --seed=1 --outputs=@%t.npz
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --mesh=x=1
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --sizes=0:0=0,30,7 --sizes=1:0=12,0,29 --sizes=2:0=12,0,29
spmd.mesh @mesh = <["x"=3]>
#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#v = affine_map<(q, k, d, e) -> (k, e)>
#out = affine_map<(q, k, d, e) -> (q, e)>
#row = affine_map<(q, k, d, e) -> (q)>
func.func @main(%q: tensor<37x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %k: tensor<41x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %v: tensor<41x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}, %few: tensor<29x4xf32>)
    -> (tensor<37x6xf32>, tensor<37xf32>, tensor<37xf32>, tensor<29x6xf32>, tensor<29xf32>, tensor<29xf32>) {
  %a:3 = pairs.all_pairs softmax unnormalized %q, %k, %v maps [#q, #k, #v, #out, #row, #row] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %five = stablehlo.constant dense<5> : tensor<i32>
    %some = stablehlo.compare GE, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s = stablehlo.select %some, %raw, %low : tensor<i1>, tensor<f32>
    pairs.yield %s : tensor<f32>
  } : (tensor<37x4xf32>, tensor<41x4xf32>, tensor<41x6xf32>) -> (tensor<37x6xf32>, tensor<37xf32>, tensor<37xf32>)
  %b:3 = pairs.all_pairs softmax unnormalized %few, %k, %v maps [#q, #k, #v, #out, #row, #row] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %five = stablehlo.constant dense<5> : tensor<i32>
    %eight = stablehlo.constant dense<8> : tensor<i32>
    %twenty = stablehlo.constant dense<20> : tensor<i32>
    %some = stablehlo.compare GE, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %early = stablehlo.compare LT, %i, %twenty : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %first = stablehlo.compare LT, %j, %eight : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %either = stablehlo.or %early, %first : tensor<i1>
    %both = stablehlo.and %some, %either : tensor<i1>
    %s = stablehlo.select %both, %raw, %low : tensor<i1>, tensor<f32>
    pairs.yield %s : tensor<f32>
  } : (tensor<29x4xf32>, tensor<41x4xf32>, tensor<41x6xf32>) -> (tensor<29x6xf32>, tensor<29xf32>, tensor<29xf32>)
  return %a#0, %a#1, %a#2, %b#0, %b#1, %b#2 : tensor<37x6xf32>, tensor<37xf32>, tensor<37xf32>, tensor<29x6xf32>, tensor<29xf32>, tensor<29xf32>
}
