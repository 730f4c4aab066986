// RUN: shard-run %s --reproducible
// Factors of f64 are cut into slices, the second of what the first leaves. An infinity is in the first alone; times the
// zeros of the second of the other factor it was no number.
sdy.mesh @mesh = <["x"=2]>
func.func @main() {
  %0 = stablehlo.constant dense<[[0x7FF0000000000000, 1.0, 3.0], [2.0, 3.0, 4.0], [0xFFF0000000000000, 0.0, 5.0]]> : tensor<3x3xf64>
  %1 = stablehlo.constant dense<[[1.0, -2.0], [3.0, 4.0], [0.5, 0.25]]> : tensor<3x2xf64>
  %given:2 = stablehlo.optimization_barrier %0, %1 : tensor<3x3xf64>, tensor<3x2xf64>
  %cut = sdy.sharding_constraint %given#0 <@mesh, [{}, {"x"}]> : tensor<3x3xf64>
  %product = stablehlo.dot_general %cut, %given#1, contracting_dims = [1] x [0] : (tensor<3x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  check.expect_eq_const %product, dense<[[0x7FF0000000000000, 0xFFF0000000000000], [13.0, 9.0], [0xFFF0000000000000, 0x7FF0000000000000]]> : tensor<3x2xf64>
  return
}
