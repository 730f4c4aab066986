// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=512 --split-input-file | FileCheck %s
// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=256 --split-input-file | FileCheck %s --check-prefix=NARROW

// Elements three apart are in three vectors, of which the last one ends with the
// last element: no gather, nothing read behind. Sums of short rows have a row a lane.
#both = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
// CHECK-LABEL: func.func @sums(
//       CHECK:   scf.for
//       CHECK:     scf.for
//       CHECK:       %[[A:.*]] = llvm.load %[[P:.*]] {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
//       CHECK:       %[[Q:.*]] = llvm.getelementptr inbounds %[[P]][16]
//       CHECK:       %[[B:.*]] = llvm.load %[[Q]]
//       CHECK:       %[[R:.*]] = llvm.getelementptr inbounds %[[P]][30]
//       CHECK:       %[[C:.*]] = llvm.load %[[R]]
//       CHECK:       %[[AB:.*]] = vector.shuffle %{{.*}}, %[[B]] [0, 1, 2, 3, 4, 5, 18, 21, 24, 27, 30, 11
//       CHECK:       vector.shuffle %[[AB]], %[[C]] [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 19, 22, 25, 28, 31]
//   CHECK-NOT:     masked.gather
//       CHECK:   }
// NARROW-LABEL: func.func @sums(
//       NARROW:   llvm.getelementptr inbounds %{{.*}}[14]
//       NARROW:   vector.shuffle {{.*}} : vector<8xf32>, vector<8xf32>
func.func @sums(%x: memref<4096x3xf32>, %y: memref<4096xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<4096xf32>)
  linalg.generic {indexing_maps = [#both, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4096x3xf32>) outs(%y : memref<4096xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %b, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// One column of four is written by masked stores, where masks are registers: no
// scatter, and nobody else's elements.
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @column(
//       CHECK:   scf.for
// CHECK-COUNT-4: llvm.intr.masked.store {{.*}} : vector<16xf32>, vector<16xi1> into !llvm.ptr
//   CHECK-NOT:   masked.scatter
// NARROW-LABEL: func.func @column(
//   NARROW-NOT:   masked.store
func.func @column(%x: memref<4096xf32>, %y: memref<4096xf32, strided<[4], offset: 1>>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<4096xf32>) outs(%y : memref<4096xf32, strided<[4], offset: 1>>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}
