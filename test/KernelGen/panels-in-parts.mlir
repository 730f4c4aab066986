// RUN: shard-opt %s --spmd-generate-cpu-kernels="vector-bits=256 threads=4" | FileCheck %s

#rows = affine_map<(d0, d1, d2) -> (d0, d2)>
#columns = affine_map<(d0, d1, d2) -> (d1, d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

// A nest in a loop over parts has a panel for each of them.
// CHECK-LABEL: func @panels_in_parts(
//       CHECK:   memref.alloc() {alignment = 64 : i64} : memref<[[ALL:[0-9]+]]xi8>
//       CHECK:   scf.for %[[PART:.*]] = %{{.*}} to
//   CHECK-NOT:     memref.alloc
//       CHECK:     %[[FROM:.*]] = arith.muli %[[PART]], %{{.*}} : index
//       CHECK:     arith.addi %{{.*}}, %[[FROM]] : index
//       CHECK:   } {kernel.parts = 4 : i64}
func.func @panels_in_parts(%a: memref<4x64x64xf32>, %b: memref<4x64x64xf32>, %c: memref<4x64x64xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  scf.for %i = %zero to %four step %one {
    %x = memref.subview %a[%i, 0, 0] [1, 64, 64] [1, 1, 1] : memref<4x64x64xf32> to memref<64x64xf32, strided<[64, 1], offset: ?>>
    %y = memref.subview %b[%i, 0, 0] [1, 64, 64] [1, 1, 1] : memref<4x64x64xf32> to memref<64x64xf32, strided<[64, 1], offset: ?>>
    %z = memref.subview %c[%i, 0, 0] [1, 64, 64] [1, 1, 1] : memref<4x64x64xf32> to memref<64x64xf32, strided<[64, 1], offset: ?>>
    linalg.generic {indexing_maps = [#rows, #columns, #out], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : memref<64x64xf32, strided<[64, 1], offset: ?>>, memref<64x64xf32, strided<[64, 1], offset: ?>>)
        outs(%z : memref<64x64xf32, strided<[64, 1], offset: ?>>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    }
  } {kernel.parts = 4 : i64}
  return
}
