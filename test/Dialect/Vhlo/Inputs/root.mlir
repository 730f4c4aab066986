func.func @main(%x: tensor<2xf32>, %i: tensor<1xi32>) -> tensor<2xf32> attributes {o = ["a", "b"]} {
  %0 = "stablehlo.collective_broadcast"(%x, %i) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root} : (tensor<2xf32>, tensor<1xi32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
