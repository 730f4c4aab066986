// Products of subnormal numbers of bf16 count: 64 times 2^-130 by 2^120. Where the processor has AVX512-BF16, its own sums of two
// products take them for zero, so these are not for programs that are to be reproducible, or made for other processors.
// RUN: %npz write %t.npz 'in0=<u2:64x64:8' 'in1=<u2:64x64:31616' 'out0=<f4:64x64:0.0625'
// RUN: shard-run %s --arch=x86-64-v3 --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0
// RUN: %if avx512 %{ shard-run %s --arch=x86-64-v4 --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 %}
// RUN: shard-run %s --reproducible --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0
func.func @main(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<64x64xf32> {
  %c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}
