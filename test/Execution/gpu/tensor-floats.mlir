// Products of f32 on tensor cores: where a program asks for the default precision and the user lets it be tf32, where it asks for tf32, and
// as three products where it asks for high precision. Both directions of both operands, a batch, a convolution, and sizes that are no multiples
// of a tile; on sm_90a (wgmma, which reads f32 as they are) and on others (rounded to nearest). What asks for the highest precision stays f32.
// RUN: shard-run %s --seed=4 --outputs=@%t.npz
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=tf32 --check-kernels --expect=@%t.npz --atol=2e-3 --rtol=0
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=tf32 --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --atol=2e-3 --rtol=0
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=tf32 --kernel-schedule=random=5 --check-kernels --expect=@%t.npz --atol=2e-3 --rtol=0
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=tf32 --arch=sm_80 --check-kernels --expect=@%t.npz --atol=1e-3 --rtol=0
// It is rounded, and only where it is asked for.
// RUN: not shard-run %s --seed=4 --device=emulated-cuda --precision=tf32 --expect=@%t.npz --atol=1e-6 --rtol=0 2>&1 | FileCheck %s --check-prefix=ROUNDED
// RUN: not shard-run %s --seed=4 --device=emulated-cuda --precision=highest --expect=@%t.npz --atol=1e-6 --rtol=0 2>&1 | FileCheck %s --check-prefix=ASKED
// ROUNDED: output 0: {{.*}} outside
// ROUNDED: output 1: {{.*}} outside
// ROUNDED: output 2: {{.*}} outside
// ROUNDED: output 3: {{.*}} outside
// ROUNDED-NOT: output 4: {{.*}} outside
// ROUNDED: output 5: f32 [130, 72] as expected
// ASKED: output 0: f32 [2, 150, 200] as expected
// ASKED: output 1: f32 [136, 72] as expected
// ASKED: output 2: f32 [1, 10, 9, 72] as expected
// ASKED: output 3: {{.*}} outside
// ASKED: output 4: f32 [130, 72] as expected
// ASKED: output 5: f32 [130, 72] as expected
// RUN: shard-translate %s --precision=tf32 --target=cuda --arch=sm_90a --emit=ptx -o - | FileCheck %s
// RUN: shard-translate %s --target=cuda --arch=sm_90a --emit=ptx -o - | FileCheck %s
// RUN: shard-translate %s --precision=highest --target=cuda --arch=sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=HIGHEST
// CHECK-COUNT-28: wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32
// CHECK-NOT: wgmma.mma_async
// HIGHEST-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32
// HIGHEST-NOT: wgmma.mma_async
// RUN: shard-translate %s --precision=tf32 --target=cuda --arch=sm_80 --emit=ptx -o - | FileCheck %s --check-prefix=OLDER
// OLDER-NOT: wgmma.mma_async
// OLDER: cvt.rna.tf32.f32
// OLDER: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// RUN: not shard-run %s --precision=tf32 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: --precision=tf32 is about GPUs
// RUN: not shard-run %s --device=emulated-cuda --precision=bf8 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: --precision=bf8: expected default, tf32 or highest
func.func @main(%x0: tensor<2x150x76xf32>, %y0: tensor<2x76x200xf32>, %h0: tensor<80x136xf32>, %g0: tensor<72x80xf32>,
                %im0: tensor<1x12x11x8xf32>, %k0: tensor<3x3x8x72xf32>, %p0: tensor<130x67xf32>, %q0: tensor<67x72xf32>)
    -> (tensor<2x150x200xf32>, tensor<136x72xf32>, tensor<1x10x9x72xf32>, tensor<130x72xf32>, tensor<130x72xf32>, tensor<130x72xf32>) {
  // Numbers of the generator are short; thirds are not.
  %three = stablehlo.constant dense<3.0> : tensor<f32>
  %x3 = stablehlo.broadcast_in_dim %three, dims = [] : (tensor<f32>) -> tensor<2x150x76xf32>
  %x = stablehlo.divide %x0, %x3 : tensor<2x150x76xf32>
  %y3 = stablehlo.broadcast_in_dim %three, dims = [] : (tensor<f32>) -> tensor<2x76x200xf32>
  %y = stablehlo.divide %y0, %y3 : tensor<2x76x200xf32>
  %h3 = stablehlo.broadcast_in_dim %three, dims = [] : (tensor<f32>) -> tensor<80x136xf32>
  %h = stablehlo.divide %h0, %h3 : tensor<80x136xf32>
  %g3 = stablehlo.broadcast_in_dim %three, dims = [] : (tensor<f32>) -> tensor<72x80xf32>
  %g = stablehlo.divide %g0, %g3 : tensor<72x80xf32>
  %im3 = stablehlo.broadcast_in_dim %three, dims = [] : (tensor<f32>) -> tensor<1x12x11x8xf32>
  %im = stablehlo.divide %im0, %im3 : tensor<1x12x11x8xf32>
  %k3 = stablehlo.broadcast_in_dim %three, dims = [] : (tensor<f32>) -> tensor<3x3x8x72xf32>
  %k = stablehlo.divide %k0, %k3 : tensor<3x3x8x72xf32>
  %p3 = stablehlo.broadcast_in_dim %three, dims = [] : (tensor<f32>) -> tensor<130x67xf32>
  %p = stablehlo.divide %p0, %p3 : tensor<130x67xf32>
  %q3 = stablehlo.broadcast_in_dim %three, dims = [] : (tensor<f32>) -> tensor<67x72xf32>
  %q = stablehlo.divide %q0, %q3 : tensor<67x72xf32>
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x150x76xf32>, tensor<2x76x200xf32>) -> tensor<2x150x200xf32>
  %1 = stablehlo.dot_general %h, %g, contracting_dims = [0] x [1] : (tensor<80x136xf32>, tensor<72x80xf32>) -> tensor<136x72xf32>
  %2 = stablehlo.convolution(%im, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x12x11x8xf32>, tensor<3x3x8x72xf32>) -> tensor<1x10x9x72xf32>
  %3 = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<130x67xf32>, tensor<67x72xf32>) -> tensor<130x72xf32>
  %4 = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT] : (tensor<130x67xf32>, tensor<67x72xf32>) -> tensor<130x72xf32>
  %5 = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<130x67xf32>, tensor<67x72xf32>) -> tensor<130x72xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<2x150x200xf32>, tensor<136x72xf32>, tensor<1x10x9x72xf32>, tensor<130x72xf32>, tensor<130x72xf32>, tensor<130x72xf32>
}
