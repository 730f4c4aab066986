func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i64>
  %1 = "vhlo.abs_v1"(%0) : (tensor<i64>) -> tensor<i64>
  check.expect_eq_const %1, dense<1> : tensor<i64>
  return
}
