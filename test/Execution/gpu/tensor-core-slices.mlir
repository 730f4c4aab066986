// Where tiles of products on tensor cores are small, two warps each have a half of their depth, which reads less of shared memory than a quarter of the
// results; in the end they add up. Tiles of 128 x 64, 64 x 128, 96 x 64 (f32) and 64 x 64 with a bias and a rounding behind it, on four multiprocessors.
// The host's kernels, which know none of this, must agree; every access is looked at.
// RUN: shard-run %s --seed=4 --outputs=@%t.npz
// RUN: shard-run %s --seed=4 --device=emulated-cuda --arch=sm_80 --machine=generic,multiprocessors=4 --precision=tf32 --check-kernels --expect=@%t.npz --atol=2e-2
// RUN: shard-run %s --seed=4 --device=emulated-cuda --arch=sm_80 --machine=generic,multiprocessors=4 --precision=tf32 --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --atol=2e-2
// RUN: shard-translate %s --target=cuda --arch=sm_80 --machine=generic,multiprocessors=4 --precision=tf32 --emit=ptx -o - | FileCheck %s
// CHECK-COUNT-32: mma.sync.aligned.m16n8k16.row.col.f32.bf16
// CHECK-COUNT-32: mma.sync.aligned.m16n8k16.row.col.f32.f16
// CHECK-COUNT-24: mma.sync.aligned.m16n8k8.row.col.f32.tf32
// CHECK-COUNT-16: mma.sync.aligned.m16n8k16.row.col.f32.bf16
// CHECK-NOT: mma.sync
func.func @main(%a: tensor<200x1000xbf16>, %b: tensor<1000x72xbf16>, %c: tensor<72x1000xf16>, %d: tensor<200x1000xf16>,
                %e: tensor<300x136xf32>, %f: tensor<300x72xf32>, %g: tensor<100x400xbf16>, %h: tensor<400x72xbf16>, %bias: tensor<72xf32>)
    -> (tensor<200x72xf32>, tensor<72x200xf32>, tensor<136x72xf32>, tensor<100x72xbf16>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<200x1000xbf16>, tensor<1000x72xbf16>) -> tensor<200x72xf32>
  %1 = stablehlo.dot_general %c, %d, contracting_dims = [1] x [1] : (tensor<72x1000xf16>, tensor<200x1000xf16>) -> tensor<72x200xf32>
  %2 = stablehlo.dot_general %e, %f, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<300x136xf32>, tensor<300x72xf32>) -> tensor<136x72xf32>
  %3 = stablehlo.dot_general %g, %h, contracting_dims = [1] x [0] : (tensor<100x400xbf16>, tensor<400x72xbf16>) -> tensor<100x72xf32>
  %4 = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<72xf32>) -> tensor<100x72xf32>
  %5 = stablehlo.add %3, %4 : tensor<100x72xf32>
  %6 = stablehlo.convert %5 : (tensor<100x72xf32>) -> tensor<100x72xbf16>
  return %0, %1, %2, %6 : tensor<200x72xf32>, tensor<72x200xf32>, tensor<136x72xf32>, tensor<100x72xbf16>
}
