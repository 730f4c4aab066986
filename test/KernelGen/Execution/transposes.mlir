// What lies along the rows of a tile is turned in registers: beside what does
// not, of narrow and wide types, at sizes that tiles fit and do not fit, on the
// way in and on the way out.
// RUN: kernel-check %s | FileCheck %s
// RUN: kernel-check %s --vector-bits=256 | FileCheck %s
// RUN: kernel-check %s --vector-bits=128 | FileCheck %s
// CHECK: EQUAL
#id = affine_map<(a, b) -> (a, b)>
#t = affine_map<(a, b) -> (b, a)>
#row = affine_map<(a, b) -> (a)>
#id3 = affine_map<(n, a, b) -> (n, a, b)>
#last = affine_map<(n, a, b) -> (b, n, a)>
func.func @main(%x: tensor<48x64xf32>, %y: tensor<64x48xf32>, %d: tensor<33x17xf64>, %h: tensor<70x32xbf16>, %i: tensor<40x19xi8>, %p: tensor<35x32xi1>, %v: tensor<5x37x21xf32>, %s: tensor<64xf32>)
    -> (tensor<64x48xf32>, tensor<17x33xf64>, tensor<32x70xf32>, tensor<32x70xbf16>, tensor<19x40xi8>, tensor<32x35xi1>, tensor<21x5x37xf32>, tensor<64x48xf32>) {
  // One input across, one along, one the same for a whole row.
  %e0 = tensor.empty() : tensor<64x48xf32>
  %0 = linalg.generic {indexing_maps = [#t, #id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y, %s : tensor<48x64xf32>, tensor<64x48xf32>, tensor<64xf32>) outs(%e0 : tensor<64x48xf32>) {
  ^bb0(%a: f32, %c: f32, %r: f32, %o: f32):
    %m = arith.mulf %a, %r : f32
    %n = arith.subf %m, %c : f32
    linalg.yield %n : f32
  } -> tensor<64x48xf32>
  %e1 = tensor.empty() : tensor<17x33xf64>
  %1 = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%d : tensor<33x17xf64>) outs(%e1 : tensor<17x33xf64>) {
  ^bb0(%a: f64, %o: f64):
    linalg.yield %a : f64
  } -> tensor<17x33xf64>
  // Two results of different widths.
  %e2 = tensor.empty() : tensor<32x70xf32>
  %e3 = tensor.empty() : tensor<32x70xbf16>
  %2:2 = linalg.generic {indexing_maps = [#t, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%h : tensor<70x32xbf16>) outs(%e2, %e3 : tensor<32x70xf32>, tensor<32x70xbf16>) {
  ^bb0(%a: bf16, %o: f32, %q: bf16):
    %w = arith.extf %a : bf16 to f32
    %n = arith.negf %a : bf16
    linalg.yield %w, %n : f32, bf16
  } -> (tensor<32x70xf32>, tensor<32x70xbf16>)
  %e4 = tensor.empty() : tensor<19x40xi8>
  %4 = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<40x19xi8>) outs(%e4 : tensor<19x40xi8>) {
  ^bb0(%a: i8, %o: i8):
    linalg.yield %a : i8
  } -> tensor<19x40xi8>
  %e5 = tensor.empty() : tensor<32x35xi1>
  %5 = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<35x32xi1>) outs(%e5 : tensor<32x35xi1>) {
  ^bb0(%a: i1, %o: i1):
    linalg.yield %a : i1
  } -> tensor<32x35xi1>
  %e6 = tensor.empty() : tensor<21x5x37xf32>
  %6 = linalg.generic {indexing_maps = [#id3, #last], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v : tensor<5x37x21xf32>) outs(%e6 : tensor<21x5x37xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<21x5x37xf32>
  // What memory holds is read as well.
  %7 = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<48x64xf32>) outs(%0 : tensor<64x48xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.addf %a, %o : f32
    linalg.yield %n : f32
  } -> tensor<64x48xf32>
  return %0, %1, %2#0, %2#1, %4, %5, %6, %7 : tensor<64x48xf32>, tensor<17x33xf64>, tensor<32x70xf32>, tensor<32x70xbf16>, tensor<19x40xi8>, tensor<32x35xi1>, tensor<21x5x37xf32>, tensor<64x48xf32>
}
