// RUN: shard-opt %s --spmd-generate-cpu-kernels="vector-bits=256 threads=4" --spmd-generate-pair-kernels="vector-bits=256 threads=4" --split-input-file | FileCheck %s
// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=256 --spmd-generate-pair-kernels=vector-bits=256 --split-input-file | FileCheck %s --check-prefix=ALONE
// ALONE-NOT: kernel.parts

#id = affine_map<(i) -> (i)>

// Four parts, each of whole tiles but the last.
// CHECK-LABEL: func.func @elementwise(
//       CHECK:   scf.for %[[PART:.*]] = %{{.*}} to %{{.*}} step
//       CHECK:     arith.muli %{{.*}}, %[[PART]]
//       CHECK:     scf.for
//       CHECK:       llvm.store {{.*}} : vector<8xf32>
//       CHECK:   } {kernel.parts = 4 : i64}
func.func @elementwise(%a: memref<100003xf32>, %b: memref<100003xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<100003xf32>) outs(%b : memref<100003xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %x : f32
    linalg.yield %y : f32
  }
  return
}

// -----

#id = affine_map<(i) -> (i)>

// Too little work for anybody to be told.
// CHECK-LABEL: func.func @short(
//   CHECK-NOT:   kernel.parts
func.func @short(%a: memref<1000xf32>, %b: memref<1000xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<1000xf32>) outs(%b : memref<1000xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %x : f32
    linalg.yield %y : f32
  }
  return
}

// -----

// A sum of all has no dim to share: the bits of a sum do not depend on threads.
// CHECK-LABEL: func.func @sum(
//   CHECK-NOT:   kernel.parts
func.func @sum(%a: memref<1000000xf32>, %b: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%a : memref<1000000xf32>) outs(%b : memref<f32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  }
  return
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#transposed = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>

// What is packed has a panel for each part, made before them.
// CHECK-LABEL: func.func @product(
//       CHECK:   memref.alloc() {{.*}} : memref<{{[0-9]+}}xi8>
//   CHECK-NOT:   memref.alloc
//       CHECK:   } {kernel.parts = 4 : i64}
func.func @product(%a: memref<512x256xf32>, %b: memref<512x256xf32>, %c: memref<512x512xf32>) {
  linalg.generic {indexing_maps = [#lhs, #transposed, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<512x256xf32>, memref<512x256xf32>) outs(%c : memref<512x512xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#q = affine_map<(b, q, k, d, e) -> (b, q, d)>
#k = affine_map<(b, q, k, d, e) -> (b, k, d)>
#v = affine_map<(b, q, k, d, e) -> (b, k, e)>
#row = affine_map<(b, q, k, d, e) -> (b, q)>
#out = affine_map<(b, q, k, d, e) -> (b, q, e)>

// Two heads for two threads each, which share the queries; scratch for each of the four.
// CHECK-LABEL: func @attention(
//  CHECK-DAG:   memref.alloc() {alignment = 64 : i64} : memref<98304xi8>
//      CHECK:   scf.for
//      CHECK:     arith.remui
//      CHECK:     vector.fma
//      CHECK:   } {kernel.parts = 4 : i64}
func.func @attention(%q: memref<2x4096x64xf32>, %k: memref<2x8192x64xf32>, %v: memref<2x8192x64xf32>,
                     %m: memref<2x4096xf32>, %l: memref<2x4096xf32>, %acc: memref<2x4096x64xf32>) {
  %zero = arith.constant 0 : index
  pairs.pair_step softmax ins(%q, %k, %v : memref<2x4096x64xf32>, memref<2x8192x64xf32>, memref<2x8192x64xf32>)
      at (%zero, %zero, %zero) outs(%m, %l, %acc : memref<2x4096xf32>, memref<2x4096xf32>, memref<2x4096x64xf32>)
      maps [#q, #k, #v, #row, #row, #out] score {
  ^bb0(%raw: f32, %b: i32, %i: i32, %j: i32):
    pairs.yield %raw : f32
  }
  return
}

// -----

// Rows before the one that is under way are 31 at most: too little work, however often. Sizes of which nothing
// is known are taken to be large.
// CHECK-LABEL: func.func @index_of_a_loop(
//   CHECK-NOT:   kernel.parts
//       CHECK:   return
func.func @index_of_a_loop(%a: memref<64x64xf32>, %b: memref<64x4096xf32>, %c: memref<4096xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %most = arith.constant 32 : index
  scf.for %i = %zero to %most step %one {
    %size = arith.subi %most, %i : index
    %factors = memref.subview %a[%i, 0] [1, %size] [1, 1] : memref<64x64xf32> to memref<?xf32, strided<[1], offset: ?>>
    %rows = memref.subview %b[0, 0] [%size, 4096] [1, 1] : memref<64x4096xf32> to memref<?x4096xf32, strided<[4096, 1]>>
    linalg.generic {indexing_maps = [affine_map<(j, k) -> (k)>, affine_map<(j, k) -> (k, j)>, affine_map<(j, k) -> (j)>],
                    iterator_types = ["parallel", "reduction"]}
        ins(%factors, %rows : memref<?xf32, strided<[1], offset: ?>>, memref<?x4096xf32, strided<[4096, 1]>>)
        outs(%c : memref<4096xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
  }
  return
}

// -----

// CHECK-LABEL: func.func @any_size(
//       CHECK:   kernel.parts = 4
func.func @any_size(%size: index, %a: memref<64x64xf32>, %b: memref<64x4096xf32>, %c: memref<4096xf32>) {
  %factors = memref.subview %a[0, 0] [1, %size] [1, 1] : memref<64x64xf32> to memref<?xf32, strided<[1]>>
  %rows = memref.subview %b[0, 0] [%size, 4096] [1, 1] : memref<64x4096xf32> to memref<?x4096xf32, strided<[4096, 1]>>
  linalg.generic {indexing_maps = [affine_map<(j, k) -> (k)>, affine_map<(j, k) -> (k, j)>, affine_map<(j, k) -> (j)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%factors, %rows : memref<?xf32, strided<[1]>>, memref<?x4096xf32, strided<[4096, 1]>>)
      outs(%c : memref<4096xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}
