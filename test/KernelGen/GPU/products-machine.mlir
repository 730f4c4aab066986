// RUN: shard-translate %s --target=cuda --arch=sm_80 --machine=generic,multiprocessors=9 --emit=ptx -o - | FileCheck %s
// RUN: shard-translate %s --target=cuda --arch=sm_80 --machine=generic,multiprocessors=9,shared_cache_bandwidth=1GB/s --emit=ptx -o - | FileCheck %s --check-prefix=SLOW
// Tiles of products on tensor cores follow from figures of the machine. Nine multiprocessors make nine tiles of 64 x 64 at once, a warp
// 2 x 4 fragments of two depths. Where the second-level cache is slow, what is read decides: 4 x 192 lines of tiles of 96 x 96, a warp 3 x 6
// fragments, and not 9 x 128.
// CHECK-COUNT-16: mma.sync.aligned.m16n8k16
// CHECK-NOT: mma.sync
// SLOW-COUNT-36: mma.sync.aligned.m16n8k16
// SLOW-NOT: mma.sync
func.func @main(%a: tensor<140x512xbf16>, %b: tensor<512x140xbf16>) -> tensor<140x140xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<140x512xbf16>, tensor<512x140xbf16>) -> tensor<140x140xf32>
  return %0 : tensor<140x140xf32>
}
