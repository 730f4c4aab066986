// RUN: kernel-check %s  | FileCheck %s
// RUN: kernel-check %s --vector-bits=256  | FileCheck %s
// RUN: kernel-check %s --vector-bits=128  | FileCheck %s
// CHECK: EQUAL
func.func @main(%a: tensor<37x71xf32>, %b: tensor<53x71xf32>) -> tensor<37x53xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37x53xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<37x53xf32>) -> tensor<37x53xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0,d1,d2) -> (d0,d2)>, affine_map<(d0,d1,d2) -> (d1,d2)>, affine_map<(d0,d1,d2) -> (d0,d1)>], iterator_types = ["parallel","parallel","reduction"]} ins(%a, %b : tensor<37x71xf32>, tensor<53x71xf32>) outs(%f : tensor<37x53xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %acc, %p : f32
    linalg.yield %q : f32
  } -> tensor<37x53xf32>
  return %r : tensor<37x53xf32>
}
