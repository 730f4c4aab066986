// RUN: shard-opt %s | shard-opt | FileCheck %s

#q = affine_map<(b, q, k, d, e) -> (b, q, d)>
#k = affine_map<(b, q, k, d, e) -> (b, k, d)>
#v = affine_map<(b, q, k, d, e) -> (b, k, e)>
#row = affine_map<(b, q, k, d, e) -> (b, q)>
#out = affine_map<(b, q, k, d, e) -> (b, q, e)>

// CHECK-LABEL: func @attention(
//       CHECK:   pairs.pair_step softmax ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<2x4x3xf32>, tensor<2x?x3xf32>, tensor<2x?x5xf32>) at(
//  CHECK-SAME:     outs(
//       CHECK:   } -> tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4x5xf32>
func.func @attention(%q: tensor<2x4x3xf32>, %k: tensor<2x?x3xf32>, %v: tensor<2x?x5xf32>, %at: index,
                     %m: tensor<2x4xf32>, %l: tensor<2x4xf32>, %acc: tensor<2x4x5xf32>) -> tensor<2x4x5xf32> {
  %0:3 = pairs.pair_step softmax ins(%q, %k, %v : tensor<2x4x3xf32>, tensor<2x?x3xf32>, tensor<2x?x5xf32>) at (%at, %at, %at)
      outs(%m, %l, %acc : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4x5xf32>) maps [#q, #k, #v, #row, #row, #out] {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %b: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } -> tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4x5xf32>
  return %0#2 : tensor<2x4x5xf32>
}
