// A product and a sum are rounded one after the other, whether one kernel has both or the product is a result as well, in vectors (17 numbers are two
// of eight, and one) and in what is left over. So a value that another program computes again has the same bits. 1 + 2^-12 squared is
// 1 + 2^-11 + 2^-24, which rounds to 1 + 2^-11; rounded once, 2^-24 would be left.
// RUN: %npz write %t.npz 'in0=<f4:17:1.000244140625' 'in1=<f4:17:1.00048828125' 'out0=<f4:17:0' 'out1=<f4:17:1.00048828125' 'out2=<f4:17:0' 'out3=<f4::0'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 --quick
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 --arch=x86-64-v2
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 --device=emulated-cuda
func.func @main(%x: tensor<17xf32>, %y: tensor<17xf32>) -> (tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %inside = stablehlo.multiply %x, %x : tensor<17xf32>
  %0 = stablehlo.subtract %inside, %y : tensor<17xf32>
  %1:2 = stablehlo.optimization_barrier %x, %y : tensor<17xf32>, tensor<17xf32>
  %stored = stablehlo.multiply %1#0, %1#0 : tensor<17xf32>
  %2 = stablehlo.subtract %stored, %1#1 : tensor<17xf32>
  // Of a reduction, too: the sum of what is left is 0.
  %3:2 = stablehlo.optimization_barrier %x, %y : tensor<17xf32>, tensor<17xf32>
  %4 = stablehlo.multiply %3#0, %3#0 : tensor<17xf32>
  %5 = stablehlo.negate %3#1 : tensor<17xf32>
  %6 = stablehlo.add %4, %5 : tensor<17xf32>
  %7 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<17xf32>, tensor<f32>) -> tensor<f32>
  return %0, %stored, %2, %7 : tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<f32>
}
