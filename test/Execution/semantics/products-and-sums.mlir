// A product and a sum are rounded one after the other, whether one kernel has both or the product is a result as well, in vectors (17 numbers are two
// of eight, and one) and in what is left over. So a value that another program computes again has the same bits. 1 + 2^-12 squared is
// 1 + 2^-11 + 2^-24, which rounds to 1 + 2^-11; rounded once, 2^-24 would be left.
// RUN: %npz write %t.npz 'in0=<f4:17:1.000244140625' 'in1=<f4:17:1.00048828125' 'out0=<f4:17:0' 'out1=<f4:17:1.00048828125' 'out2=<f4:17:0' 'out3=<f4::0' 'out4=<f4:17:0' 'out5=<f4:17:0'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 --quick
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 --arch=x86-64-v2
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 --device=emulated-cuda
func.func @main(%x: tensor<17xf32>, %y: tensor<17xf32>) -> (tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<f32>, tensor<17xf32>, tensor<17xf32>) {
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
  // A program has a product in its loop, its gradient before the loop, where the product is the same in each iteration.
  %none = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %many = stablehlo.constant dense<3> : tensor<i32>
  %8:3 = stablehlo.optimization_barrier %x, %x, %5 : tensor<17xf32>, tensor<17xf32>, tensor<17xf32>
  %before = stablehlo.multiply %8#1, %8#1 : tensor<17xf32>
  %9:6 = stablehlo.while(%i = %none, %a = %8#0, %b = %before, %c = %8#2, %d = %8#2, %e = %8#2) : tensor<i32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>
  cond {
    %10 = stablehlo.compare LT, %i, %many : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %10 : tensor<i1>
  } do {
    %10 = stablehlo.add %i, %one : tensor<i32>
    %11 = stablehlo.multiply %a, %a : tensor<17xf32>
    %12 = stablehlo.add %11, %c : tensor<17xf32>
    %13 = stablehlo.add %b, %c : tensor<17xf32>
    stablehlo.return %10, %a, %b, %c, %12, %13 : tensor<i32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>
  }
  return %0, %stored, %2, %7, %9#4, %9#5 : tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<f32>, tensor<17xf32>, tensor<17xf32>
}
