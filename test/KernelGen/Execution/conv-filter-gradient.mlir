// RUN: kernel-check %s  | FileCheck %s
// RUN: kernel-check %s --vector-bits=256  | FileCheck %s
// RUN: kernel-check %s --vector-bits=128  | FileCheck %s
// CHECK: EQUAL
func.func @main(%a: tensor<2x3x15x13xf32>, %b: tensor<2x5x13x11xf32>) -> tensor<5x3x3x3xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x3x3x3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<5x3x3x3xf32>) -> tensor<5x3x3x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0,d1,d2,d3,d4,d5,d6) -> (d4,d1,d5+d2,d6+d3)>, affine_map<(d0,d1,d2,d3,d4,d5,d6) -> (d4,d0,d5,d6)>, affine_map<(d0,d1,d2,d3,d4,d5,d6) -> (d0,d1,d2,d3)>], iterator_types = ["parallel","parallel","parallel","parallel","reduction","reduction","reduction"]} ins(%a, %b : tensor<2x3x15x13xf32>, tensor<2x5x13x11xf32>) outs(%f : tensor<5x3x3x3xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %acc, %p : f32
    linalg.yield %q : f32
  } -> tensor<5x3x3x3xf32>
  return %r : tensor<5x3x3x3xf32>
}
