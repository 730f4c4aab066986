// Attention as one op, keys and values travelling in a ring, against the plain ops it stands for.
// RUN: shard-opt %s --spmd-expand-all-pairs -o %t.mlir
// RUN: shard-run %t.mlir --mesh=x=1 --seed=1 --outputs=@%t.npz
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --mesh=x=3
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --sizes=0:2=0,19,11,7 --sizes=1:2=20,0,20,1 --sizes=2:2=20,0,20,1
spmd.mesh @mesh = <["x"=4]>
#q = affine_map<(b, h, q, k, d, e) -> (b, h, q, d)>
#k = affine_map<(b, h, q, k, d, e) -> (b, h, k, d)>
#v = affine_map<(b, h, q, k, d, e) -> (b, h, k, e)>
#mask = affine_map<(b, h, q, k, d, e) -> (b, k)>
#bias = affine_map<(b, h, q, k, d, e) -> (h, q, k)>
#out = affine_map<(b, h, q, k, d, e) -> (b, h, q, e)>
#row = affine_map<(b, h, q, k, d, e) -> (b, h, q)>
func.func @main(%q: tensor<2x3x37x12xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {"x"}, {}]>},
                %k: tensor<2x3x41x12xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {"x"}, {}]>},
                %v: tensor<2x3x41x20xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {"x"}, {}]>},
                %mask: tensor<2x41xi1> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>},
                %bias: tensor<3x37x41xf32>)
    -> (tensor<2x3x37x20xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {"x"}, {}]>}, tensor<2x3x37xf32>, tensor<2x3x37xf32>) {
  %0:3 = pairs.all_pairs softmax %q, %k, %v extras(%mask, %bias) maps [#q, #k, #v, #mask, #bias, #out, #row, #row] score {
  ^bb0(%raw: tensor<f32>, %keep: tensor<i1>, %add: tensor<f32>, %b: tensor<i32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale = stablehlo.constant dense<0.25> : tensor<f32>
    %low = stablehlo.constant dense<-1.0e30> : tensor<f32>
    %1 = stablehlo.multiply %raw, %scale : tensor<f32>
    %2 = stablehlo.add %1, %add : tensor<f32>
    %3 = stablehlo.select %keep, %2, %low : tensor<i1>, tensor<f32>
    pairs.yield %3 : tensor<f32>
  } weight {
  ^bb0(%p: tensor<f32>, %keep: tensor<i1>, %add: tensor<f32>, %b: tensor<i32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %two = stablehlo.constant dense<2> : tensor<i32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %none = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.add %i, %j : tensor<i32>
    %2 = stablehlo.remainder %1, %two : tensor<i32>
    %3 = stablehlo.compare EQ, %2, %none : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.select %3, %p, %zero : tensor<i1>, tensor<f32>
    pairs.yield %4 : tensor<f32>
  } : (tensor<2x3x37x12xf32>, tensor<2x3x41x12xf32>, tensor<2x3x41x20xf32>, tensor<2x41xi1>, tensor<3x37x41xf32>)
      -> (tensor<2x3x37x20xf32>, tensor<2x3x37xf32>, tensor<2x3x37xf32>)
  return %0#0, %0#1, %0#2 : tensor<2x3x37x20xf32>, tensor<2x3x37xf32>, tensor<2x3x37xf32>
}
