// Nothing is less than a NaN, nor greater: no order. Kernels make it one, with NaN last, where a comparison is all that there is, so that
// lines of any length keep their elements. So does the total order of positive NaN.
// RUN: sed 's/, FLOAT/, TOTALORDER/' %s > %t.total.mlir
// RUN: shard-run %t.total.mlir --seed=3 --outputs=@%t.npz
// RUN: shard-run %s --seed=3 --device=emulated-cuda --check-kernels --expect=@%t.npz --rtol=0 --atol=0
func.func @main(%x: tensor<2x3000xf32>, %h: tensor<3x50xbf16>) -> (tensor<2x3000xf32>, tensor<3x50xbf16>) {
  %zero = stablehlo.constant dense<0.0> : tensor<2x3000xf32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<2x3000xf32>
  %below = stablehlo.compare LT, %x, %zero : (tensor<2x3000xf32>, tensor<2x3000xf32>) -> tensor<2x3000xi1>
  %some = stablehlo.select %below, %nan, %x : tensor<2x3000xi1>, tensor<2x3000xf32>
  %0 = "stablehlo.sort"(%some) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<2x3000xf32>) -> tensor<2x3000xf32>
  %hzero = stablehlo.constant dense<0.0> : tensor<3x50xbf16>
  %hnan = stablehlo.constant dense<0x7FC0> : tensor<3x50xbf16>
  %hbelow = stablehlo.compare LT, %h, %hzero : (tensor<3x50xbf16>, tensor<3x50xbf16>) -> tensor<3x50xi1>
  %hsome = stablehlo.select %hbelow, %hnan, %h : tensor<3x50xi1>, tensor<3x50xbf16>
  // The other way round, and flipped.
  %1 = "stablehlo.sort"(%hsome) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %c = stablehlo.compare GT, %b, %a, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<3x50xbf16>) -> tensor<3x50xbf16>
  return %0, %1 : tensor<2x3000xf32>, tensor<3x50xbf16>
}
