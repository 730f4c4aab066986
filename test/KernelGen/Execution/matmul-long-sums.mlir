// Sums of products of columns, in blocks with a rest, and all outputs of a block at once where the other operand is large.
// RUN: split-file %s %t
// RUN: kernel-check %t/panels.mlir  | FileCheck %s
// RUN: kernel-check %t/once.mlir | FileCheck %s
// CHECK: EQUAL
//--- panels.mlir
func.func @main(%a: tensor<4501x220xf64>, %b: tensor<4501x256xf64>) -> tensor<220x256xf64> {
  %z = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<220x256xf64>
  %f = linalg.fill ins(%z : f64) outs(%e : tensor<220x256xf64>) -> tensor<220x256xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(d0,d1,d2) -> (d2,d0)>, affine_map<(d0,d1,d2) -> (d2,d1)>, affine_map<(d0,d1,d2) -> (d0,d1)>], iterator_types = ["parallel","parallel","reduction"]} ins(%a, %b : tensor<4501x220xf64>, tensor<4501x256xf64>) outs(%f : tensor<220x256xf64>) {
  ^bb0(%x: f64, %y: f64, %acc: f64):
    %p = arith.mulf %x, %y : f64
    %q = arith.addf %acc, %p : f64
    linalg.yield %q : f64
  } -> tensor<220x256xf64>
  return %r : tensor<220x256xf64>
}
//--- once.mlir
func.func @main(%a: tensor<1100x2001xf64>, %b: tensor<1100x128xf64>) -> tensor<2001x128xf64> {
  %z = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<2001x128xf64>
  %f = linalg.fill ins(%z : f64) outs(%e : tensor<2001x128xf64>) -> tensor<2001x128xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(d0,d1,d2) -> (d2,d0)>, affine_map<(d0,d1,d2) -> (d2,d1)>, affine_map<(d0,d1,d2) -> (d0,d1)>], iterator_types = ["parallel","parallel","reduction"]} ins(%a, %b : tensor<1100x2001xf64>, tensor<1100x128xf64>) outs(%f : tensor<2001x128xf64>) {
  ^bb0(%x: f64, %y: f64, %acc: f64):
    %p = arith.mulf %x, %y : f64
    %q = arith.addf %acc, %p : f64
    linalg.yield %q : f64
  } -> tensor<2001x128xf64>
  return %r : tensor<2001x128xf64>
}
