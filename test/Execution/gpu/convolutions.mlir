// A convolution, its gradient by the filter and its gradient by the image are products on tensor cores that read windows in place.
// RUN: shard-run %s --seed=4 --outputs=@%t.npz
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=highest --check-kernels --expect=@%t.npz --atol=1e-3
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=highest --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --atol=1e-3
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=highest --kernel-schedule=random=6 --check-kernels --expect=@%t.npz --atol=1e-3
// RUN: shard-translate %s --target=cuda --precision=highest --emit=ptx -o - | FileCheck %s
// CHECK: .entry loops_
// CHECK: mma.sync
// CHECK: .entry loops_
// CHECK: mma.sync
// CHECK: .entry loops_
// CHECK: mma.sync
func.func @main(%im: tensor<2x20x18x16xbf16>, %k: tensor<3x3x16x32xbf16>, %g: tensor<2x18x16x32xbf16>) -> (tensor<2x18x16x32xf32>, tensor<3x3x16x32xf32>, tensor<2x20x18x16xf32>) {
  %0 = stablehlo.convolution(%im, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x20x18x16xbf16>, tensor<3x3x16x32xbf16>) -> tensor<2x18x16x32xf32>
  %1 = stablehlo.convolution(%im, %g) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x20x18x16xbf16>, tensor<2x18x16x32xbf16>) -> tensor<3x3x16x32xf32>
  %r = stablehlo.reverse %k, dims = [0, 1] : tensor<3x3x16x32xbf16>
  %2 = stablehlo.convolution(%g, %r) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = [[2, 2], [2, 2]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x18x16x32xbf16>, tensor<3x3x16x32xbf16>) -> tensor<2x20x18x16xf32>
  return %0, %1, %2 : tensor<2x18x16x32xf32>, tensor<3x3x16x32xf32>, tensor<2x20x18x16xf32>
}
