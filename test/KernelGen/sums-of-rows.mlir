// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=512 | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=256 | FileCheck %s --check-prefixes=CHECK,SHORT
// Rows of at most four vectors are added up together, as many as there are
// lanes: two at a time, until one vector has a total of each row.
#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
#id = affine_map<(i) -> (i)>

// 16 rows in 15 steps of two shuffles; of 4,100 rows four are left, which take
// two such steps, and two more for the four terms that are left of each row.
//  CHECK-LABEL: func @largest(
// WIDE-COUNT-30: vector.shuffle
//         WIDE:   llvm.store {{.*}} : vector<16xf32>
//  WIDE-COUNT-8:  vector.shuffle {{.*}} : vector<{{16|8}}xf32>
//         WIDE:   llvm.store {{.*}} : vector<4xf32>
// SHORT-COUNT-14: vector.shuffle
//        SHORT:   llvm.store {{.*}} : vector<8xf32>
//    CHECK-NOT:   vector.reduction
func.func @largest(%x: memref<4100x16xf32>, %y: memref<4100xf32>) {
  %low = arith.constant 0xFF800000 : f32
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%y : memref<4100xf32>) {
  ^bb0(%out: f32):
    linalg.yield %low : f32
  }
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4100x16xf32>) outs(%y : memref<4100xf32>) {
  ^bb0(%a: f32, %largest: f32):
    %0 = arith.maximumf %largest, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// What is left of a row is masked, and the epilogue is of whole vectors.
//  CHECK-LABEL: func @scaled(
//         WIDE:   vector.create_mask {{.*}} : vector<16xi1>
// WIDE-COUNT-30: vector.shuffle
//         WIDE:   arith.mulf {{.*}} : vector<16xf32>
func.func @scaled(%x: memref<4096x23xf32>, %s: memref<4096xf32>, %y: memref<4096xf32>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<4096xf32>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%sums : memref<4096xf32>) {
  ^bb0(%out: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4096x23xf32>) outs(%sums : memref<4096xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.addf %sum, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%sums, %s : memref<4096xf32>, memref<4096xf32>) outs(%y : memref<4096xf32>) {
  ^bb0(%sum: f32, %scale: f32, %out: f32):
    %0 = arith.mulf %sum, %scale : f32
    linalg.yield %0 : f32
  }
  return
}

// Long rows are loops of their own, and truth values masks.
//  CHECK-LABEL: func @long(
//    CHECK-NOT:   vector.shuffle
//        CHECK:   vector.reduction <maximumf>
func.func @long(%x: memref<64x1000xf32>, %y: memref<64xf32>) {
  %low = arith.constant 0xFF800000 : f32
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%y : memref<64xf32>) {
  ^bb0(%out: f32):
    linalg.yield %low : f32
  }
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : memref<64x1000xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %largest: f32):
    %0 = arith.maximumf %largest, %a : f32
    linalg.yield %0 : f32
  }
  return
}

//  CHECK-LABEL: func @any(
//    CHECK-NOT:   vector.shuffle
//        CHECK:   vector.reduction <or>
func.func @any(%x: memref<4096x32xf32>, %y: memref<4096xi1>) {
  %none = arith.constant false
  %half = arith.constant 0.5 : f32
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%y : memref<4096xi1>) {
  ^bb0(%out: i1):
    linalg.yield %none : i1
  }
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4096x32xf32>) outs(%y : memref<4096xi1>) {
  ^bb0(%a: f32, %any: i1):
    %0 = arith.cmpf ogt, %a, %half : f32
    %1 = arith.ori %any, %0 : i1
    linalg.yield %1 : i1
  }
  return
}
