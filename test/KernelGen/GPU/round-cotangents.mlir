// RUN: shard-opt %s --spmd-round-cotangents --split-input-file | FileCheck %s

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#v = affine_map<(q, k, d, e) -> (k, e)>
#r = affine_map<(q, k, d, e) -> (q)>
#o = affine_map<(q, k, d, e) -> (q, e)>

// A gradient of outputs is rounded once, however many steps read it.
// CHECK-LABEL: func @bf16(
//  CHECK-SAME:   %[[MOST:[^ ]*]]: tensor<?xf32>, %[[DELTA:[^ ]*]]: tensor<?xf32>, %[[DOUT:[^ ]*]]: tensor<?x16xf32>
//       CHECK:   %[[ROUNDED:.*]] = linalg.generic {{.*}} ins(%[[DOUT]] : tensor<?x16xf32>)
//       CHECK:     arith.truncf {{.*}} : f32 to bf16
//       CHECK:   pairs.pair_step {{.*}} rows(%[[MOST]], %[[DELTA]], %[[ROUNDED]] :
func.func @bf16(%q: tensor<?x16xbf16>, %k: tensor<64x16xbf16>, %v: tensor<64x16xbf16>, %most: tensor<?xf32>, %delta: tensor<?xf32>, %dout: tensor<?x16xf32>,
                %dq: tensor<?x16xf32>, %dk: tensor<64x16xf32>, %dv: tensor<64x16xf32>) -> (tensor<?x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>) {
  %c0 = arith.constant 0 : index
  %0:3 = pairs.pair_step softmax backward ins(%q, %k, %v : tensor<?x16xbf16>, tensor<64x16xbf16>, tensor<64x16xbf16>)
      rows(%most, %delta, %dout : tensor<?xf32>, tensor<?xf32>, tensor<?x16xf32>) at (%c0, %c0)
      outs(%dq, %dk, %dv : tensor<?x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>)
      maps [#q, #k, #v, #r, #r, #o, #q, #k, #v]
      score {
      ^bb0(%raw: f32, %i: i32, %j: i32):
        pairs.yield %raw : f32
      } slope {
      ^bb0(%ds: f32, %raw: f32, %i: i32, %j: i32):
        pairs.yield %ds : f32
      } -> tensor<?x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>
  return %0#0, %0#1, %0#2 : tensor<?x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#v = affine_map<(q, k, d, e) -> (k, e)>
#r = affine_map<(q, k, d, e) -> (q)>
#o = affine_map<(q, k, d, e) -> (q, e)>

// What is f32 throughout stays so.
// CHECK-LABEL: func @f32(
//   CHECK-NOT:   truncf
//       CHECK:   return
func.func @f32(%q: tensor<64x16xf32>, %k: tensor<64x16xf32>, %v: tensor<64x16xf32>, %most: tensor<64xf32>, %delta: tensor<64xf32>, %dout: tensor<64x16xf32>,
               %dq: tensor<64x16xf32>, %dk: tensor<64x16xf32>, %dv: tensor<64x16xf32>) -> (tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>) {
  %c0 = arith.constant 0 : index
  %0:3 = pairs.pair_step softmax backward ins(%q, %k, %v : tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>)
      rows(%most, %delta, %dout : tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>) at (%c0, %c0)
      outs(%dq, %dk, %dv : tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>)
      maps [#q, #k, #v, #r, #r, #o, #q, #k, #v]
      score {
      ^bb0(%raw: f32, %i: i32, %j: i32):
        pairs.yield %raw : f32
      } slope {
      ^bb0(%ds: f32, %raw: f32, %i: i32, %j: i32):
        pairs.yield %ds : f32
      } -> tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>
  return %0#0, %0#1, %0#2 : tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#v = affine_map<(q, k, d, e) -> (k, e)>
#r = affine_map<(q, k, d, e) -> (q)>
#o = affine_map<(q, k, d, e) -> (q, e)>
#x = affine_map<(q, k, d, e) -> (q, k)>

// Gradients of extras are no products: none of what they are made from is
// rounded.
// CHECK-LABEL: func @extras(
//   CHECK-NOT:   truncf
//       CHECK:   return
func.func @extras(%q: tensor<64x16xbf16>, %k: tensor<64x16xbf16>, %v: tensor<64x16xbf16>, %most: tensor<64xf32>, %delta: tensor<64xf32>, %dout: tensor<64x16xf32>, %x: tensor<64x64xf32>,
                  %dq: tensor<64x16xf32>, %dk: tensor<64x16xf32>, %dv: tensor<64x16xf32>, %dx: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %0:4 = pairs.pair_step softmax backward ins(%q, %k, %v : tensor<64x16xbf16>, tensor<64x16xbf16>, tensor<64x16xbf16>)
      rows(%most, %delta, %dout : tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>) extras(%x : tensor<64x64xf32>) at (%c0, %c0)
      outs(%dq, %dk, %dv, %dx : tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x64xf32>)
      maps [#q, #k, #v, #r, #r, #o, #x, #q, #k, #v, #x]
      score {
      ^bb0(%raw: f32, %b: f32, %i: i32, %j: i32):
        %1 = arith.addf %raw, %b : f32
        pairs.yield %1 : f32
      } slope {
      ^bb0(%ds: f32, %raw: f32, %b: f32, %i: i32, %j: i32):
        pairs.yield %ds, %ds : f32, f32
      } -> tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x64xf32>
  return %0#3 : tensor<64x64xf32>
}
