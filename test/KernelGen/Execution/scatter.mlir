// RUN: kernel-check %s  | FileCheck %s
// RUN: kernel-check %s --vector-bits=256  | FileCheck %s
// RUN: kernel-check %s --vector-bits=128  | FileCheck %s
// CHECK: EQUAL
func.func @main(%x: tensor<100x16xf32>, %i: tensor<50xi32>, %u: tensor<50x16xf32>) -> (tensor<100x16xf32>, tensor<50x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c50 = arith.constant 50 : index
  %c16 = arith.constant 16 : index
  %z = arith.constant 0.0 : f32
  %r = scf.for %a = %c0 to %c50 step %c1 iter_args(%t = %x) -> tensor<100x16xf32> {
    %q = scf.for %b = %c0 to %c16 step %c1 iter_args(%s = %t) -> tensor<100x16xf32> {
      %k = tensor.extract %i[%a] : tensor<50xi32>
      %kk = arith.index_cast %k : i32 to index
      %o = tensor.extract %s[%kk, %b] : tensor<100x16xf32>
      %v = tensor.extract %u[%a, %b] : tensor<50x16xf32>
      %n = arith.addf %o, %v : f32
      %ins = tensor.insert %n into %s[%kk, %b] : tensor<100x16xf32>
      scf.yield %ins : tensor<100x16xf32>
    }
    scf.yield %q : tensor<100x16xf32>
  }
  // running sum over rows
  %e = tensor.empty() : tensor<50x16xf32>
  %er = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%z : f32) outs(%er : tensor<16xf32>) -> tensor<16xf32>
  %cs:2 = scf.for %a = %c0 to %c50 step %c1 iter_args(%t = %e, %acc = %f) -> (tensor<50x16xf32>, tensor<16xf32>) {
    %row = tensor.extract_slice %u[%a, 0] [1, 16] [1, 1] : tensor<50x16xf32> to tensor<16xf32>
    %sum = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]} ins(%row : tensor<16xf32>) outs(%acc : tensor<16xf32>) {
    ^bb0(%p: f32, %o: f32):
      %0 = arith.addf %p, %o : f32
      linalg.yield %0 : f32
    } -> tensor<16xf32>
    %ins = tensor.insert_slice %sum into %t[%a, 0] [1, 16] [1, 1] : tensor<16xf32> into tensor<50x16xf32>
    scf.yield %ins, %sum : tensor<50x16xf32>, tensor<16xf32>
  }
  return %r, %cs#0 : tensor<100x16xf32>, tensor<50x16xf32>
}
