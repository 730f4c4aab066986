func.func @main(%x: tensor<4x!quant.uniform<i8:f32, 0.5:0>>) -> tensor<4xf32> {
  %0 = stablehlo.uniform_dequantize %x : (tensor<4x!quant.uniform<i8:f32, 0.5:0>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
