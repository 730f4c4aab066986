// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=512 | FileCheck %s
// RUN: shard-opt %s --spmd-generate-cpu-kernels="vector-bits=512 exact" | FileCheck %s
// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=256 | FileCheck %s --check-prefix=AVX2
// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=128 | FileCheck %s --check-prefix=SSE
// Two products of integers of 16 bits are added at a time; sums of i32 have one value in any order.

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>

// The factor of the rows is written once more in 16 bits; the other one is when it goes to the panel.
// CHECK-LABEL: func.func @bytes(
//       CHECK:   memref.alloc() {{.*}} : memref<64x65xi16>
//       CHECK:   memref.alloc() {{.*}} : memref<8448xi8>
//       CHECK:   arith.extsi %{{.*}} : vector<16xi8> to vector<16xi16>
//       CHECK:   arith.extsi %{{.*}} : vector<16xi8> to vector<16xi16>
//       CHECK:   vector.shuffle {{.*}} [0, 16, 1, 17, {{.*}}, 15, 31] : vector<16xi16>, vector<16xi16>
//       CHECK:     %[[PANEL:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<32xi16>
//       CHECK:     llvm.load %{{.*}} : !llvm.ptr -> i32
//       CHECK:     %[[TERMS:.*]] = llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"(%{{.*}}, %[[PANEL]]) : (vector<32xi16>, vector<32xi16>) -> vector<16xi32>
//       CHECK:     arith.addi %{{.*}}, %[[TERMS]] : vector<16xi32>
//  AVX2-LABEL: func.func @bytes(
//        AVX2:   llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"({{.*}}) : (vector<16xi16>, vector<16xi16>) -> vector<8xi32>
//   SSE-LABEL: func.func @bytes(
//         SSE:   llvm.call_intrinsic "llvm.x86.sse2.pmadd.wd"({{.*}}) : (vector<8xi16>, vector<8xi16>) -> vector<4xi32>
func.func @bytes(%a: memref<64x65xi8>, %b: memref<65x64xi8>, %c: memref<64x64xi32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x65xi8>, memref<65x64xi8>) outs(%c : memref<64x64xi32>) {
  ^bb0(%x: i8, %y: i8, %o: i32):
    %wide = arith.extsi %x : i8 to i32
    %other = arith.extsi %y : i8 to i32
    %p = arith.muli %wide, %other : i32
    %s = arith.addi %o, %p : i32
    linalg.yield %s : i32
  }
  return
}

// Bytes without a sign stay without one; rows that are not side by side along the sum become so.
#columns = affine_map<(m, n, k) -> (k, m)>
// CHECK-LABEL: func.func @unsigned(
//       CHECK:   memref.alloc() {{.*}} : memref<64x64xi16>
//       CHECK:   arith.extui %{{.*}} : vector<16xi8> to vector<16xi16>
//       CHECK:   avx512.pmaddw.d.512
//   CHECK-NOT:   extsi
func.func @unsigned(%a: memref<64x64xi8>, %b: memref<64x64xi8>, %c: memref<64x64xi32>) {
  linalg.generic {indexing_maps = [#columns, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x64xi8>, memref<64x64xi8>) outs(%c : memref<64x64xi32>) {
  ^bb0(%x: i8, %y: i8, %o: i32):
    %wide = arith.extui %x : i8 to i32
    %other = arith.extui %y : i8 to i32
    %p = arith.muli %wide, %other : i32
    %s = arith.addi %o, %p : i32
    linalg.yield %s : i32
  }
  return
}

// Numbers of 16 bits without a sign do not fit; few rows are not worth the panel; nor are vectors.
// CHECK-LABEL: func.func @not_in_pairs(
//   CHECK-NOT:   pmaddw
#vector = affine_map<(m, k) -> (k)>
#matrix = affine_map<(m, k) -> (m, k)>
#sums = affine_map<(m, k) -> (m)>
func.func @not_in_pairs(%a: memref<64x64xi16>, %b: memref<64x64xi16>, %c: memref<64x64xi32>, %d: memref<64x64xi8>, %e: memref<64xi8>, %f: memref<64xi32>, %g: memref<8x64xi8>, %h: memref<8x64xi32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x64xi16>, memref<64x64xi16>) outs(%c : memref<64x64xi32>) {
  ^bb0(%x: i16, %y: i16, %o: i32):
    %wide = arith.extui %x : i16 to i32
    %other = arith.extui %y : i16 to i32
    %p = arith.muli %wide, %other : i32
    %s = arith.addi %o, %p : i32
    linalg.yield %s : i32
  }
  linalg.generic {indexing_maps = [#matrix, #vector, #sums], iterator_types = ["parallel", "reduction"]}
      ins(%d, %e : memref<64x64xi8>, memref<64xi8>) outs(%f : memref<64xi32>) {
  ^bb0(%x: i8, %y: i8, %o: i32):
    %wide = arith.extsi %x : i8 to i32
    %other = arith.extsi %y : i8 to i32
    %p = arith.muli %wide, %other : i32
    %s = arith.addi %o, %p : i32
    linalg.yield %s : i32
  }
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%g, %d : memref<8x64xi8>, memref<64x64xi8>) outs(%h : memref<8x64xi32>) {
  ^bb0(%x: i8, %y: i8, %o: i32):
    %wide = arith.extsi %x : i8 to i32
    %other = arith.extsi %y : i8 to i32
    %p = arith.muli %wide, %other : i32
    %s = arith.addi %o, %p : i32
    linalg.yield %s : i32
  }
  return
}
