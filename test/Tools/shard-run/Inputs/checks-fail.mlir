func.func @main() {
  %0 = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %1 = stablehlo.add %0, %0 : tensor<3xf32>
  check.expect_eq_const %1, dense<[2.0, 4.0, 6.0]> : tensor<3xf32>
  check.expect_almost_eq_const %1, dense<[2.0, 4.001, 6.0]> : tensor<3xf32>
  func.return
}

// -----

func.func @nan_is_unequal() {
  %0 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  check.expect_eq %0, %0 : tensor<f32>
  func.return
}

// -----

func.func @four_apart() {
  %0 = stablehlo.constant dense<0x3F800000> : tensor<f32>
  %1 = stablehlo.constant dense<0x3F800004> : tensor<f32>
  check.expect_close %0, %1, max_ulp_difference = 3, min_ulp_difference = 0 : tensor<f32>, tensor<f32>
  func.return
}

// -----

func.func @holds() {
  %0 = stablehlo.constant dense<(1.0,2.0)> : tensor<complex<f64>>
  check.expect_eq_const %0, dense<(1.0,2.0)> : tensor<complex<f64>>
  func.return
}
