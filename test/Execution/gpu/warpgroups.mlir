// Products that sm_90a does with bulk copies and wgmma: both directions of both operands, batches, merged dims and a
// depth that is cut among blocks, of sizes that are no multiples of a tile; several tiles a block. The host's kernels, which
// know none of this, must agree, and so must the kernels that other GPUs run; every access is looked at.
// RUN: shard-run %s --seed=4 --outputs=@%t.npz
// RUN: shard-run %s --seed=4 --device=emulated-cuda --check-kernels --expect=@%t.npz --atol=1e-4
// RUN: shard-run %s --seed=4 --device=emulated-cuda --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --atol=1e-4
// RUN: shard-run %s --seed=4 --device=emulated-cuda --kernel-schedule=random=5 --check-kernels --expect=@%t.npz --atol=1e-4
// RUN: shard-run %s --seed=4 --device=emulated-cuda --arch=sm_80 --check-kernels --expect=@%t.npz --atol=1e-4
// RUN: shard-translate %s --target=cuda --arch=sm_90a --emit=ptx -o - | FileCheck %s
// RUN: shard-translate %s --target=cuda --arch=sm_80 --emit=ptx -o - | FileCheck %s --check-prefix=OLDER
// CHECK: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// OLDER-NOT: wgmma
// OLDER: mma.sync
// OLDER-NOT: wgmma
func.func @main(%x: tensor<3x150x72xbf16>, %y: tensor<3x200x72xbf16>, %h: tensor<80x136xf16>, %g: tensor<80x264xf16>,
                %m: tensor<5x40x8x16xbf16>, %w: tensor<8x16x96xbf16>, %p: tensor<64x2120xbf16>, %q: tensor<72x2120xbf16>)
    -> (tensor<3x150x200xf32>, tensor<136x264xf32>, tensor<5x40x96xf32>, tensor<64x72xf32>) {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x150x72xbf16>, tensor<3x200x72xbf16>) -> tensor<3x150x200xf32>
  %1 = stablehlo.dot_general %h, %g, contracting_dims = [0] x [0] : (tensor<80x136xf16>, tensor<80x264xf16>) -> tensor<136x264xf32>
  %2 = stablehlo.dot_general %m, %w, contracting_dims = [2, 3] x [0, 1] : (tensor<5x40x8x16xbf16>, tensor<8x16x96xbf16>) -> tensor<5x40x96xf32>
  %3 = stablehlo.dot_general %p, %q, contracting_dims = [1] x [1] : (tensor<64x2120xbf16>, tensor<72x2120xbf16>) -> tensor<64x72xf32>
  return %0, %1, %2, %3 : tensor<3x150x200xf32>, tensor<136x264xf32>, tensor<5x40x96xf32>, tensor<64x72xf32>
}
