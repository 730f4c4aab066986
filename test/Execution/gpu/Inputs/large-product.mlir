// 2048 x 2048 results of depth 1024: tiles of 128 x 128 on tensor cores.
func.func @main(%a: tensor<2048x1024xbf16>, %b: tensor<1024x2048xbf16>) -> tensor<2048x2048xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2048x1024xbf16>, tensor<1024x2048xbf16>) -> tensor<2048x2048xf32>
  return %0 : tensor<2048x2048xf32>
}
