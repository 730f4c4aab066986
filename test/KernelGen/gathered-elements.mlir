// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=512 | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=256 | FileCheck %s --check-prefixes=CHECK,SHORT
#id = affine_map<(i) -> (i)>

// Elements anywhere: with AVX-512 an instruction collects them for a vector,
// of what is left over for the lanes that there are; without, one by one.
// CHECK-LABEL: func @elements(
//        WIDE:   llvm.intr.masked.gather {{.*}}vector<16xf32>
//        WIDE:   vector.create_mask
//        WIDE:   llvm.intr.masked.gather {{.*}}vector<16xf32>
//    WIDE-NOT:   memref.load
//       SHORT:   memref.load
//   SHORT-NOT:   gather
//       CHECK:   return
func.func @elements(%x: memref<300x70xf32>, %i: memref<1000xi32>, %j: memref<1000xi32>, %y: memref<1000xf32>) {
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%i, %j : memref<1000xi32>, memref<1000xi32>) outs(%y : memref<1000xf32>) {
  ^bb0(%a: i32, %b: i32, %out: f32):
    %row = arith.index_cast %a : i32 to index
    %column = arith.index_cast %b : i32 to index
    %0 = memref.load %x[%row, %column] : memref<300x70xf32>
    linalg.yield %0 : f32
  }
  return
}

// Bytes have no such instruction.
// CHECK-LABEL: func @bytes(
//   CHECK-NOT:   gather
//       CHECK:   memref.load
func.func @bytes(%x: memref<300xi8>, %i: memref<1000xi32>, %y: memref<1000xi8>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%i : memref<1000xi32>) outs(%y : memref<1000xi8>) {
  ^bb0(%a: i32, %out: i8):
    %at = arith.index_cast %a : i32 to index
    %0 = memref.load %x[%at] : memref<300xi8>
    linalg.yield %0 : i8
  }
  return
}
