// RUN: shard-opt %s --shardc-pipeline="arch=x86-64-v4" | FileCheck %s
// Every second column of an image: vectors are of features, which lie apart in the result. The tile is turned, and columns of each
// feature are stored side by side, under a mask, not scattered.
// CHECK-LABEL: llvm.func @shardc_main(
//   CHECK-NOT:   scatter
// CHECK-COUNT-64: llvm.shufflevector {{.*}} : vector<16xf32>
//       CHECK:   llvm.intr.masked.store
//   CHECK-NOT:   scatter
//       CHECK:   llvm.return
func.func @main(%x: tensor<2x64x65x65xf32>, %w: tensor<128x64x3x3xf32>) -> tensor<2x128x32x32xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x64x65x65xf32>, tensor<128x64x3x3xf32>) -> tensor<2x128x32x32xf32>
  return %0 : tensor<2x128x32x32xf32>
}
