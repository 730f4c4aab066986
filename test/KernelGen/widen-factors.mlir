// RUN: shard-opt %s --spmd-generate-cpu-kernels="vector-bits=512 dot-bf16" | FileCheck %s
// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=256 | FileCheck %s --check-prefix=EACH
// What many tiles of a product multiply as wider numbers is made wider once.

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>

// The factor of the rows becomes f32 in memory, the other one in the panel.
// CHECK-LABEL: func.func @halves(
//       CHECK:   memref.alloc() {{.*}} : memref<64x48xf32>
//       CHECK:   arith.extf %{{.*}} : vector<16xf16> to vector<16xf32>
//       CHECK:   llvm.store %{{.*}} : vector<16xf32>
//       CHECK:   iter_args
//   CHECK-NOT:     extf
//       CHECK:     arith.mulf
//   CHECK-NOT:     extf
//       CHECK:     scf.yield
func.func @halves(%a: memref<64x48xf16>, %b: memref<48x64xf16>, %c: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x48xf16>, memref<48x64xf16>) outs(%c : memref<64x64xf32>) {
  ^bb0(%x: f16, %y: f16, %o: f32):
    %wide = arith.extf %x : f16 to f32
    %other = arith.extf %y : f16 to f32
    %p = arith.mulf %wide, %other : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Where bf16 goes in pairs it stays as it is, but side by side along the sum: columns become rows. Elsewhere it is f32.
#columns = affine_map<(m, n, k) -> (k, m)>
// CHECK-LABEL: func.func @columns(
//       CHECK:   memref.alloc() {{.*}} : memref<64x48xbf16>
//       CHECK:   dpbf16ps
//  EACH-LABEL: func.func @columns(
//        EACH:   memref.alloc() {{.*}} : memref<48x64xf32>
//    EACH-NOT:   dpbf16ps
func.func @columns(%a: memref<48x64xbf16>, %b: memref<48x64xbf16>, %c: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#columns, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<48x64xbf16>, memref<48x64xbf16>) outs(%c : memref<64x64xf32>) {
  ^bb0(%x: bf16, %y: bf16, %o: f32):
    %wide = arith.extf %x : bf16 to f32
    %other = arith.extf %y : bf16 to f32
    %p = arith.mulf %wide, %other : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Parts that run at the same time would share what is written.
// CHECK-LABEL: func.func @in_parts(
//   CHECK-NOT:   memref<64x48xf32>
//       CHECK:   return
func.func @in_parts(%a: memref<64x48xf16>, %b: memref<48x64xf16>, %c: memref<2x64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %c2 step %c1 {
    %mine = memref.subview %c[%i, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf32> to memref<64x64xf32, strided<[64, 1], offset: ?>>
    linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<64x48xf16>, memref<48x64xf16>) outs(%mine : memref<64x64xf32, strided<[64, 1], offset: ?>>) {
    ^bb0(%x: f16, %y: f16, %o: f32):
      %wide = arith.extf %x : f16 to f32
      %other = arith.extf %y : f16 to f32
      %p = arith.mulf %wide, %other : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
  } {kernel.parts = 2 : i64}
  return
}

// Few rows: an element is not read often enough.
// CHECK-LABEL: func.func @few(
//   CHECK-NOT:   memref.alloc
//       CHECK:   return
func.func @few(%a: memref<8x48xf16>, %b: memref<48x64xf16>, %c: memref<8x64xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x48xf16>, memref<48x64xf16>) outs(%c : memref<8x64xf32>) {
  ^bb0(%x: f16, %y: f16, %o: f32):
    %wide = arith.extf %x : f16 to f32
    %other = arith.extf %y : f16 to f32
    %p = arith.mulf %wide, %other : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}
