// RUN: shard-opt %s --shardc-pipeline="arch=x86-64-v4" | FileCheck %s

// Every element twice along the last dim, and every row: a vector is read once, and makes two of each of two rows. These are
// interleaved in registers, and pass the caches by as whole vectors.
// CHECK-LABEL: llvm.func @shardc_main(
//   CHECK-NOT:   scatter
// CHECK-COUNT-2:   llvm.load {{.*}} -> vector<16xf32>
//   CHECK-NOT:   llvm.load {{.*}} -> vector<16xf32>
//       CHECK:   llvm.shufflevector {{.*}} [0, 16, 2, 17, 4, 18, 6, 19, 8, 20, 10, 21, 12, 22, 14, 23] : vector<16xf32>
// CHECK-COUNT-8:   llvm.store {{.*}} {alignment = 64 : i64, nontemporal} : vector<16xf32>
//   CHECK-NOT:   scatter
//       CHECK:   llvm.return
func.func @main(%x: tensor<64x128x256xf32>) -> tensor<64x256x512xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1, 3] : (tensor<64x128x256xf32>) -> tensor<64x128x2x256x2xf32>
  %1 = stablehlo.reshape %0 : (tensor<64x128x2x256x2xf32>) -> tensor<64x256x512xf32>
  return %1 : tensor<64x256x512xf32>
}
