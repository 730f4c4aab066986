// Floats to integers: towards zero; out of range saturates and NaN gives 0, as XLA has
// it. f64 to bf16 rounds once: 1 + 2^-8 + 2^-40 is above the tie.
// RUN: %npz write %t.npz 'in0=<f4:8:3.7,-3.7,nan,300,-300,inf,-inf,4e9' 'in1=<f8:2:1.0039062500009095,1.00390625' \
// RUN:   'out0=|i1:8:3,-3,0,127,-128,127,-128,127' 'out1=|u1:8:3,0,0,255,0,255,0,255' \
// RUN:   'out2=<i4:8:3,-3,0,300,-300,2147483647,-2147483648,2147483647' 'out3=|b1:8:1' \
// RUN:   'out4=<f4:2:1.0078125,1.0' 'out5=<u2:8:16493,49261,32704,17302,50070,32640,65408,20334'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0
func.func public @main(%a: tensor<8xf32>, %d: tensor<2xf64>)
    -> (tensor<8xi8>, tensor<8xui8>, tensor<8xi32>, tensor<8xi1>, tensor<2xf32>, tensor<8xui16>) {
  %0 = stablehlo.convert %a : (tensor<8xf32>) -> tensor<8xi8>
  %1 = stablehlo.convert %a : (tensor<8xf32>) -> tensor<8xui8>
  %2 = stablehlo.convert %a : (tensor<8xf32>) -> tensor<8xi32>
  %3 = stablehlo.convert %a : (tensor<8xf32>) -> tensor<8xi1>
  %4 = stablehlo.convert %d : (tensor<2xf64>) -> tensor<2xbf16>
  %5 = stablehlo.convert %4 : (tensor<2xbf16>) -> tensor<2xf32>
  %6 = stablehlo.convert %a : (tensor<8xf32>) -> tensor<8xbf16>
  %7 = stablehlo.bitcast_convert %6 : (tensor<8xbf16>) -> tensor<8xui16>
  return %0, %1, %2, %3, %5, %7
      : tensor<8xi8>, tensor<8xui8>, tensor<8xi32>, tensor<8xi1>, tensor<2xf32>, tensor<8xui16>
}
