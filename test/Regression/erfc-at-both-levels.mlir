// RUN: shard-run %s --seed=0 --range=-3,3 --reproducible --arch=x86-64-v3 --outputs=@%t.avx2.npz
// RUN: shard-run %s --seed=0 --range=-3,3 --reproducible --arch=x86-64-v4 --outputs=@%t.avx512.npz
// RUN: cmp %t.avx2.npz %t.avx512.npz
// REQUIRES: x86, avx512
// erfc is looked up in tables of eight, or of sixteen where registers have as
// many lanes: other formulas, whose last bits differ. Exact bits take the same
// one on both.
func.func @main(%a: tensor<4096xf32>, %b: tensor<4096xbf16>, %c: tensor<4096xf16>)
    -> (tensor<4096xf32>, tensor<4096xbf16>, tensor<4096xf16>) {
  %0 = chlo.erfc %a : tensor<4096xf32> -> tensor<4096xf32>
  %1 = chlo.erfc %b : tensor<4096xbf16> -> tensor<4096xbf16>
  %2 = chlo.erfc %c : tensor<4096xf16> -> tensor<4096xf16>
  return %0, %1, %2 : tensor<4096xf32>, tensor<4096xbf16>, tensor<4096xf16>
}
