// Steps of attention in 16 bits, without extras: rows and keys that fill no tile, several tiles of each, features that fill no panel (72, 40), a
// causal band in f16 (d = 128), scores that are products themselves, so that the largest of a row grows by far from tile to tile; in a ring too.
spmd.mesh @mesh = <["x"=3]>
#q = affine_map<(b, h, q, k, d, e) -> (b, h, q, d)>
#k = affine_map<(b, h, q, k, d, e) -> (b, h, k, d)>
#v = affine_map<(b, h, q, k, d, e) -> (b, h, k, e)>
#out = affine_map<(b, h, q, k, d, e) -> (b, h, q, e)>
#row = affine_map<(b, h, q, k, d, e) -> (b, h, q)>
#Q = affine_map<(q, k, d, e) -> (q, d)>
#K = affine_map<(q, k, d, e) -> (k, d)>
#V = affine_map<(q, k, d, e) -> (k, e)>
#O = affine_map<(q, k, d, e) -> (q, e)>
#R = affine_map<(q, k, d, e) -> (q)>
func.func @main(%q: tensor<1x2x150x72xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {"x"}, {}]>},
                %k: tensor<1x2x690x72xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {"x"}, {}]>},
                %v: tensor<1x2x690x40xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {"x"}, {}]>},
                %x: tensor<400x128xf16> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %y: tensor<400x128xf16> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %z: tensor<400x128xf16> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %w: tensor<70x64xbf16>, %u: tensor<500x64xbf16>, %t: tensor<500x64xbf16>)
    -> (tensor<1x2x150x40xf32>, tensor<1x2x150xf32>, tensor<1x2x150xf32>, tensor<400x128xf32>, tensor<400xf32>, tensor<400xf32>,
        tensor<70x64xf32>, tensor<70xf32>, tensor<70xf32>) {
  %0:3 = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #out, #row, #row] score {
  ^bb0(%raw: tensor<f32>, %b: tensor<i32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale = stablehlo.constant dense<0.125> : tensor<f32>
    %1 = stablehlo.multiply %raw, %scale : tensor<f32>
    pairs.yield %1 : tensor<f32>
  } : (tensor<1x2x150x72xbf16>, tensor<1x2x690x72xbf16>, tensor<1x2x690x40xbf16>)
      -> (tensor<1x2x150x40xf32>, tensor<1x2x150xf32>, tensor<1x2x150xf32>)
  %1:3 = pairs.all_pairs softmax %x, %y, %z maps [#Q, #K, #V, #O, #R, #R] {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale = stablehlo.constant dense<0.0884> : tensor<f32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %s1 = stablehlo.multiply %raw, %scale : tensor<f32>
    %s2 = stablehlo.compare LE, %j, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s3 = stablehlo.select %s2, %s1, %low : tensor<i1>, tensor<f32>
    pairs.yield %s3 : tensor<f32>
  } : (tensor<400x128xf16>, tensor<400x128xf16>, tensor<400x128xf16>) -> (tensor<400x128xf32>, tensor<400xf32>, tensor<400xf32>)
  %2:3 = pairs.all_pairs softmax %w, %u, %t maps [#Q, #K, #V, #O, #R, #R] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %less = stablehlo.constant dense<128> : tensor<i32>
    %tile = stablehlo.divide %j, %less : tensor<i32>
    %more = stablehlo.convert %tile : (tensor<i32>) -> tensor<f32>
    %far = stablehlo.constant dense<9.0> : tensor<f32>
    %s1 = stablehlo.multiply %more, %far : tensor<f32>
    %s2 = stablehlo.add %raw, %s1 : tensor<f32>
    pairs.yield %s2 : tensor<f32>
  } : (tensor<70x64xbf16>, tensor<500x64xbf16>, tensor<500x64xbf16>) -> (tensor<70x64xf32>, tensor<70xf32>, tensor<70xf32>)
  return %0#0, %0#1, %0#2, %1#0, %1#1, %1#2, %2#0, %2#1, %2#2 : tensor<1x2x150x40xf32>, tensor<1x2x150xf32>, tensor<1x2x150xf32>,
      tensor<400x128xf32>, tensor<400xf32>, tensor<400xf32>, tensor<70x64xf32>, tensor<70xf32>, tensor<70xf32>
}
