// A step of attention, of sizes that tests of ptxas set.
#q = affine_map<(b, h, q, k, d, e) -> (b, h, q, d)>
#k = affine_map<(b, h, q, k, d, e) -> (b, h, k, d)>
#v = affine_map<(b, h, q, k, d, e) -> (b, h, k, e)>
#out = affine_map<(b, h, q, k, d, e) -> (b, h, q, e)>
#row = affine_map<(b, h, q, k, d, e) -> (b, h, q)>
func.func @main(%q: tensor<1x2x150x64xbf16>, %k: tensor<1x2x200x64xbf16>, %v: tensor<1x2x200x64xbf16>)
    -> (tensor<1x2x150x64xf32>, tensor<1x2x150xf32>, tensor<1x2x150xf32>) {
  %0:3 = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #out, #row, #row] score {
  ^bb0(%raw: tensor<f32>, %b: tensor<i32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale = stablehlo.constant dense<0.25> : tensor<f32>
    %1 = stablehlo.multiply %raw, %scale : tensor<f32>
    pairs.yield %1 : tensor<f32>
  } : (tensor<1x2x150x64xbf16>, tensor<1x2x200x64xbf16>, tensor<1x2x200x64xbf16>)
      -> (tensor<1x2x150x64xf32>, tensor<1x2x150xf32>, tensor<1x2x150xf32>)
  return %0#0, %0#1, %0#2 : tensor<1x2x150x64xf32>, tensor<1x2x150xf32>, tensor<1x2x150xf32>
}
