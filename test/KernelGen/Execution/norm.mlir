// RUN: kernel-check %s --rtol=1e-2 | FileCheck %s
// RUN: kernel-check %s --vector-bits=256 --rtol=1e-2 | FileCheck %s
// RUN: kernel-check %s --vector-bits=128 --rtol=1e-2 | FileCheck %s
// CHECK: EQUAL
#id = affine_map<(a, b) -> (a, b)>
#row = affine_map<(a, b) -> (a)>
#col = affine_map<(a, b) -> (b)>
#r1 = affine_map<(a) -> (a)>
func.func @main(%x: tensor<2048x384xbf16>, %w: tensor<384xf32>) -> (tensor<2048x384xbf16>, tensor<384xf32>, tensor<f32>) {
  %z = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<2048xf32>
  %e = tensor.empty() : tensor<2048x384xf32>
  %eb = tensor.empty() : tensor<2048x384xbf16>
  %xf = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2048x384xbf16>) outs(%e : tensor<2048x384xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    linalg.yield %0 : f32
  } -> tensor<2048x384xf32>
  %f = linalg.fill ins(%z : f32) outs(%er : tensor<2048xf32>) -> tensor<2048xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%xf : tensor<2048x384xf32>) outs(%f : tensor<2048xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<2048xf32>
  %mean = linalg.generic {indexing_maps = [#r1, #r1], iterator_types = ["parallel"]} ins(%s : tensor<2048xf32>) outs(%er : tensor<2048xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.constant 384.0 : f32
    %0 = arith.divf %a, %n : f32
    linalg.yield %0 : f32
  } -> tensor<2048xf32>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%xf, %mean : tensor<2048x384xf32>, tensor<2048xf32>) outs(%e : tensor<2048x384xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<2048x384xf32>
  %v = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<2048x384xf32>) outs(%f : tensor<2048xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.mulf %a, %a : f32
    %0 = arith.addf %q, %o : f32
    linalg.yield %0 : f32
  } -> tensor<2048xf32>
  %rs = linalg.generic {indexing_maps = [#r1, #r1], iterator_types = ["parallel"]} ins(%v : tensor<2048xf32>) outs(%er : tensor<2048xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.constant 384.0 : f32
    %eps = arith.constant 1.0e-5 : f32
    %0 = arith.divf %a, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    linalg.yield %2 : f32
  } -> tensor<2048xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%d, %rs, %w : tensor<2048x384xf32>, tensor<2048xf32>, tensor<384xf32>) outs(%eb : tensor<2048x384xbf16>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: bf16):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.mulf %0, %c : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<2048x384xbf16>
  %ec = tensor.empty() : tensor<384xf32>
  %fc = linalg.fill ins(%z : f32) outs(%ec : tensor<384xf32>) -> tensor<384xf32>
  %cs = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]} ins(%xf : tensor<2048x384xf32>) outs(%fc : tensor<384xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<384xf32>
  %e0 = tensor.empty() : tensor<f32>
  %f0 = linalg.fill ins(%z : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %all = linalg.generic {indexing_maps = [#id, affine_map<(a, b) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%d : tensor<2048x384xf32>) outs(%f0 : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %q = math.absf %a : f32
    %0 = arith.addf %q, %o : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  return %y, %cs, %all : tensor<2048x384xbf16>, tensor<384xf32>, tensor<f32>
}
