// RUN: shard-run %s --device=emulated-cuda --precision=highest --outputs=@%t.npz
// RUN: env FAKE_LIBRARY_LOG=1 SHARDRT_CUBLASLT_LIBRARY=%shardc_build/lib/ShardRuntimeTestFakeLibraries.so SHARDRT_CUDNN_LIBRARY=%shardc_build/lib/ShardRuntimeTestFakeLibraries.so shard-run %s --device=emulated-cuda --precision=highest --kernels=library --expect=@%t.npz --rtol=1e-5 --atol=1e-4 2> %t.log
// RUN: FileCheck %s --implicit-check-not="fake library: {{[^d]}}" < %t.log
// Convolutions by a stand-in for cuDNN: images in both orders, strides, groups, 16 bits, gradients of data (of what is
// reversed and widened) and of filters.
// CHECK: did convolution forward of 2 dims, 24 filters of 16 channels, groups 1, f32 to f32
// CHECK: did convolution forward of 2 dims, 24 filters of 16 channels, groups 1, f32 to f32
// CHECK: did convolution forward of 1 dims, 32 filters of 16 channels, groups 2, f32 to f32
// CHECK: did convolution forward of 2 dims, 32 filters of 16 channels, groups 1, bf16 to bf16
// CHECK: did convolution forward of 2 dims, 16 filters of 24 channels, groups 1, f32 to f32
// CHECK: did convolution filter of 2 dims, 24 filters of 16 channels, groups 1, f32 to f32

func.func @main(%x: tensor<2x16x12x10xf32>, %w: tensor<24x16x3x3xf32>, %x2: tensor<2x12x10x16xf32>, %w2: tensor<3x3x16x24xf32>,
                %x3: tensor<3x32x40xf32>, %w3: tensor<32x16x5xf32>, %x4: tensor<1x8x8x16xbf16>, %w4: tensor<3x3x16x32xbf16>,
                %g: tensor<2x6x5x24xf32>)
    -> (tensor<2x24x10x8xf32>, tensor<2x6x5x24xf32>, tensor<3x32x36xf32>, tensor<1x6x6x32xbf16>, tensor<2x12x10x16xf32>, tensor<3x3x16x24xf32>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x12x10xf32>, tensor<24x16x3x3xf32>) -> tensor<2x24x10x8xf32>
  %1 = stablehlo.convolution(%x2, %w2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x12x10x16xf32>, tensor<3x3x16x24xf32>) -> tensor<2x6x5x24xf32>
  %2 = stablehlo.convolution(%x3, %w3) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<3x32x40xf32>, tensor<32x16x5xf32>) -> tensor<3x32x36xf32>
  %3 = stablehlo.convolution(%x4, %w4) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xbf16>, tensor<3x3x16x32xbf16>) -> tensor<1x6x6x32xbf16>
  // Of data, through a stride of 2; of the filter, the same.
  %4 = stablehlo.convolution(%g, %w2) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2], reverse = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x6x5x24xf32>, tensor<3x3x16x24xf32>) -> tensor<2x12x10x16xf32>
  %5 = stablehlo.convolution(%x2, %g) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[0, 1], [0, 1]], rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x12x10x16xf32>, tensor<2x6x5x24xf32>) -> tensor<3x3x16x24xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<2x24x10x8xf32>, tensor<2x6x5x24xf32>, tensor<3x32x36xf32>, tensor<1x6x6x32xbf16>, tensor<2x12x10x16xf32>, tensor<3x3x16x24xf32>
}
