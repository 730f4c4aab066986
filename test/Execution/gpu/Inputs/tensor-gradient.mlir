// Gradients of attention in bf16, without extras: rows and columns that fill no tile, several tiles of each, features that fill no panel (72, 40); a
// causal band, and two heads of queries for one of keys (d = 128).
#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#v = affine_map<(q, k, d, e) -> (k, e)>
#o = affine_map<(q, k, d, e) -> (q, e)>
#r = affine_map<(q, k, d, e) -> (q)>
#Q = affine_map<(h, q, k, d, e) -> (h, q, d)>
#K = affine_map<(h, q, k, d, e) -> (k, d)>
#V = affine_map<(h, q, k, d, e) -> (k, e)>
#O = affine_map<(h, q, k, d, e) -> (h, q, e)>
#R = affine_map<(h, q, k, d, e) -> (h, q)>
func.func @main(%q: tensor<300x72xbf16>, %k: tensor<290x72xbf16>, %v: tensor<290x40xbf16>, %m: tensor<300xf32>, %c: tensor<300xf32>, %g: tensor<300x40xf32>,
                %x: tensor<2x150x128xbf16>, %y: tensor<150x128xbf16>, %z: tensor<150x128xbf16>, %n: tensor<2x150xf32>, %d: tensor<2x150xf32>, %h: tensor<2x150x128xf32>)
    -> (tensor<300x72xbf16>, tensor<290x72xbf16>, tensor<290x40xbf16>, tensor<2x150x128xbf16>, tensor<150x128xbf16>, tensor<150x128xbf16>) {
  %0:3 = pairs.attention_backward %q, %k, %v, %m, %c, %g maps [#q, #k, #v, #r, #r, #o, #q, #k, #v] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale = stablehlo.constant dense<0.05> : tensor<f32>
    %s = stablehlo.multiply %raw, %scale : tensor<f32>
    pairs.yield %s : tensor<f32>
  } slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale = stablehlo.constant dense<0.05> : tensor<f32>
    %s = stablehlo.multiply %ds, %scale : tensor<f32>
    pairs.yield %s : tensor<f32>
  } : (tensor<300x72xbf16>, tensor<290x72xbf16>, tensor<290x40xbf16>, tensor<300xf32>, tensor<300xf32>, tensor<300x40xf32>)
      -> (tensor<300x72xbf16>, tensor<290x72xbf16>, tensor<290x40xbf16>)
  %1:3 = pairs.attention_backward %x, %y, %z, %n, %d, %h maps [#Q, #K, #V, #R, #R, #O, #Q, #K, #V] {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %b: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale = stablehlo.constant dense<0.03> : tensor<f32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %keep = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %w = stablehlo.multiply %raw, %scale : tensor<f32>
    %s = stablehlo.select %keep, %w, %low : tensor<i1>, tensor<f32>
    pairs.yield %s : tensor<f32>
  } slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %b: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale = stablehlo.constant dense<0.03> : tensor<f32>
    %s = stablehlo.multiply %ds, %scale : tensor<f32>
    pairs.yield %s : tensor<f32>
  } : (tensor<2x150x128xbf16>, tensor<150x128xbf16>, tensor<150x128xbf16>, tensor<2x150xf32>, tensor<2x150xf32>, tensor<2x150x128xf32>)
      -> (tensor<2x150x128xbf16>, tensor<150x128xbf16>, tensor<150x128xbf16>)
  return %0#0, %0#1, %0#2, %1#0, %1#1, %1#2 : tensor<300x72xbf16>, tensor<290x72xbf16>, tensor<290x40xbf16>, tensor<2x150x128xbf16>, tensor<150x128xbf16>, tensor<150x128xbf16>
}
