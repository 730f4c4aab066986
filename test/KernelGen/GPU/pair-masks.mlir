// RUN: shard-opt %s --spmd-form-gpu-kernels --canonicalize --split-input-file | FileCheck %s

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#v = affine_map<(q, k, d, e) -> (k, e)>
#r = affine_map<(q, k, d, e) -> (q)>
#o = affine_map<(q, k, d, e) -> (q, e)>

// Pairs outside of the band do not count, so that what a mask says of those is not asked: 1.0e30 stands in no kernel.
// CHECK-LABEL: func.func @causal(
//   CHECK-NOT:   1.000000e+30
//       CHECK:   return
func.func @causal(%query: memref<64x16xf32>, %key: memref<64x16xf32>, %value: memref<64x16xf32>, %most: memref<64xf32>, %sum: memref<64xf32>, %acc: memref<64x16xf32>) {
  %c0 = arith.constant 0 : index
  pairs.pair_step softmax ins(%query, %key, %value : memref<64x16xf32>, memref<64x16xf32>, memref<64x16xf32>) at (%c0, %c0)
      outs(%most, %sum, %acc : memref<64xf32>, memref<64xf32>, memref<64x16xf32>) maps [#q, #k, #v, #r, #r, #o] {band_lower = -9 : i64, band_upper = 0 : i64}
      score {
      ^bb0(%raw: f32, %i: i32, %j: i32):
        %c10 = arith.constant 10 : i32
        %other = arith.constant 1.0e+30 : f32
        %apart = arith.subi %i, %j : i32
        %near = arith.cmpi slt, %apart, %c10 : i32
        %before = arith.cmpi sge, %i, %j : i32
        %in = arith.andi %near, %before : i1
        %s = arith.select %in, %raw, %other : f32
        pairs.yield %s : f32
      }
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#v = affine_map<(q, k, d, e) -> (k, e)>
#r = affine_map<(q, k, d, e) -> (q)>
#o = affine_map<(q, k, d, e) -> (q, e)>

// A mask that is narrower than the band stays.
// CHECK-LABEL: func.func @narrower(
//       CHECK:   1.000000e+30
//       CHECK:   return
func.func @narrower(%query: memref<64x16xf32>, %key: memref<64x16xf32>, %value: memref<64x16xf32>, %most: memref<64xf32>, %sum: memref<64xf32>, %acc: memref<64x16xf32>) {
  %c0 = arith.constant 0 : index
  pairs.pair_step softmax ins(%query, %key, %value : memref<64x16xf32>, memref<64x16xf32>, memref<64x16xf32>) at (%c0, %c0)
      outs(%most, %sum, %acc : memref<64xf32>, memref<64xf32>, memref<64x16xf32>) maps [#q, #k, #v, #r, #r, #o] {band_lower = -10 : i64, band_upper = 0 : i64}
      score {
      ^bb0(%raw: f32, %i: i32, %j: i32):
        %c10 = arith.constant 10 : i32
        %other = arith.constant 1.0e+30 : f32
        %apart = arith.subi %i, %j : i32
        %near = arith.cmpi slt, %apart, %c10 : i32
        %s = arith.select %near, %raw, %other : f32
        pairs.yield %s : f32
      }
  return
}
