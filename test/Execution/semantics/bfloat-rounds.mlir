// f32 rounds to bf16 to the nearest number, of two to the even one, above the
// largest to infinity; every NaN stays one, whatever bits it has below those of
// bf16. The same where the result goes on in f32, and where a NaN of bf16 is
// computed with.
// RUN: shard-run %s --arch=x86-64
// RUN: shard-run %s --arch=x86-64-v3

func.func @main() {
  // 1 and a half unit, 1.0078125 and a half, below and above a half, the
  // largest f32, the largest that rounds down, subnormal numbers.
  %0 = stablehlo.constant dense<[0x3F808000, 0x3F818000, 0x3F807FFF, 0x3F808001, 0x7F7FFFFF, 0x7F7F7FFF, 0x00000001, 0x00018000, 0x80008001]> : tensor<9xui32>
  %1 = stablehlo.optimization_barrier %0 : tensor<9xui32>
  %2 = stablehlo.bitcast_convert %1 : (tensor<9xui32>) -> tensor<9xf32>
  %3 = stablehlo.convert %2 : (tensor<9xf32>) -> tensor<9xbf16>
  %4 = stablehlo.bitcast_convert %3 : (tensor<9xbf16>) -> tensor<9xui16>
  check.expect_eq_const %4, dense<[0x3F80, 0x3F82, 0x3F80, 0x3F81, 0x7F80, 0x7F7F, 0x0000, 0x0002, 0x8001]> : tensor<9xui16>
  %5 = stablehlo.convert %3 : (tensor<9xbf16>) -> tensor<9xf32>
  %6 = stablehlo.bitcast_convert %5 : (tensor<9xf32>) -> tensor<9xui32>
  check.expect_eq_const %6, dense<[0x3F800000, 0x3F820000, 0x3F800000, 0x3F810000, 0x7F800000, 0x7F7F0000, 0x00000000, 0x00020000, 0x80010000]> : tensor<9xui32>

  %n0 = stablehlo.constant dense<[0x7F800001, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FC00000, 0xFF807FFF]> : tensor<5xui32>
  %n1 = stablehlo.optimization_barrier %n0 : tensor<5xui32>
  %n2 = stablehlo.bitcast_convert %n1 : (tensor<5xui32>) -> tensor<5xf32>
  %n3 = stablehlo.convert %n2 : (tensor<5xf32>) -> tensor<5xbf16>
  %n4 = stablehlo.compare NE, %n3, %n3 : (tensor<5xbf16>, tensor<5xbf16>) -> tensor<5xi1>
  check.expect_eq_const %n4, dense<true> : tensor<5xi1>
  %n5 = stablehlo.negate %n2 : tensor<5xf32>
  %n6 = stablehlo.convert %n5 : (tensor<5xf32>) -> tensor<5xbf16>
  %n7 = stablehlo.convert %n6 : (tensor<5xbf16>) -> tensor<5xf32>
  %n8 = stablehlo.compare NE, %n7, %n7 : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  check.expect_eq_const %n8, dense<true> : tensor<5xi1>

  %b0 = stablehlo.constant dense<[0x7FFF, 0xFFFF, 0x7F81, 0x7FC0]> : tensor<4xui16>
  %b1 = stablehlo.optimization_barrier %b0 : tensor<4xui16>
  %b2 = stablehlo.bitcast_convert %b1 : (tensor<4xui16>) -> tensor<4xbf16>
  %b3 = stablehlo.multiply %b2, %b2 : tensor<4xbf16>
  %b4 = chlo.erfc %b3 : tensor<4xbf16> -> tensor<4xbf16>
  %b5 = stablehlo.add %b4, %b2 : tensor<4xbf16>
  %b6 = stablehlo.compare NE, %b5, %b5 : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xi1>
  check.expect_eq_const %b6, dense<true> : tensor<4xi1>
  return
}
