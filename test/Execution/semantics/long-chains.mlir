// Elementwise chains are computed for several registers side by side: each op rounds as the interpreter's does, in whole
// vectors and in what is left over.
// RUN: shard-run %s --check=interpreter --rtol=0 --atol=0
// RUN: shard-run %s --check=interpreter --rtol=0 --atol=0 --arch=x86-64-v3 --threads=2
// RUN: shard-run %s --check=interpreter --rtol=0 --atol=0 --arch=x86-64-v2 --quick
func.func @main(%a: tensor<5003xf32>, %b: tensor<5003xf32>, %c: tensor<5003xf32>) -> tensor<5003xf32> {
  %0 = stablehlo.multiply %a, %b : tensor<5003xf32>
  %1 = stablehlo.add %0, %c : tensor<5003xf32>
  %2 = stablehlo.minimum %1, %b : tensor<5003xf32>
  %3 = stablehlo.subtract %2, %a : tensor<5003xf32>
  %4 = stablehlo.multiply %3, %b : tensor<5003xf32>
  %5 = stablehlo.add %4, %c : tensor<5003xf32>
  %6 = stablehlo.minimum %5, %b : tensor<5003xf32>
  %7 = stablehlo.subtract %6, %a : tensor<5003xf32>
  %8 = stablehlo.multiply %7, %b : tensor<5003xf32>
  %9 = stablehlo.add %8, %c : tensor<5003xf32>
  %10 = stablehlo.minimum %9, %b : tensor<5003xf32>
  %11 = stablehlo.subtract %10, %a : tensor<5003xf32>
  %12 = stablehlo.multiply %11, %b : tensor<5003xf32>
  %13 = stablehlo.add %12, %c : tensor<5003xf32>
  %14 = stablehlo.minimum %13, %b : tensor<5003xf32>
  %15 = stablehlo.subtract %14, %a : tensor<5003xf32>
  return %15 : tensor<5003xf32>
}
