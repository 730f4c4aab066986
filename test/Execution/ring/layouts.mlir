// Tokens before heads, grouped queries, a window, half precision, keys with their features first.
// RUN: shard-opt %s --spmd-expand-all-pairs -o %t.mlir
// RUN: shard-run %t.mlir --mesh=x=1,y=1 --seed=1 --outputs=@%t.npz
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=1e-2 --atol=1e-2
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=1e-2 --atol=1e-2 --mesh=x=3,y=1
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=1e-2 --atol=1e-2 --mesh=x=1,y=2
spmd.mesh @mesh = <["x"=2, "y"=2]>
#q = affine_map<(b, n, g, q, k, d, e) -> (b, q, n, g, d)>
#k = affine_map<(b, n, g, q, k, d, e) -> (b, n, d, k)>
#v = affine_map<(b, n, g, q, k, d, e) -> (b, k, n, e)>
#out = affine_map<(b, n, g, q, k, d, e) -> (b, e, q, n, g)>
#row = affine_map<(b, n, g, q, k, d, e) -> (b, n, g, q)>
#other = affine_map<(b, n, g, q, k, d, e) -> (g, q, b, n)>
func.func @main(%q: tensor<1x50x2x3x16xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {"y"}, {}, {}]>},
                %k: tensor<1x2x16x50xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"y"}, {}, {"x"}]>},
                %v: tensor<1x50x2x8xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {"y"}, {}]>})
    -> (tensor<1x8x50x2x3xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {"x"}, {"y"}, {}]>}, tensor<1x2x3x50xf32>, tensor<3x50x1x2xf32>) {
  %0:3 = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #out, #row, #other] {band_lower = -6 : i64, band_upper = 3 : i64} score {
  ^bb0(%raw: tensor<f32>, %b: tensor<i32>, %n: tensor<i32>, %g: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %lower = stablehlo.constant dense<-6> : tensor<i32>
    %upper = stablehlo.constant dense<3> : tensor<i32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.subtract %j, %i : tensor<i32>
    %2 = stablehlo.compare GE, %1, %lower : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.compare LE, %1, %upper : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.and %2, %3 : tensor<i1>
    %5 = stablehlo.select %4, %raw, %low : tensor<i1>, tensor<f32>
    pairs.yield %5 : tensor<f32>
  } : (tensor<1x50x2x3x16xbf16>, tensor<1x2x16x50xbf16>, tensor<1x50x2x8xbf16>) -> (tensor<1x8x50x2x3xbf16>, tensor<1x2x3x50xf32>, tensor<3x50x1x2xf32>)
  return %0#0, %0#1, %0#2 : tensor<1x8x50x2x3xbf16>, tensor<1x2x3x50xf32>, tensor<3x50x1x2xf32>
}
