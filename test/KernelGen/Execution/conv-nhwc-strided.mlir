// RUN: kernel-check %s  | FileCheck %s
// RUN: kernel-check %s --vector-bits=256  | FileCheck %s
// RUN: kernel-check %s --vector-bits=128  | FileCheck %s
// CHECK: EQUAL
func.func @main(%a: tensor<2x15x19x5xf32>, %b: tensor<3x3x5x7xf32>, %bias: tensor<7xf32>, %res: tensor<2x7x9x7xf32>) -> tensor<2x7x9x7xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x7x9x7xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x7x9x7xf32>) -> tensor<2x7x9x7xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0,d1,d2,d3,d4,d5,d6) -> (d0,d1*2+d4*1,d2*2+d5*1,d6)>, affine_map<(d0,d1,d2,d3,d4,d5,d6) -> (d4,d5,d6,d3)>, affine_map<(d0,d1,d2,d3,d4,d5,d6) -> (d0,d1,d2,d3)>], iterator_types = ["parallel","parallel","parallel","parallel","reduction","reduction","reduction"]} ins(%a, %b : tensor<2x15x19x5xf32>, tensor<3x3x5x7xf32>) outs(%f : tensor<2x7x9x7xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %acc, %p : f32
    linalg.yield %q : f32
  } -> tensor<2x7x9x7xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(d0,d1,d2,d3) -> (d0,d1,d2,d3)>, affine_map<(d0,d1,d2,d3) -> (d3)>, affine_map<(d0,d1,d2,d3) -> (d0,d1,d2,d3)>, affine_map<(d0,d1,d2,d3) -> (d0,d1,d2,d3)>], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%r, %bias, %res : tensor<2x7x9x7xf32>, tensor<7xf32>, tensor<2x7x9x7xf32>) outs(%e : tensor<2x7x9x7xf32>) {
  ^bb0(%x: f32, %y: f32, %t: f32, %acc: f32):
    %p = arith.addf %x, %y : f32
    %m = arith.maximumf %p, %z : f32
    %q = arith.addf %m, %t : f32
    linalg.yield %q : f32
  } -> tensor<2x7x9x7xf32>
  return %w : tensor<2x7x9x7xf32>
}
