// RUN: shard-opt %s --spmd-form-gpu-kernels --canonicalize --split-input-file | FileCheck %s

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#v = affine_map<(q, k, d, e) -> (k, e)>
#r = affine_map<(q, k, d, e) -> (q)>
#o = affine_map<(q, k, d, e) -> (q, e)>
#line = affine_map<(i) -> (i)>
#plane = affine_map<(i, j) -> (i, j)>

// States that are set to numbers before the first step adds to them are not set: the step begins with the numbers. The second step loads what the first one stored.
// CHECK-LABEL: func.func @first(
//       CHECK:   %[[MOST:.*]] = memref.alloc() : memref<64xf32>
//       CHECK:   %[[SUM:.*]] = memref.alloc() : memref<64xf32>
//       CHECK:   gpu.launch
//   CHECK-NOT:     memref.load %[[MOST]]
//   CHECK-NOT:     memref.load %[[SUM]]
//       CHECK:     memref.store %{{.*}}, %[[MOST]]
//       CHECK:     memref.store %{{.*}}, %[[SUM]]
//       CHECK:   gpu.launch
//       CHECK:     memref.load %[[MOST]]
//       CHECK:     memref.load %[[SUM]]
//   CHECK-NOT:   gpu.launch
//       CHECK:   return
func.func @first(%query: memref<64x16xf32>, %key: memref<32x16xf32>, %value: memref<32x16xf32>, %acc: memref<64x16xf32>) {
  %c0 = arith.constant 0 : index
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %most = memref.alloc() : memref<64xf32>
  %sum = memref.alloc() : memref<64xf32>
  linalg.generic {indexing_maps = [#line], iterator_types = ["parallel"]} outs(%most : memref<64xf32>) {
  ^bb0(%o: f32):
    linalg.yield %low : f32
  }
  linalg.generic {indexing_maps = [#line], iterator_types = ["parallel"]} outs(%sum : memref<64xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#plane], iterator_types = ["parallel", "parallel"]} outs(%acc : memref<64x16xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  pairs.pair_step softmax ins(%query, %key, %value : memref<64x16xf32>, memref<32x16xf32>, memref<32x16xf32>) at (%c0, %c0)
      outs(%most, %sum, %acc : memref<64xf32>, memref<64xf32>, memref<64x16xf32>) maps [#q, #k, #v, #r, #r, #o]
      score {
      ^bb0(%raw: f32, %i: i32, %j: i32):
        pairs.yield %raw : f32
      }
  pairs.pair_step softmax ins(%query, %key, %value : memref<64x16xf32>, memref<32x16xf32>, memref<32x16xf32>) at (%c0, %c0)
      outs(%most, %sum, %acc : memref<64xf32>, memref<64xf32>, memref<64x16xf32>) maps [#q, #k, #v, #r, #r, #o]
      score {
      ^bb0(%raw: f32, %i: i32, %j: i32):
        pairs.yield %raw : f32
      }
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#r = affine_map<(q, k, d, e) -> (q)>
#line = affine_map<(i) -> (i)>

// Somebody else reads the number, or it is not the same in each run: it is stored, and loaded.
// CHECK-LABEL: func.func @read(
//  CHECK-SAME:   %[[STATE:[^ ]*]]: memref<64xf32>, %[[OTHER:[^ ]*]]: memref<64xf32>, %{{.*}}: f32, %[[THIRD:[^ ]*]]: memref<64xf32>
//       CHECK:   gpu.launch
//       CHECK:     store {{.*}}, %[[STATE]]
//       CHECK:   gpu.launch
//       CHECK:     load %[[STATE]]
//       CHECK:     store {{.*}}, %[[OTHER]]
//       CHECK:   gpu.launch
//       CHECK:     memref.load %[[STATE]]
//       CHECK:   gpu.launch
//       CHECK:     store {{.*}}, %[[THIRD]]
//       CHECK:   gpu.launch
//       CHECK:     memref.load %[[THIRD]]
//   CHECK-NOT:   gpu.launch
//       CHECK:   return
func.func @read(%query: memref<64x16xf32>, %key: memref<32x16xf32>, %state: memref<64xf32>, %other: memref<64xf32>, %number: f32, %third: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %low = arith.constant 0xFF800000 : f32
  linalg.generic {indexing_maps = [#line], iterator_types = ["parallel"]} outs(%state : memref<64xf32>) {
  ^bb0(%o: f32):
    linalg.yield %low : f32
  }
  linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} ins(%state : memref<64xf32>) outs(%other : memref<64xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  pairs.pair_step max ins(%query, %key : memref<64x16xf32>, memref<32x16xf32>) at (%c0, %c0) outs(%state : memref<64xf32>) maps [#q, #k, #r]
      score {
      ^bb0(%raw: f32, %i: i32, %j: i32):
        pairs.yield %raw : f32
      }
  linalg.generic {indexing_maps = [#line], iterator_types = ["parallel"]} outs(%third : memref<64xf32>) {
  ^bb0(%o: f32):
    linalg.yield %number : f32
  }
  pairs.pair_step max ins(%query, %key : memref<64x16xf32>, memref<32x16xf32>) at (%c0, %c0) outs(%third : memref<64xf32>) maps [#q, #k, #r]
      score {
      ^bb0(%raw: f32, %i: i32, %j: i32):
        pairs.yield %raw : f32
      }
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#o = affine_map<(q, k, d, e) -> (q, e)>
#plane = affine_map<(i, j) -> (i, j)>

// Lists grow in memory: it holds what they begin with.
// CHECK-LABEL: func.func @lists(
//  CHECK-SAME:   %[[SCORES:[^ ]*]]: memref<64x4xf32>, %[[NUMBERS:[^ ]*]]: memref<64x4xi32>
//       CHECK:   gpu.launch
//       CHECK:     store {{.*}}, %[[SCORES]]
//       CHECK:   gpu.launch
//       CHECK:     store {{.*}}, %[[NUMBERS]]
//       CHECK:   gpu.launch
//       CHECK:     memref.load %[[SCORES]]
func.func @lists(%query: memref<64x16xf32>, %key: memref<32x16xf32>, %scores: memref<64x4xf32>, %numbers: memref<64x4xi32>) {
  %c0 = arith.constant 0 : index
  %low = arith.constant 0xFF800000 : f32
  %last = arith.constant 2147483647 : i32
  linalg.generic {indexing_maps = [#plane], iterator_types = ["parallel", "parallel"]} outs(%scores : memref<64x4xf32>) {
  ^bb0(%o: f32):
    linalg.yield %low : f32
  }
  linalg.generic {indexing_maps = [#plane], iterator_types = ["parallel", "parallel"]} outs(%numbers : memref<64x4xi32>) {
  ^bb0(%o: i32):
    linalg.yield %last : i32
  }
  pairs.pair_step top_k ins(%query, %key : memref<64x16xf32>, memref<32x16xf32>) at (%c0, %c0)
      outs(%scores, %numbers : memref<64x4xf32>, memref<64x4xi32>) maps [#q, #k, #o, #o]
      score {
      ^bb0(%raw: f32, %i: i32, %j: i32):
        pairs.yield %raw : f32
      }
  return
}
