// RUN: kernel-check %s  | FileCheck %s
// RUN: kernel-check %s --vector-bits=256  | FileCheck %s
// RUN: kernel-check %s --vector-bits=128  | FileCheck %s
// CHECK: EQUAL
func.func @main(%a: tensor<1x4x18x18x18xf32>, %b: tensor<6x4x3x3x3xf32>) -> tensor<1x6x16x16x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x6x16x16x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x6x16x16x16xf32>) -> tensor<1x6x16x16x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0,d1,d2,d3,d4,d5,d6,d7,d8) -> (d0,d5,d2+d6,d3+d7,d4+d8)>, affine_map<(d0,d1,d2,d3,d4,d5,d6,d7,d8) -> (d1,d5,d6,d7,d8)>, affine_map<(d0,d1,d2,d3,d4,d5,d6,d7,d8) -> (d0,d1,d2,d3,d4)>], iterator_types = ["parallel","parallel","parallel","parallel","parallel","reduction","reduction","reduction","reduction"]} ins(%a, %b : tensor<1x4x18x18x18xf32>, tensor<6x4x3x3x3xf32>) outs(%f : tensor<1x6x16x16x16xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %acc, %p : f32
    linalg.yield %q : f32
  } -> tensor<1x6x16x16x16xf32>
  return %r : tensor<1x6x16x16x16xf32>
}
