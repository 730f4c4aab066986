// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=256 | FileCheck %s
#image = affine_map<(o, i, y, x, b, row, column) -> (b, i, row + y, column + x)>
#cotangent = affine_map<(o, i, y, x, b, row, column) -> (b, o, row, column)>
#weights = affine_map<(o, i, y, x, b, row, column) -> (o, i, y, x)>

// The gradient of a window's weights: sums of few elements over large images. Images are cut in blocks of rows that
// stay in the cache while all sums are added to, each across the lanes once for a block. How many rows
// those are: windows overlap, so that a row more is one row of each image, not one for each row of the window.
// CHECK-LABEL: func.func @gradient(
//       CHECK:   scf.for {{.*}} to %c4 step %c1 {
//       CHECK:     %[[ROWS:.*]] = arith.constant 4 : index
//  CHECK-NEXT:     scf.for {{.*}} to %c128 step %[[ROWS]] {
//       CHECK:       %[[MOST:.*]] = arith.constant 4 : index
//       CHECK:       scf.for {{.*}} to %[[MOST]] {{.*}} iter_args({{.*}}) -> (vector<8xf32>,
//       CHECK:         scf.for {{.*}} step %c8 iter_args({{.*}}) -> (vector<8xf32>,
func.func @gradient(%x: memref<4x64x130x130xf32>, %dy: memref<4x64x128x128xf32>, %dw: memref<64x64x3x3xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%dw : memref<64x64x3x3xf32>)
  linalg.generic {indexing_maps = [#image, #cotangent, #weights],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %dy : memref<4x64x130x130xf32>, memref<4x64x128x128xf32>) outs(%dw : memref<64x64x3x3xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
