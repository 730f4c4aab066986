// RUN: shard-opt %s --split-input-file --spmd-collect-checks --verify-diagnostics

func.func @main() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // expected-error @below {{'check.expect_close' op check of kind close has distances from 5 to 3 ulps}}
  check.expect_close %0, %0, max_ulp_difference = 3, min_ulp_difference = 5 : tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @main() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // expected-error @below {{'check.expect_almost_eq' op check of kind almost_eq has tolerance -1.000000e-03 : f64}}
  check.expect_almost_eq %0, %0, tolerance = -1.0e-3 : tensor<2xf32>
  return
}

// -----

// In a branch, where it becomes a result of the branch.
func.func @main(%which: tensor<i32>) {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  "stablehlo.case"(%which) ({
    // expected-error @below {{'check.expect_close' op check of kind close has distances from 18446744073709551615 to 3 ulps}}
    check.expect_close %0, %0, max_ulp_difference = 3, min_ulp_difference = -1 : tensor<2xf32>, tensor<2xf32>
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i32>) -> ()
  return
}
