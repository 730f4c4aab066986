// RUN: kernel-check %s  | FileCheck %s
// RUN: kernel-check %s --vector-bits=256  | FileCheck %s
// RUN: kernel-check %s --vector-bits=128  | FileCheck %s
// CHECK: EQUAL
#id = affine_map<(a) -> (a)>
#sc = affine_map<(a) -> ()>
func.func @main(%x: tensor<1000xf32>, %y: tensor<1000xf32>) -> (tensor<1000xf32>, tensor<1000xf32>, tensor<i32>) {
  %c0 = arith.constant dense<0> : tensor<i32>
  %e = tensor.empty() : tensor<1000xf32>
  %r:3 = scf.while (%i = %c0, %a = %x, %b = %y) : (tensor<i32>, tensor<1000xf32>, tensor<1000xf32>) -> (tensor<i32>, tensor<1000xf32>, tensor<1000xf32>) {
    %v = tensor.extract %i[] : tensor<i32>
    %n = arith.constant 7 : i32
    %c = arith.cmpi slt, %v, %n : i32
    scf.condition(%c) %i, %a, %b : tensor<i32>, tensor<1000xf32>, tensor<1000xf32>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<1000xf32>, %b: tensor<1000xf32>):
    %v = tensor.extract %i[] : tensor<i32>
    %one = arith.constant 1 : i32
    %w = arith.addi %v, %one : i32
    %i2 = tensor.from_elements %w : tensor<i32>
    // a' = 0.5*(shifted a) + b : needs another buffer;  b' = a (swap-like)
    %sh1 = tensor.extract_slice %a[1] [999] [1] : tensor<1000xf32> to tensor<999xf32>
    %sh2 = tensor.extract_slice %a[0] [1] [1] : tensor<1000xf32> to tensor<1xf32>
    %sh = tensor.concat dim(0) %sh1, %sh2 : (tensor<999xf32>, tensor<1xf32>) -> tensor<1000xf32>
    %a2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%sh, %b : tensor<1000xf32>, tensor<1000xf32>) outs(%e : tensor<1000xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %h = arith.constant 0.5 : f32
      %0 = arith.mulf %p, %h : f32
      %1 = arith.addf %0, %q : f32
      linalg.yield %1 : f32
    } -> tensor<1000xf32>
    scf.yield %i2, %a2, %a : tensor<i32>, tensor<1000xf32>, tensor<1000xf32>
  }
  return %r#1, %r#2, %r#0 : tensor<1000xf32>, tensor<1000xf32>, tensor<i32>
}
