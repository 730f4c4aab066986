// A conversion to a narrow type and back rounds, wherever it stands: 1 + 2^-9
// is 1 in bf16.
// RUN: shard-run %s

func.func @main() {
  %0 = stablehlo.constant dense<[1.001953125, 3.0]> : tensor<2xf32>
  %1 = stablehlo.optimization_barrier %0 : tensor<2xf32>
  %2 = stablehlo.convert %1 : (tensor<2xf32>) -> tensor<2xbf16>
  %3 = stablehlo.convert %2 : (tensor<2xbf16>) -> tensor<2xf32>
  check.expect_eq_const %3, dense<[1.0, 3.0]> : tensor<2xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  check.expect_eq_const %4, dense<4.0> : tensor<f32>
  return
}
