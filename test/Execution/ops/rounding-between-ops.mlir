// 1 + x of bf16 is 1 for these x. What is computed with it in the same kernel has it before that rounding, unless
// --reproducible is said; what is stored, compared, or converted by the program itself is rounded.
// RUN: %npz write %t.wide.npz 'out0=<f4:3:0.001953125,0.0009765625,-0.001953125' 'out1=<f4:3:0' 'out2=|b1:3:0' 'out3=<f4:3:1'
// RUN: %npz write %t.each.npz 'out0=<f4:3:0' 'out1=<f4:3:0' 'out2=|b1:3:0' 'out3=<f4:3:1'
// RUN: shard-run %s --input=3xf32=0.001953125,0.0009765625,-0.001953125 --expect=@%t.wide.npz --rtol=0 --atol=0
// RUN: shard-run %s --input=3xf32=0.001953125,0.0009765625,-0.001953125 --expect=@%t.each.npz --rtol=0 --atol=0 --reproducible
// RUN: not shard-run %s --input=3xf32=0.001953125,0.0009765625,-0.001953125 --expect=@%t.wide.npz --rtol=0 --atol=0 --reproducible
func.func public @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xi1>, tensor<3xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<3xbf16>
  %one32 = stablehlo.constant dense<1.0> : tensor<3xf32>
  %a = stablehlo.convert %x : (tensor<3xf32>) -> tensor<3xbf16>
  %sum = stablehlo.add %a, %one : tensor<3xbf16>
  %back = stablehlo.subtract %sum, %one : tensor<3xbf16>
  %0 = stablehlo.convert %back : (tensor<3xbf16>) -> tensor<3xf32>
  %wide = stablehlo.convert %sum : (tensor<3xbf16>) -> tensor<3xf32>
  %1 = stablehlo.subtract %wide, %one32 : tensor<3xf32>
  %2 = stablehlo.compare NE, %sum, %one : (tensor<3xbf16>, tensor<3xbf16>) -> tensor<3xi1>
  return %0, %1, %2, %wide : tensor<3xf32>, tensor<3xf32>, tensor<3xi1>, tensor<3xf32>
}
