// Large tiles with work behind them: a bias, gelu, a residual, a cast.
func.func @main(%a: tensor<2048x1024xbf16>, %b: tensor<1024x2048xbf16>, %c: tensor<2048xf32>, %r: tensor<2048x2048xbf16>,
                %p: tensor<2048x512xf32>, %q: tensor<512x2048xf32>, %s: tensor<2048xf32>) -> (tensor<2048x2048xbf16>, tensor<2048x2048xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2048x1024xbf16>, tensor<1024x2048xbf16>) -> tensor<2048x2048xf32>
  %bias = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<2048xf32>) -> tensor<2048x2048xf32>
  %1 = stablehlo.add %0, %bias : tensor<2048x2048xf32>
  %half = stablehlo.constant dense<0.5> : tensor<2048x2048xf32>
  %one = stablehlo.constant dense<1.0> : tensor<2048x2048xf32>
  %k = stablehlo.constant dense<0.044715> : tensor<2048x2048xf32>
  %2 = stablehlo.multiply %1, %1 : tensor<2048x2048xf32>
  %3 = stablehlo.multiply %2, %k : tensor<2048x2048xf32>
  %4 = stablehlo.add %3, %one : tensor<2048x2048xf32>
  %5 = stablehlo.multiply %1, %4 : tensor<2048x2048xf32>
  %6 = stablehlo.tanh %5 : tensor<2048x2048xf32>
  %7 = stablehlo.add %6, %one : tensor<2048x2048xf32>
  %8 = stablehlo.multiply %7, %half : tensor<2048x2048xf32>
  %9 = stablehlo.multiply %8, %1 : tensor<2048x2048xf32>
  %10 = stablehlo.convert %9 : (tensor<2048x2048xf32>) -> tensor<2048x2048xbf16>
  %11 = stablehlo.add %10, %r : tensor<2048x2048xbf16>
  %12 = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0] : (tensor<2048x512xf32>, tensor<512x2048xf32>) -> tensor<2048x2048xf32>
  %rows = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<2048xf32>) -> tensor<2048x2048xf32>
  %13 = stablehlo.multiply %12, %rows : tensor<2048x2048xf32>
  return %11, %13 : tensor<2048x2048xbf16>, tensor<2048x2048xf32>
}
