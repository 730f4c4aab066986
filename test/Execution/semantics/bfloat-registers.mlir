// f32 rounds to bf16 in whole registers as it does by integers, whatever the
// lanes beside it: of each upper half of f32 with the lower halves about a half
// unit, in order and mixed, so that few of 16 neighbours are NaN or subnormal.
// RUN: shard-run %s
// RUN: shard-run %s --threads=2
// RUN: shard-run %s --arch=x86-64-v3
// RUN: %if avx512 %{ shard-run %s --arch=x86-64-v4 %}

func.func @main() {
  %n = stablehlo.iota dim = 1 : tensor<8x65536xui32>
  %kind = stablehlo.iota dim = 0 : tensor<8x65536xui32>
  // 0x7FFF, 0x8000, 0x8001 and 0x8002; the last four rows are mixed.
  %three = stablehlo.constant dense<3> : tensor<8x65536xui32>
  %four = stablehlo.constant dense<4> : tensor<8x65536xui32>
  %least = stablehlo.constant dense<0x7FFF> : tensor<8x65536xui32>
  %odd = stablehlo.constant dense<40503> : tensor<8x65536xui32>
  %low16 = stablehlo.constant dense<0xFFFF> : tensor<8x65536xui32>
  %sixteen = stablehlo.constant dense<16> : tensor<8x65536xui32>
  %one = stablehlo.constant dense<1> : tensor<8x65536xui32>
  %which = stablehlo.and %kind, %three : tensor<8x65536xui32>
  %lower = stablehlo.add %which, %least : tensor<8x65536xui32>
  %product = stablehlo.multiply %n, %odd : tensor<8x65536xui32>
  %mixed = stablehlo.and %product, %low16 : tensor<8x65536xui32>
  %isMixed = stablehlo.compare GE, %kind, %four : (tensor<8x65536xui32>, tensor<8x65536xui32>) -> tensor<8x65536xi1>
  %upper = stablehlo.select %isMixed, %mixed, %n : tensor<8x65536xi1>, tensor<8x65536xui32>
  %shifted = stablehlo.shift_left %upper, %sixteen : tensor<8x65536xui32>
  %made = stablehlo.or %shifted, %lower : tensor<8x65536xui32>
  %bits = stablehlo.optimization_barrier %made : tensor<8x65536xui32>

  %x = stablehlo.bitcast_convert %bits : (tensor<8x65536xui32>) -> tensor<8x65536xf32>
  %rounded = stablehlo.convert %x : (tensor<8x65536xf32>) -> tensor<8x65536xbf16>
  %got = stablehlo.bitcast_convert %rounded : (tensor<8x65536xbf16>) -> tensor<8x65536xui16>

  %half = stablehlo.shift_right_logical %bits, %sixteen : tensor<8x65536xui32>
  %last = stablehlo.and %half, %one : tensor<8x65536xui32>
  %more = stablehlo.add %last, %least : tensor<8x65536xui32>
  %sum = stablehlo.add %bits, %more : tensor<8x65536xui32>
  %words = stablehlo.shift_right_logical %sum, %sixteen : tensor<8x65536xui32>
  %isNan = stablehlo.compare NE, %x, %x : (tensor<8x65536xf32>, tensor<8x65536xf32>) -> tensor<8x65536xi1>
  %nan = stablehlo.constant dense<0x7FC0> : tensor<8x65536xui32>
  %wide = stablehlo.select %isNan, %nan, %words : tensor<8x65536xi1>, tensor<8x65536xui32>
  %expected = stablehlo.convert %wide : (tensor<8x65536xui32>) -> tensor<8x65536xui16>
  check.expect_eq %got, %expected : tensor<8x65536xui16>
  return
}
