// RUN: kernel-check %s --dims=37,29,53,29,37,53 | FileCheck %s
// RUN: kernel-check %s --vector-bits=256 --dims=37,29,53,29,37,53 | FileCheck %s
// RUN: kernel-check %s --vector-bits=128 --dims=37,29,53,29,37,53 | FileCheck %s
// CHECK: EQUAL
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %s0 = tensor.dim %a, %c0 : tensor<?x?xf32>
  %c1 = arith.constant 0 : index
  %s1 = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%s0, %s1) : tensor<?x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0,d1,d2) -> (d0,d2)>, affine_map<(d0,d1,d2) -> (d1,d2)>, affine_map<(d0,d1,d2) -> (d0,d1)>], iterator_types = ["parallel","parallel","reduction"]} ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %acc, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
