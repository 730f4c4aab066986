func.func @main() {
  %0 = stablehlo.constant dense<[1.0, 2.0, 0x7FC00000]> : tensor<3xf32>
  %1 = stablehlo.add %0, %0 : tensor<3xf32>
  check.expect_almost_eq_const %1, dense<[2.0, 4.00001, 0x7FC00000]> : tensor<3xf32>
  check.expect_close %1, %1, max_ulp_difference = 3, min_ulp_difference = 0 : tensor<3xf32>, tensor<3xf32>
  "check.expect_close"(%1, %1) {max_ulp_difference = 3 : i64, min_ulp_difference = 0 : i64} : (tensor<3xf32>, tensor<3xf32>) -> ()
  "check.expect_almost_eq_const"(%1) <{value = dense<[2.1, 4.0, 0x7FC00000]> : tensor<3xf32>, tolerance = 0.2 : f64}> : (tensor<3xf32>) -> ()
  check.expect_almost_eq_const %1, dense<[2.0, 4.1, 0x7FC00000]> : tensor<3xf32> {tolerance = 0.2 : f64}
  stablehlo.custom_call @check.expect_close(%1, %1) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %2 = stablehlo.custom_call @check.eq(%0, %0) : (tensor<3xf32>, tensor<3xf32>) -> tensor<i1>
  check.expect_eq_const %2, dense<false> : tensor<i1>
  func.return
}

// -----

func.func @add() {
  %0 = stablehlo.constant dense<[1, -2]> : tensor<2xi8>
  %1 = stablehlo.constant dense<[127, -128]> : tensor<2xi8>
  %2 = stablehlo.add %0, %1 : tensor<2xi8>
  check.expect_eq_const %2, dense<[-128, 126]> : tensor<2xi8>
  func.return
}
