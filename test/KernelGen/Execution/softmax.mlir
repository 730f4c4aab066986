// RUN: kernel-check %s  | FileCheck %s
// RUN: kernel-check %s --vector-bits=256  | FileCheck %s
// RUN: kernel-check %s --vector-bits=128  | FileCheck %s
// CHECK: EQUAL
#id = affine_map<(a, b, c) -> (a, b, c)>
#row = affine_map<(a, b, c) -> (a, b)>
func.func @main(%x: tensor<8x512x500xf32>) -> tensor<8x512x500xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %z = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<8x512xf32>
  %e = tensor.empty() : tensor<8x512x500xf32>
  %f = linalg.fill ins(%ninf : f32) outs(%er : tensor<8x512xf32>) -> tensor<8x512xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<8x512x500xf32>) outs(%f : tensor<8x512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<8x512xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %m : tensor<8x512x500xf32>, tensor<8x512xf32>) outs(%e : tensor<8x512x500xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x512x500xf32>
  %g = linalg.fill ins(%z : f32) outs(%er : tensor<8x512xf32>) -> tensor<8x512xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p : tensor<8x512x500xf32>) outs(%g : tensor<8x512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<8x512xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %s : tensor<8x512x500xf32>, tensor<8x512xf32>) outs(%e : tensor<8x512x500xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x512x500xf32>
  return %r : tensor<8x512x500xf32>
}
