// Windows of images whose channels run in memory are TMA copies (im2col) on sm_90a and sm_100a, in which the zeros around an image are those of the copy: strides,
// dilations, borders that differ, one dim to three, of the filter's gradient too (images after images), 1 x 1 by steps. A padded image that two read is made.
// RUN: shard-run %s --seed=4 --outputs=@%t.npz
// DEFINE: %{emulate} = shard-run %s --seed=4 --device=emulated-cuda --kernels=generated --precision=highest --check-kernels --expect=@%t.npz --atol=2e-3
// RUN: %{emulate} --kernel-schedule=random=5
// RUN: %{emulate} --arch=sm_100a
// RUN: %{emulate} --arch=sm_100a --machine=generic,multiprocessors=1 --kernel-schedule=run-ahead
// RUN: sed 's/bf16/f32/g; s/f16/f32/g' %s > %t.floats.mlir
// RUN: shard-run %t.floats.mlir --seed=4 --outputs=@%t.npz
// RUN: shard-run %t.floats.mlir --seed=4 --device=emulated-cuda --kernels=generated --precision=tf32 --arch=sm_100a --check-kernels --expect=@%t.npz --atol=5e-2 --rtol=2e-2
// RUN: shard-translate %s --target=cuda --kernels=generated --precision=highest --arch=sm_90a --emit=ptx -o - | FileCheck %s
// CHECK-DAG: cp.async.bulk.tensor.4d.shared::cluster.global.im2col
// CHECK-DAG: cp.async.bulk.tensor.5d.shared::cluster.global.im2col
// CHECK-DAG: cp.async.bulk.tensor.3d.shared::cluster.global.im2col
// What fills a padded image is launched where no such kernel is: its number is that of three (the first kernel for one GPU is number 0).
// RUN: shard-translate %S/Inputs/padded-convolution.mlir --target=cuda --kernels=generated --arch=sm_90a --emit=llvmir -o - | FileCheck %s --check-prefix=LATER
// LATER: @shardrt_launch(ptr %{{.*}}, i64 0,
// LATER: @shardrt_launch(ptr %{{.*}}, i64 4294967297,
// LATER: @shardrt_launch(ptr %{{.*}}, i64 4294967298,
// LATER: @shardrt_launch(ptr %{{.*}}, i64 4294967299,
// LATER-NOT: call i32 @shardrt_launch
func.func @main(%a: tensor<2x15x12x64xbf16>, %ka: tensor<3x4x64x72xbf16>, %b: tensor<1x14x13x128xf16>, %kb: tensor<3x2x128x64xf16>,
                %c: tensor<1x6x7x5x64xbf16>, %kc: tensor<2x3x2x64x64xbf16>, %d: tensor<3x70x64xbf16>, %kd: tensor<5x64x80xbf16>,
                %g: tensor<2x15x12x72xbf16>, %e: tensor<2x17x16x64xbf16>, %ke: tensor<1x1x64x64xbf16>, %ks: tensor<3x3x64x64xbf16>)
    -> (tensor<2x8x6x72xf32>, tensor<1x10x11x64xf32>, tensor<1x6x7x6x64xf32>, tensor<3x24x80xf32>, tensor<3x3x64x72xf32>, tensor<2x9x8x64xf32>,
        tensor<2x17x16x64xf32>, tensor<3x3x64x64xf32>) {
  %0 = stablehlo.convolution(%a, %ka) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 2]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x15x12x64xbf16>, tensor<3x4x64x72xbf16>) -> tensor<2x8x6x72xf32>
  %1 = stablehlo.convolution(%b, %kb) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x14x13x128xf16>, tensor<3x2x128x64xf16>) -> tensor<1x10x11x64xf32>
  %2 = stablehlo.convolution(%c, %kc) dim_numbers = [b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f], window = {pad = [[1, 0], [0, 2], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x6x7x5x64xbf16>, tensor<2x3x2x64x64xbf16>) -> tensor<1x6x7x6x64xf32>
  %3 = stablehlo.convolution(%d, %kd) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [3], pad = [[2, 3]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x70x64xbf16>, tensor<5x64x80xbf16>) -> tensor<3x24x80xf32>
  %4 = stablehlo.convolution(%a, %g) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x15x12x64xbf16>, tensor<2x15x12x72xbf16>) -> tensor<3x3x64x72xf32>
  %5 = stablehlo.convolution(%e, %ke) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x17x16x64xbf16>, tensor<1x1x64x64xbf16>) -> tensor<2x9x8x64xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %p = stablehlo.pad %e, %zero, low = [0, 1, 1, 0], high = [0, 1, 1, 0], interior = [0, 0, 0, 0] : (tensor<2x17x16x64xbf16>, tensor<bf16>) -> tensor<2x19x18x64xbf16>
  %6 = stablehlo.convolution(%p, %ks) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x19x18x64xbf16>, tensor<3x3x64x64xbf16>) -> tensor<2x17x16x64xf32>
  %7 = stablehlo.convolution(%p, %e) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x19x18x64xbf16>, tensor<2x17x16x64xbf16>) -> tensor<3x3x64x64xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2x8x6x72xf32>, tensor<1x10x11x64xf32>, tensor<1x6x7x6x64xf32>, tensor<3x24x80xf32>, tensor<3x3x64x72xf32>, tensor<2x9x8x64xf32>, tensor<2x17x16x64xf32>, tensor<3x3x64x64xf32>
}
