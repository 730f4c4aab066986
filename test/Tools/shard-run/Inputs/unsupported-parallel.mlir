func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i64>
  %1 = "interpreter.run_parallel"(%0) {programs = [[@foo]]} : (tensor<i64>) -> tensor<i64>
  check.expect_eq_const %1, dense<1> : tensor<i64>
  return
}
