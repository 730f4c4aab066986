// The gradient of attention in bf16 without extras, in shards: a window of 101 keys (causal), heads that share keys, features that fill no tile.
spmd.mesh @mesh = <["x"=2, "y"=2]>
#q = affine_map<(g, q, k, d, e) -> (g, q, d)>
#k = affine_map<(g, q, k, d, e) -> (k, d)>
#v = affine_map<(g, q, k, d, e) -> (k, e)>
#o = affine_map<(g, q, k, d, e) -> (q, g, e)>
#r = affine_map<(g, q, k, d, e) -> (g, q)>
func.func @main(%q: tensor<2x260x40xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{"y"}, {"x"}, {}]>},
                %k: tensor<260x40xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %v: tensor<260x56xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %g: tensor<260x2x56xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {"y"}, {}]>})
    -> (tensor<2x260x40xbf16>, tensor<260x40xbf16>, tensor<260x56xbf16>) {
  %o, %max, %sum = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #o, #r, #r] {band_lower = -100 : i64, band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %width = stablehlo.constant dense<100> : tensor<i32>
    %scale = stablehlo.constant dense<0.16> : tensor<f32>
    %last = stablehlo.add %j, %width : tensor<i32>
    %1 = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.compare LE, %i, %last : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.and %1, %2 : tensor<i1>
    %4 = stablehlo.multiply %raw, %scale : tensor<f32>
    %5 = stablehlo.select %3, %4, %low : tensor<i1>, tensor<f32>
    pairs.yield %5 : tensor<f32>
  } : (tensor<2x260x40xbf16>, tensor<260x40xbf16>, tensor<260x56xbf16>) -> (tensor<260x2x56xf32>, tensor<2x260xf32>, tensor<2x260xf32>)
  %rows = stablehlo.broadcast_in_dim %sum, dims = [1, 0] : (tensor<2x260xf32>) -> tensor<260x2x56xf32>
  %part = stablehlo.divide %g, %rows : tensor<260x2x56xf32>
  %og = stablehlo.multiply %o, %part : tensor<260x2x56xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sums = stablehlo.reduce(%og init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<260x2x56xf32>, tensor<f32>) -> tensor<260x2xf32>
  %delta = stablehlo.transpose %sums, dims = [1, 0] : (tensor<260x2xf32>) -> tensor<2x260xf32>
  %dq, %dk, %dv = pairs.attention_backward %q, %k, %v, %max, %delta, %part
      maps [#q, #k, #v, #r, #r, #o, #q, #k, #v] {band_lower = -100 : i64, band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %width = stablehlo.constant dense<100> : tensor<i32>
    %scale = stablehlo.constant dense<0.16> : tensor<f32>
    %last = stablehlo.add %j, %width : tensor<i32>
    %1 = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.compare LE, %i, %last : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.and %1, %2 : tensor<i1>
    %4 = stablehlo.multiply %raw, %scale : tensor<f32>
    %5 = stablehlo.select %3, %4, %low : tensor<i1>, tensor<f32>
    pairs.yield %5 : tensor<f32>
  } slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale = stablehlo.constant dense<0.16> : tensor<f32>
    %1 = stablehlo.multiply %ds, %scale : tensor<f32>
    pairs.yield %1 : tensor<f32>
  } : (tensor<2x260x40xbf16>, tensor<260x40xbf16>, tensor<260x56xbf16>, tensor<2x260xf32>, tensor<2x260xf32>, tensor<260x2x56xf32>)
      -> (tensor<2x260x40xbf16>, tensor<260x40xbf16>, tensor<260x56xbf16>)
  return %dq, %dk, %dv : tensor<2x260x40xbf16>, tensor<260x40xbf16>, tensor<260x56xbf16>
}
