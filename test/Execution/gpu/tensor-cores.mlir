// Products of 16-bit floats on tensor cores: a batch, a transposed operand and a convolution, whose sizes are no
// multiples of a tile. The host's kernels, which know none of this, must agree; every access is looked at.
// RUN: shard-run %s --seed=4 --outputs=@%t.npz
// RUN: shard-run %s --seed=4 --device=emulated-cuda --check-kernels --expect=@%t.npz --atol=1e-4
// RUN: shard-run %s --seed=4 --device=emulated-cuda --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --atol=1e-4
// RUN: shard-run %s --seed=4 --device=emulated-cuda --kernel-schedule=random=5 --check-kernels --expect=@%t.npz --atol=1e-4
// RUN: shard-translate %s --target=cuda --emit=ptx -o - | FileCheck %s
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
func.func @main(%x: tensor<3x70x45xbf16>, %w: tensor<45x50xbf16>, %h: tensor<33x100xf16>, %g: tensor<70x100xf16>, %im: tensor<1x6x20x18xbf16>, %k: tensor<16x6x3x3xbf16>) -> (tensor<3x70x50xf32>, tensor<33x70xf32>, tensor<1x16x18x16xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<3x70x45xbf16>, tensor<45x50xbf16>) -> tensor<3x70x50xf32>
  %1 = stablehlo.dot_general %h, %g, contracting_dims = [1] x [1] : (tensor<33x100xf16>, tensor<70x100xf16>) -> tensor<33x70xf32>
  %2 = stablehlo.convolution(%im, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x6x20x18xbf16>, tensor<16x6x3x3xbf16>) -> tensor<1x16x18x16xf32>
  return %0, %1, %2 : tensor<3x70x50xf32>, tensor<33x70xf32>, tensor<1x16x18x16xf32>
}
