// An integer that is made a float and then a narrower one is rounded twice, as
// the program says: to the tie, and from there to even. From the integer it is
// rounded once.
// RUN: shard-run %s

func.func @main() {
  // 2^30 + 2^22 + 1: f32 has 2^30 + 2^22, between 2^30 and 2^30 + 2^23 of bf16.
  %0 = stablehlo.constant dense<[1077936129, -1077936129]> : tensor<2xi32>
  %1 = stablehlo.optimization_barrier %0 : tensor<2xi32>
  %2 = stablehlo.convert %1 : (tensor<2xi32>) -> tensor<2xf32>
  %3 = stablehlo.convert %2 : (tensor<2xf32>) -> tensor<2xbf16>
  %4 = stablehlo.convert %3 : (tensor<2xbf16>) -> tensor<2xf32>
  check.expect_eq_const %4, dense<[1073741824.0, -1073741824.0]> : tensor<2xf32>
  %5 = stablehlo.convert %1 : (tensor<2xi32>) -> tensor<2xbf16>
  %6 = stablehlo.convert %5 : (tensor<2xbf16>) -> tensor<2xf32>
  check.expect_eq_const %6, dense<[1082130432.0, -1082130432.0]> : tensor<2xf32>

  // 2^60 + 2^36 + 1: f64 has 2^60 + 2^36, between 2^60 and 2^60 + 2^37 of f32.
  %7 = stablehlo.constant dense<1152921573326323713> : tensor<1xui64>
  %8 = stablehlo.optimization_barrier %7 : tensor<1xui64>
  %9 = stablehlo.convert %8 : (tensor<1xui64>) -> tensor<1xf64>
  %10 = stablehlo.convert %9 : (tensor<1xf64>) -> tensor<1xf32>
  check.expect_eq_const %10, dense<1152921504606846976.0> : tensor<1xf32>
  %11 = stablehlo.convert %8 : (tensor<1xui64>) -> tensor<1xf32>
  check.expect_eq_const %11, dense<1152921642045800448.0> : tensor<1xf32>
  return
}
