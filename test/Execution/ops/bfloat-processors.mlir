// Tails of rows of bf16 are stored on processors without masked stores of 16
// bits too: no element is converted again where it is taken out of a vector.
// 256 and above, of which bf16 has the even numbers (17280 is 256, 17281 258):
// ties go to multiples of four. NaN stays NaN.
// RUN: %npz write %t.npz 'out0=<u2:7x5:17280,17280,17281,17282,17282,17282,17283,17284,17284,17284,17285,17286,17286,17286,17287,17288,17288,17288,17289,17290,17290,17290,17291,17292,17292,17292,17293,17294,17294,17294,17295,17296,17296,17296,17297' \
// RUN:   'out1=<u2:7x5:17280,17280,17281,17282,17282,17282,17283,17284,17284,17284,17285,17286,17286,17286,17287,17288,17288,17288,17289,17290,17290,17290,17291,17292,17292,17292,17293,17294,17294,17294,17295,17296,17296,17296,17297' \
// RUN:   'out2=<u2:3:32704,50065,32704'
// RUN: shard-run %s --arch=x86-64 --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-run %s --arch=x86-64-v3 --expect=@%t.npz --rtol=0 --atol=0
// RUN: %if avx512 %{ shard-run %s --arch=x86-64-v4 --expect=@%t.npz --rtol=0 --atol=0 %}
func.func @main() -> (tensor<7x5xbf16>, tensor<7x5xbf16>, tensor<3xbf16>) {
  %i = stablehlo.iota dim = 0 : tensor<35xi32>
  %c = stablehlo.constant dense<256> : tensor<35xi32>
  %n = stablehlo.add %i, %c : tensor<35xi32>
  %o = stablehlo.optimization_barrier %n : tensor<35xi32>
  %r = stablehlo.reshape %o : (tensor<35xi32>) -> tensor<7x5xi32>
  %f = stablehlo.convert %r : (tensor<7x5xi32>) -> tensor<7x5xf32>
  %0 = stablehlo.convert %f : (tensor<7x5xf32>) -> tensor<7x5xbf16>
  %d = stablehlo.convert %r : (tensor<7x5xi32>) -> tensor<7x5xf64>
  %1 = stablehlo.convert %d : (tensor<7x5xf64>) -> tensor<7x5xbf16>
  %x = stablehlo.constant dense<[-1.0, 84100.0, -2.0]> : tensor<3xf32>
  %y = stablehlo.optimization_barrier %x : tensor<3xf32>
  %s = stablehlo.sqrt %y : tensor<3xf32>
  %m = stablehlo.negate %s : tensor<3xf32>
  %2 = stablehlo.convert %m : (tensor<3xf32>) -> tensor<3xbf16>
  return %0, %1, %2 : tensor<7x5xbf16>, tensor<7x5xbf16>, tensor<3xbf16>
}
