// Windows over padded operands, whose padded copy is made block by block: rows of one image (with what the block before has of
// them), whole images, channels by themselves; channels first and last, strides, dilated windows, three dims, pooling; a bias and a
// maximum behind them. Beside the interpreter; the same bits for any number of threads.
// RUN: shard-run %s --check=interpreter --machine=generic,cache=8KB,shared_cache=64B,fork=1ns --outputs=@%t.npz
// RUN: shard-run %s --machine=generic,cache=8KB,shared_cache=64B,fork=1ns --threads=2 --seed=0 --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-run %s --machine=generic,cache=8KB,shared_cache=64B,fork=1ns --threads=3 --seed=0 --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-run %s --check=interpreter --machine=generic,cache=8KB,fork=1ns --arch=x86-64-v3 --threads=5
// RUN: shard-opt %s --shardc-pipeline=machine=generic,cache=8KB --mlir-print-ir-after=spmd-pad-blocks -o /dev/null 2>&1 | FileCheck %s

// All of the padded buffers are blocks.
//   CHECK-LABEL: IR Dump After PadBlocksPass
// CHECK-COUNT-7: scf.for
//     CHECK-NOT: scf.for
func.func @main(%last: tensor<2x24x6x8xf32>, %each: tensor<5x5x1x8xf32>, %image: tensor<3x4x20x11xf32>, %window: tensor<6x4x3x3xf32>,
                %bias: tensor<6xf32>, %deep: tensor<1x18x4x3x4xf32>, %cube: tensor<3x3x3x4x5xf32>, %many: tensor<2x16x9x9xf32>,
                %alone: tensor<16x1x3x3xf32>)
    -> (tensor<2x24x6x8xf32>, tensor<3x6x20x11xf32>, tensor<3x6x10x6xf32>, tensor<1x18x4x3x5xf32>, tensor<2x16x9x9xf32>, tensor<3x4x20x11xf32>,
        tensor<3x6x20x11xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %none = stablehlo.constant dense<0.0> : tensor<3x6x20x11xf32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // Each channel by itself, blocks of rows.
  %0 = stablehlo.convolution(%last, %each) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[2, 2], [2, 2]]}
      {batch_group_count = 1 : i64, feature_group_count = 8 : i64} : (tensor<2x24x6x8xf32>, tensor<5x5x1x8xf32>) -> tensor<2x24x6x8xf32>
  // Channels first, with what finishes the sums.
  %1 = stablehlo.convolution(%image, %window) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x4x20x11xf32>, tensor<6x4x3x3xf32>) -> tensor<3x6x20x11xf32>
  %2 = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<6xf32>) -> tensor<3x6x20x11xf32>
  %3 = stablehlo.add %1, %2 : tensor<3x6x20x11xf32>
  %4 = stablehlo.maximum %3, %none : tensor<3x6x20x11xf32>
  // Every second row; more rows above than below.
  %5 = stablehlo.convolution(%image, %window) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[2, 0], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x4x20x11xf32>, tensor<6x4x3x3xf32>) -> tensor<3x6x10x6xf32>
  %6 = stablehlo.convolution(%deep, %cube) dim_numbers = [b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f], window = {pad = [[1, 1], [1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x18x4x3x4xf32>, tensor<3x3x3x4x5xf32>) -> tensor<1x18x4x3x5xf32>
  // Several channels a block.
  %7 = stablehlo.convolution(%many, %alone) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<2x16x9x9xf32>, tensor<16x1x3x3xf32>) -> tensor<2x16x9x9xf32>
  %8 = "stablehlo.reduce_window"(%image, %least) <{window_dimensions = array<i64: 1, 1, 3, 3>, padding = dense<[[0, 0], [0, 0], [1, 1], [1, 1]]> : tensor<4x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<3x4x20x11xf32>, tensor<f32>) -> tensor<3x4x20x11xf32>
  // Windows with gaps.
  %9 = stablehlo.convolution(%image, %window) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[2, 2], [2, 2]], rhs_dilate = [2, 2]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x4x20x11xf32>, tensor<6x4x3x3xf32>) -> tensor<3x6x20x11xf32>
  return %0, %4, %5, %6, %7, %8, %9 : tensor<2x24x6x8xf32>, tensor<3x6x20x11xf32>, tensor<3x6x10x6xf32>, tensor<1x18x4x3x5xf32>, tensor<2x16x9x9xf32>,
      tensor<3x4x20x11xf32>, tensor<3x6x20x11xf32>
}
