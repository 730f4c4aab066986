func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<2xf32>) {
  %0 = stablehlo.constant dense<[1.0, 2.5]> : tensor<2xf32>
  return %x, %0 : tensor<?xf32>, tensor<2xf32>
}
