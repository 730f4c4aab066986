// Products of 8-bit floats. On sm_90a wgmma multiplies them as they are, where precision is DEFAULT: rows that TMA copies load, both types, batches,
// dims that are one, lines that run and rows that are not aligned, which threads load, a depth that is cut, scales and a cast behind. Other kernels have factors of f16.
// The interpreter, which knows no kernels, says what is right; numbers of the generator are so short that sums of their products are exact.
// RUN: shard-run %s --seed=4 --device=emulated-cuda --check-kernels --check=interpreter --outputs=@%t.npz
// RUN: shard-run %s --seed=4 --device=emulated-cuda --kernel-schedule=random=5 --check-kernels --expect=@%t.npz
// RUN: shard-run %s --seed=4 --device=emulated-cuda --arch=sm_80 --check-kernels --expect=@%t.npz
// Other rows on each rank, none on one.
// RUN: shard-run %s --mesh=x=3 --sizes=0:1=70,0,80 --seed=4 --device=emulated-cuda --check-kernels --expect=@%t.npz
// A depth of 128 is four products of 32.
// RUN: shard-translate %s --target=cuda --arch=sm_90a --emit=ptx -o - | FileCheck %s
// CHECK-DAG: wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e5m2
// CHECK-DAG: wgmma.mma_async.sync.aligned.m64n128k32.f32.e5m2.e4m3
// CHECK-DAG: wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3
// CHECK-DAG: mma.sync.aligned.m16n8k16{{.*}}.f32.f16.f16.f32
// RUN: shard-translate %s --target=cuda --arch=sm_90a --precision=highest --emit=ptx -o - | FileCheck %s --check-prefix=HIGHEST
// HIGHEST-NOT: wgmma
// HIGHEST: mma.sync.aligned.m16n8k16{{.*}}.f32.f16.f16.f32
// HIGHEST-NOT: wgmma
sdy.mesh @mesh = <["x"=1]>
func.func @main(%x: tensor<2x150x272xf8E4M3FN> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %y: tensor<2x72x272xf8E5M2>, %u: tensor<80x136xf8E5M2>, %v: tensor<75x80xf8E4M3FN>,
                %m: tensor<3x24x8x16xf8E4M3FN>, %w: tensor<8x16x80xf8E4M3FN>, %p: tensor<64x2120xf8E4M3FN>, %q: tensor<72x2120xf8E4M3FN>, %scale: tensor<72xf32>)
    -> (tensor<2x150x72xf32>, tensor<136x75xf32>, tensor<3x24x80xf32>, tensor<64x72xbf16>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<64x72xf8E4M3FN>) {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x150x272xf8E4M3FN>, tensor<2x72x272xf8E5M2>) -> tensor<2x150x72xf32>
  %1 = stablehlo.dot_general %u, %v, contracting_dims = [0] x [1] : (tensor<80x136xf8E5M2>, tensor<75x80xf8E4M3FN>) -> tensor<136x75xf32>
  %2 = stablehlo.dot_general %m, %w, contracting_dims = [2, 3] x [0, 1] : (tensor<3x24x8x16xf8E4M3FN>, tensor<8x16x80xf8E4M3FN>) -> tensor<3x24x80xf32>
  // As JAX writes a product of what has scales.
  %sum = stablehlo.dot_general %p, %q, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x2120xf8E4M3FN>, tensor<72x2120xf8E4M3FN>) -> tensor<64x72xf32>
  %scales = stablehlo.broadcast_in_dim %scale, dims = [1] : (tensor<72xf32>) -> tensor<64x72xf32>
  %scaled = stablehlo.multiply %sum, %scales : tensor<64x72xf32>
  %3 = stablehlo.convert %scaled : (tensor<64x72xf32>) -> tensor<64x72xbf16>
  // Each code times each: a row and a column have one number that is not zero.
  %code = stablehlo.iota dim = 0 : tensor<256x64xi32>
  %depth = stablehlo.iota dim = 1 : tensor<256x64xi32>
  %five = stablehlo.constant dense<5> : tensor<256x64xi32>
  %none = stablehlo.constant dense<0> : tensor<256x64xi32>
  %here = stablehlo.compare EQ, %depth, %five : (tensor<256x64xi32>, tensor<256x64xi32>) -> tensor<256x64xi1>
  %codes = stablehlo.select %here, %code, %none : tensor<256x64xi1>, tensor<256x64xi32>
  %bytes = stablehlo.convert %codes : (tensor<256x64xi32>) -> tensor<256x64xui8>
  %a = stablehlo.bitcast_convert %bytes : (tensor<256x64xui8>) -> tensor<256x64xf8E4M3FN>
  %b = stablehlo.bitcast_convert %bytes : (tensor<256x64xui8>) -> tensor<256x64xf8E5M2>
  %4 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<256x64xf8E4M3FN>, tensor<256x64xf8E5M2>) -> tensor<256x256xf32>
  %5 = stablehlo.dot_general %b, %a, contracting_dims = [1] x [1] : (tensor<256x64xf8E5M2>, tensor<256x64xf8E4M3FN>) -> tensor<256x256xf32>
  // Results of 8 bits, some side by side.
  %6 = stablehlo.dot_general %p, %q, contracting_dims = [1] x [1] : (tensor<64x2120xf8E4M3FN>, tensor<72x2120xf8E4M3FN>) -> tensor<64x72xf8E4M3FN>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x150x72xf32>, tensor<136x75xf32>, tensor<3x24x80xf32>, tensor<64x72xbf16>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<64x72xf8E4M3FN>
}
