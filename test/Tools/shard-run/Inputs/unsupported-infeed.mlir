func.func @main(%t: !stablehlo.token) -> tensor<2xf32> {
  %0:2 = "stablehlo.infeed"(%t) <{infeed_config = "x", layout = [[0]]}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return %0#0 : tensor<2xf32>
}
