// RUN: shard-opt %s --spmd-generate-cpu-kernels="vector-bits=512 dot-bf16" | FileCheck %s
// RUN: shard-opt %s --spmd-generate-cpu-kernels="vector-bits=512 dot-bf16 exact" | FileCheck %s --check-prefix=EACH
// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=512 | FileCheck %s --check-prefix=EACH
// Two products of bf16 are added at a time where the CPU can; not where each is to be rounded.
// EACH-NOT: dpbf16ps

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>

// Elements of two rows of the right operand take turns in the panel; the last of 65 goes with a zero.
// CHECK-LABEL: func.func @odd(
//       CHECK:   memref.alloc() {{.*}} : memref<4224xi8>
//       CHECK:   vector.shuffle {{.*}} [0, 16, 1, 17, {{.*}}, 15, 31] : vector<16xbf16>, vector<16xbf16>
//       CHECK:   vector.shuffle %{{.*}}, %cst{{.*}} [0, 16, 1, 17, {{.*}}, 15, 31] : vector<16xbf16>, vector<16xbf16>
//       CHECK:   scf.for %{{.*}} to %c64{{.*}} step %c2{{.*}} iter_args
//       CHECK:     llvm.load %{{.*}} : !llvm.ptr -> vector<32xbf16>
//       CHECK:     llvm.load %{{.*}} : !llvm.ptr -> i32
//       CHECK:     llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"({{.*}}) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
//       CHECK:     scf.yield
//       CHECK:   llvm.load %{{.*}} : !llvm.ptr -> i16
//       CHECK:   llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
func.func @odd(%a: memref<64x65xbf16>, %b: memref<65x32xbf16>, %c: memref<64x32xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x65xbf16>, memref<65x32xbf16>) outs(%c : memref<64x32xf32>) {
  ^bb0(%x: bf16, %y: bf16, %o: f32):
    %wide = arith.extf %x : bf16 to f32
    %other = arith.extf %y : bf16 to f32
    %p = arith.mulf %wide, %other : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// A transposed operand has the two side by side.
#transposed = affine_map<(m, n, k) -> (n, k)>
// CHECK-LABEL: func.func @side_by_side(
//   CHECK-NOT:   vector.shuffle
//       CHECK:   llvm.load %{{.*}} : !llvm.ptr -> i32
//       CHECK:   llvm.store %{{.*}} : i32, !llvm.ptr
//       CHECK:   dpbf16ps
func.func @side_by_side(%a: memref<64x64xbf16>, %b: memref<32x64xbf16>, %c: memref<64x32xf32>) {
  linalg.generic {indexing_maps = [#lhs, #transposed, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x64xbf16>, memref<32x64xbf16>) outs(%c : memref<64x32xf32>) {
  ^bb0(%x: bf16, %y: bf16, %o: f32):
    %wide = arith.extf %x : bf16 to f32
    %other = arith.extf %y : bf16 to f32
    %p = arith.mulf %wide, %other : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}
