// Convolutions on sm_90a: windows are no tensor of few dims, so that threads load them piece by piece to where wgmma reads
// them. Forward, by the filter and by the image (NHWC), and with strides, where nothing is aligned (NCHW); two products whose rows are not
// aligned. Tiles are cut off at every edge. The host's kernels must agree, and so must those of other GPUs.
// RUN: shard-run %s --seed=4 --outputs=@%t.npz
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=highest --check-kernels --expect=@%t.npz --atol=2e-3
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=highest --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --atol=2e-3
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=highest --kernel-schedule=random=5 --check-kernels --expect=@%t.npz --atol=2e-3
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=highest --arch=sm_80 --check-kernels --expect=@%t.npz --atol=2e-3
// RUN: shard-translate %s --target=cuda --precision=highest --arch=sm_90a --emit=ptx -o - | FileCheck %s
// Six kernels, four products a step.
// CHECK-COUNT-24: wgmma.mma_async
// CHECK-NOT: wgmma.mma_async
func.func @main(%im: tensor<2x12x11x64xbf16>, %k: tensor<3x3x64x72xbf16>, %g: tensor<2x10x9x72xbf16>,
                %n: tensor<1x8x21x19xf16>, %f: tensor<72x8x3x3xf16>, %p: tensor<130x71xbf16>, %q: tensor<71x90xbf16>)
    -> (tensor<2x10x9x72xf32>, tensor<3x3x64x72xf32>, tensor<2x12x11x64xf32>, tensor<1x72x10x9xf32>, tensor<130x90xf32>, tensor<90x130xf32>) {
  %0 = stablehlo.convolution(%im, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x12x11x64xbf16>, tensor<3x3x64x72xbf16>) -> tensor<2x10x9x72xf32>
  %1 = stablehlo.convolution(%im, %g) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x12x11x64xbf16>, tensor<2x10x9x72xbf16>) -> tensor<3x3x64x72xf32>
  %r = stablehlo.reverse %k, dims = [0, 1] : tensor<3x3x64x72xbf16>
  %2 = stablehlo.convolution(%g, %r) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = [[2, 2], [2, 2]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x10x9x72xbf16>, tensor<3x3x64x72xbf16>) -> tensor<2x12x11x64xf32>
  %3 = stablehlo.convolution(%n, %f) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x21x19xf16>, tensor<72x8x3x3xf16>) -> tensor<1x72x10x9xf32>
  %4 = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0] : (tensor<130x71xbf16>, tensor<71x90xbf16>) -> tensor<130x90xf32>
  %5 = stablehlo.dot_general %q, %p, contracting_dims = [0] x [1] : (tensor<71x90xbf16>, tensor<130x71xbf16>) -> tensor<90x130xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<2x10x9x72xf32>, tensor<3x3x64x72xf32>, tensor<2x12x11x64xf32>, tensor<1x72x10x9xf32>, tensor<130x90xf32>, tensor<90x130xf32>
}
