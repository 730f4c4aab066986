// Tiles of products on tensor cores are chosen so that the last blocks end early. On four multiprocessors these take 96 x 96, 64 x 96, 128 x 96, 96 x 128,
// 128 x 64 and, of f32, 96 x 96: of a dim of 96 rows of shared memory are 192 bytes, which are swizzled as those of 64 are. In all directions of operands.
// The host's kernels, which know none of this, must agree; every access is looked at.
// RUN: shard-run %s --seed=4 --outputs=@%t.npz
// RUN: shard-run %s --seed=4 --device=emulated-cuda --arch=sm_80 --machine=generic,multiprocessors=4 --check-kernels --expect=@%t.npz --atol=1e-4
// RUN: shard-run %s --seed=4 --device=emulated-cuda --arch=sm_80 --machine=generic,multiprocessors=4 --kernel-schedule=random=5 --check-kernels --expect=@%t.npz --atol=1e-4
// RUN: shard-run %s --seed=4 --device=emulated-cuda --arch=sm_80 --machine=generic,multiprocessors=4 --precision=tf32 --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --atol=2e-3
// RUN: shard-translate %s --target=cuda --arch=sm_80 --machine=generic,multiprocessors=4 --precision=tf32 --emit=ptx -o - | FileCheck %s
// CHECK-COUNT-36: mma.sync.aligned.m16n8k16.row.col.f32.bf16
// CHECK-COUNT-24: mma.sync.aligned.m16n8k16.row.col.f32.f16
// CHECK-NOT: mma.sync.aligned.m16n8k16.row.col.f32.f16
// CHECK-COUNT-48: mma.sync.aligned.m16n8k16.row.col.f32.bf16
// CHECK-COUNT-48: mma.sync.aligned.m16n8k16.row.col.f32.f16
// CHECK-COUNT-32: mma.sync.aligned.m16n8k16.row.col.f32.bf16
// CHECK-COUNT-36: mma.sync.aligned.m16n8k8.row.col.f32.tf32
// CHECK-NOT: mma.sync
func.func @main(%a: tensor<132x72xbf16>, %b: tensor<72x136xbf16>, %c: tensor<68x72xf16>, %d: tensor<136x72xf16>, %e: tensor<40x200xbf16>, %f: tensor<40x132xbf16>,
                %g: tensor<72x136xf16>, %h: tensor<200x72xf16>, %i: tensor<200x80xbf16>, %j: tensor<80x68xbf16>, %k: tensor<132x36xf32>, %l: tensor<36x136xf32>)
    -> (tensor<132x136xf32>, tensor<68x136xf32>, tensor<200x132xf32>, tensor<136x200xf32>, tensor<200x68xf32>, tensor<132x136xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<132x72xbf16>, tensor<72x136xbf16>) -> tensor<132x136xf32>
  %1 = stablehlo.dot_general %c, %d, contracting_dims = [1] x [1] : (tensor<68x72xf16>, tensor<136x72xf16>) -> tensor<68x136xf32>
  %2 = stablehlo.dot_general %e, %f, contracting_dims = [0] x [0] : (tensor<40x200xbf16>, tensor<40x132xbf16>) -> tensor<200x132xf32>
  %3 = stablehlo.dot_general %g, %h, contracting_dims = [0] x [1] : (tensor<72x136xf16>, tensor<200x72xf16>) -> tensor<136x200xf32>
  %4 = stablehlo.dot_general %i, %j, contracting_dims = [1] x [0] : (tensor<200x80xbf16>, tensor<80x68xbf16>) -> tensor<200x68xf32>
  %5 = stablehlo.dot_general %k, %l, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<132x36xf32>, tensor<36x136xf32>) -> tensor<132x136xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<132x136xf32>, tensor<68x136xf32>, tensor<200x132xf32>, tensor<136x200xf32>, tensor<200x68xf32>, tensor<132x136xf32>
}
