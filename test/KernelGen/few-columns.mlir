// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=512 | FileCheck %s
// A product with a few columns would leave most lanes empty along them: it is
// summed up along the lanes, and the columns, which lie side by side, are
// loaded once for all rows of a tile.
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// CHECK-LABEL: func @three(
//   CHECK-NOT:   vector<4xf32>
//       CHECK:   arith.mulf {{.*}} : vector<16xf32>
//   CHECK-NOT:   vector<4xf32>
//       CHECK:   vector.reduction <add>
func.func @three(%x: memref<1024x1024xf32>, %y: memref<1024x3xf32>, %z: memref<1024x3xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<1024x1024xf32>, memref<1024x3xf32>) outs(%z : memref<1024x3xf32>) {
  ^bb0(%l: f32, %r: f32, %sum: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Four columns fill vectors of a quarter, which read a large matrix at the
// speed of memory.
// CHECK-LABEL: func @four_of_large(
//   CHECK-NOT:   vector.reduction
//       CHECK:   arith.mulf {{.*}} : vector<4xf32>
//   CHECK-NOT:   vector.reduction
//       CHECK:   return
func.func @four_of_large(%x: memref<50000x256xf32>, %y: memref<256x4xf32>, %z: memref<50000x4xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<50000x256xf32>, memref<256x4xf32>) outs(%z : memref<50000x4xf32>) {
  ^bb0(%l: f32, %r: f32, %sum: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
