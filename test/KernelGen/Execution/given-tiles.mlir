// Tiles that no estimate would choose, of odd sizes: rows and vectors that do not divide, panels, blocks of the sum, another
// dim of a window's for rows. The same numbers as plain loops.
// RUN: kernel-check %s | FileCheck %s
// RUN: kernel-check %s --vector-bits=256 | FileCheck %s
// RUN: kernel-check %s --vector-bits=128 | FileCheck %s
// They are obeyed: no remark says that they are not, and a sum goes in blocks of 20.
// RUN: shard-opt %s --spmd-cpu-buffers=vector-bits=512 --verify-diagnostics | FileCheck %s --check-prefix=OBEYED
// CHECK: EQUAL
// OBEYED: scf.for {{.*}} to %c71 step %c20
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>
#image = affine_map<(f, y, x, h, w, c) -> (y + h, x + w, c)>
#window = affine_map<(f, y, x, h, w, c) -> (h, w, c, f)>
#sums = affine_map<(f, y, x, h, w, c) -> (y, x, f)>
func.func @main(%a: tensor<37x71xf32>, %b: tensor<71x53xf32>, %t: tensor<9x71xf32>, %i: tensor<13x15x5xf32>, %w: tensor<3x3x5x35xf32>)
    -> (tensor<37x53xf32>, tensor<37x53xf32>, tensor<37x53xf32>, tensor<37x9xf32>, tensor<11x13x35xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37x53xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<37x53xf32>) -> tensor<37x53xf32>
  %panel = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<37x71xf32>, tensor<71x53xf32>) outs(%f : tensor<37x53xf32>)
      attrs = {tune.tile = #tune.tile<row = 0, rows = 5, vectors = 3, panel = true>} {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %acc, %p : f32
    linalg.yield %q : f32
  } -> tensor<37x53xf32>
  %e1 = tensor.empty() : tensor<37x53xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<37x53xf32>) -> tensor<37x53xf32>
  %blocks = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<37x71xf32>, tensor<71x53xf32>) outs(%f1 : tensor<37x53xf32>)
      attrs = {tune.tile = #tune.tile<row = 0, rows = 16, vectors = 1, hoisted = 1, block = 20>} {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %acc, %p : f32
    linalg.yield %q : f32
  } -> tensor<37x53xf32>
  %e2 = tensor.empty() : tensor<37x53xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<37x53xf32>) -> tensor<37x53xf32>
  %both = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<37x71xf32>, tensor<71x53xf32>) outs(%f2 : tensor<37x53xf32>)
      attrs = {tune.tile = #tune.tile<row = 0, rows = 3, vectors = 2, panel = true, hoisted = 1, block = 1>} {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %acc, %p : f32
    linalg.yield %q : f32
  } -> tensor<37x53xf32>
  %e3 = tensor.empty() : tensor<11x13x35xf32>
  %f3 = linalg.fill ins(%z : f32) outs(%e3 : tensor<11x13x35xf32>) -> tensor<11x13x35xf32>
  %convolved = linalg.generic {indexing_maps = [#image, #window, #sums], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%i, %w : tensor<13x15x5xf32>, tensor<3x3x5x35xf32>) outs(%f3 : tensor<11x13x35xf32>)
      attrs = {tune.tile = #tune.tile<row = 1, rows = 7, vectors = 2, hoisted = 2, block = 2>} {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %acc, %p : f32
    linalg.yield %q : f32
  } -> tensor<11x13x35xf32>
  %e4 = tensor.empty() : tensor<37x9xf32>
  %f4 = linalg.fill ins(%z : f32) outs(%e4 : tensor<37x9xf32>) -> tensor<37x9xf32>
  %along = linalg.generic {indexing_maps = [#lhs, #nk, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %t : tensor<37x71xf32>, tensor<9x71xf32>) outs(%f4 : tensor<37x9xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %acc, %p : f32
    linalg.yield %q : f32
  } -> tensor<37x9xf32>
  return %panel, %blocks, %both, %along, %convolved : tensor<37x53xf32>, tensor<37x53xf32>, tensor<37x53xf32>, tensor<37x9xf32>, tensor<11x13x35xf32>
}
