// Parts of complex elements: made, taken apart, moved, summed up and chosen,
// along memory and across it, at sizes that vectors fit and do not fit.
// RUN: kernel-check %s | FileCheck %s
// RUN: kernel-check %s --vector-bits=256 | FileCheck %s
// RUN: kernel-check %s --vector-bits=128 | FileCheck %s
// CHECK: EQUAL
#id = affine_map<(a, b) -> (a, b)>
#t = affine_map<(a, b) -> (b, a)>
#row = affine_map<(a, b) -> (a)>
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
func.func @main(%x: tensor<35x48xf32>, %y: tensor<35x48xf32>, %v: tensor<19x33xf64>, %p: tensor<35x48xi1>)
    -> (tensor<35x48xf32>, tensor<48x35xf32>, tensor<48x35xf32>, tensor<35xf32>, tensor<19x33xf64>, tensor<35x35xf32>, tensor<35x48xf32>) {
  %zero = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %e = tensor.empty() : tensor<35x48xcomplex<f32>>
  %c = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<35x48xf32>, tensor<35x48xf32>) outs(%e : tensor<35x48xcomplex<f32>>) {
  ^bb0(%a: f32, %b: f32, %o: complex<f32>):
    %0 = complex.create %a, %b : complex<f32>
    linalg.yield %0 : complex<f32>
  } -> tensor<35x48xcomplex<f32>>
  %er = tensor.empty() : tensor<35x48xf32>
  %r0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<35x48xcomplex<f32>>) outs(%er : tensor<35x48xf32>) {
  ^bb0(%a: complex<f32>, %o: f32):
    %re = complex.re %a : complex<f32>
    %im = complex.im %a : complex<f32>
    %0 = arith.subf %re, %im : f32
    linalg.yield %0 : f32
  } -> tensor<35x48xf32>
  // Moved whole, across; then taken apart.
  %et = tensor.empty() : tensor<48x35xcomplex<f32>>
  %m = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<35x48xcomplex<f32>>) outs(%et : tensor<48x35xcomplex<f32>>) {
  ^bb0(%a: complex<f32>, %o: complex<f32>):
    linalg.yield %a : complex<f32>
  } -> tensor<48x35xcomplex<f32>>
  %e1 = tensor.empty() : tensor<48x35xf32>
  %r1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<48x35xcomplex<f32>>) outs(%e1 : tensor<48x35xf32>) {
  ^bb0(%a: complex<f32>, %o: f32):
    %im = complex.im %a : complex<f32>
    linalg.yield %im : f32
  } -> tensor<48x35xf32>
  // Made of, and made into, parts that lie across.
  %e2 = tensor.empty() : tensor<48x35xcomplex<f32>>
  %c2 = linalg.generic {indexing_maps = [#t, #t, #t, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %c, %p : tensor<35x48xf32>, tensor<35x48xcomplex<f32>>, tensor<35x48xi1>) outs(%e2 : tensor<48x35xcomplex<f32>>) {
  ^bb0(%a: f32, %b: complex<f32>, %q: i1, %o: complex<f32>):
    %re = complex.re %b : complex<f32>
    %im = complex.im %b : complex<f32>
    %s = arith.addf %re, %a : f32
    %0 = complex.create %im, %s : complex<f32>
    %1 = arith.select %q, %0, %zero : complex<f32>
    linalg.yield %1 : complex<f32>
  } -> tensor<48x35xcomplex<f32>>
  %e3 = tensor.empty() : tensor<48x35xf32>
  %r2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%c2 : tensor<48x35xcomplex<f32>>) outs(%e3 : tensor<48x35xf32>) {
  ^bb0(%a: complex<f32>, %o: f32):
    %re = complex.re %a : complex<f32>
    %im = complex.im %a : complex<f32>
    %0 = arith.mulf %re, %im : f32
    linalg.yield %0 : f32
  } -> tensor<48x35xf32>
  // Sums of rows, from a fill.
  %es = tensor.empty() : tensor<35xcomplex<f32>>
  %fs = linalg.fill ins(%zero : complex<f32>) outs(%es : tensor<35xcomplex<f32>>) -> tensor<35xcomplex<f32>>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%c : tensor<35x48xcomplex<f32>>) outs(%fs : tensor<35xcomplex<f32>>) {
  ^bb0(%a: complex<f32>, %o: complex<f32>):
    %ar = complex.re %a : complex<f32>
    %ai = complex.im %a : complex<f32>
    %or = complex.re %o : complex<f32>
    %oi = complex.im %o : complex<f32>
    %sr = arith.addf %or, %ar : f32
    %si = arith.addf %oi, %ai : f32
    %0 = complex.create %sr, %si : complex<f32>
    linalg.yield %0 : complex<f32>
  } -> tensor<35xcomplex<f32>>
  %e4 = tensor.empty() : tensor<35xf32>
  %r3 = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]} ins(%s : tensor<35xcomplex<f32>>) outs(%e4 : tensor<35xf32>) {
  ^bb0(%a: complex<f32>, %o: f32):
    %re = complex.re %a : complex<f32>
    %im = complex.im %a : complex<f32>
    %0 = arith.subf %re, %im : f32
    linalg.yield %0 : f32
  } -> tensor<35xf32>
  // Parts of 64 bits, moved whole.
  %e5 = tensor.empty() : tensor<33x19xcomplex<f64>>
  %c5 = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%v : tensor<19x33xf64>) outs(%e5 : tensor<33x19xcomplex<f64>>) {
  ^bb0(%a: f64, %o: complex<f64>):
    %n = arith.negf %a : f64
    %0 = complex.create %n, %a : complex<f64>
    linalg.yield %0 : complex<f64>
  } -> tensor<33x19xcomplex<f64>>
  %e6 = tensor.empty() : tensor<19x33xcomplex<f64>>
  %c6 = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%c5 : tensor<33x19xcomplex<f64>>) outs(%e6 : tensor<19x33xcomplex<f64>>) {
  ^bb0(%a: complex<f64>, %o: complex<f64>):
    linalg.yield %a : complex<f64>
  } -> tensor<19x33xcomplex<f64>>
  %e7 = tensor.empty() : tensor<19x33xf64>
  %r4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%c6 : tensor<19x33xcomplex<f64>>) outs(%e7 : tensor<19x33xf64>) {
  ^bb0(%a: complex<f64>, %o: f64):
    %im = complex.im %a : complex<f64>
    linalg.yield %im : f64
  } -> tensor<19x33xf64>
  // A matrix product.
  %e8 = tensor.empty() : tensor<35x35xcomplex<f32>>
  %f8 = linalg.fill ins(%zero : complex<f32>) outs(%e8 : tensor<35x35xcomplex<f32>>) -> tensor<35x35xcomplex<f32>>
  %c8 = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%c, %m : tensor<35x48xcomplex<f32>>, tensor<48x35xcomplex<f32>>) outs(%f8 : tensor<35x35xcomplex<f32>>) {
  ^bb0(%a: complex<f32>, %b: complex<f32>, %o: complex<f32>):
    %ar = complex.re %a : complex<f32>
    %ai = complex.im %a : complex<f32>
    %br = complex.re %b : complex<f32>
    %bi = complex.im %b : complex<f32>
    %0 = arith.mulf %ar, %br : f32
    %1 = arith.mulf %ai, %bi : f32
    %2 = arith.mulf %ar, %bi : f32
    %3 = arith.mulf %ai, %br : f32
    %4 = arith.subf %0, %1 : f32
    %5 = arith.addf %2, %3 : f32
    %or = complex.re %o : complex<f32>
    %oi = complex.im %o : complex<f32>
    %6 = arith.addf %or, %4 : f32
    %7 = arith.addf %oi, %5 : f32
    %8 = complex.create %6, %7 : complex<f32>
    linalg.yield %8 : complex<f32>
  } -> tensor<35x35xcomplex<f32>>
  %e9 = tensor.empty() : tensor<35x35xf32>
  %r5 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%c8 : tensor<35x35xcomplex<f32>>) outs(%e9 : tensor<35x35xf32>) {
  ^bb0(%a: complex<f32>, %o: f32):
    %re = complex.re %a : complex<f32>
    %im = complex.im %a : complex<f32>
    %0 = arith.subf %re, %im : f32
    linalg.yield %0 : f32
  } -> tensor<35x35xf32>
  // What memory holds is read as well.
  %c9 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<35x48xf32>) outs(%c : tensor<35x48xcomplex<f32>>) {
  ^bb0(%a: f32, %o: complex<f32>):
    %re = complex.re %o : complex<f32>
    %im = complex.im %o : complex<f32>
    %0 = arith.addf %re, %a : f32
    %1 = complex.create %im, %0 : complex<f32>
    linalg.yield %1 : complex<f32>
  } -> tensor<35x48xcomplex<f32>>
  %e10 = tensor.empty() : tensor<35x48xf32>
  %r6 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%c9 : tensor<35x48xcomplex<f32>>) outs(%e10 : tensor<35x48xf32>) {
  ^bb0(%a: complex<f32>, %o: f32):
    %re = complex.re %a : complex<f32>
    %im = complex.im %a : complex<f32>
    %0 = arith.subf %re, %im : f32
    linalg.yield %0 : f32
  } -> tensor<35x48xf32>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6 : tensor<35x48xf32>, tensor<48x35xf32>, tensor<48x35xf32>, tensor<35xf32>, tensor<19x33xf64>, tensor<35x35xf32>, tensor<35x48xf32>
}
