// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=512 | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=256 | FileCheck %s --check-prefixes=CHECK,SHORT
#turned = affine_map<(i, j) -> (j, i)>
#id = affine_map<(i, j) -> (i, j)>

// Elements of 16 bits that only move are turned 32 by 32: five steps of 32
// shuffles, and stores of whole lines.
// CHECK-LABEL: func @moved(
//        WIDE:   llvm.load {{.*}} -> vector<32xbf16>
// WIDE-COUNT-160: vector.shuffle {{.*}} : vector<32xbf16>, vector<32xbf16>
//    WIDE-NOT:   vector.shuffle
//        WIDE:   llvm.store {{.*}} : vector<32xbf16>
//       SHORT:   vector.shuffle {{.*}} : vector<8xbf16>, vector<8xbf16>
func.func @moved(%x: memref<128x256xbf16>, %y: memref<256x128xbf16>) {
  linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<128x256xbf16>) outs(%y : memref<256x128xbf16>) {
  ^bb0(%a: bf16, %out: bf16):
    linalg.yield %a : bf16
  }
  return
}

// Where 48 rows are three tiles of 16, 32 would leave a half over.
// CHECK-LABEL: func @rest(
//   CHECK-NOT:   vector<32xbf16>
//        WIDE:   vector.shuffle {{.*}} : vector<16xbf16>, vector<16xbf16>
func.func @rest(%x: memref<48x512xbf16>, %y: memref<512x48xbf16>) {
  linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<48x512xbf16>) outs(%y : memref<512x48xbf16>) {
  ^bb0(%a: bf16, %out: bf16):
    linalg.yield %a : bf16
  }
  return
}

// What is computed with is f32 in its registers.
// CHECK-LABEL: func @computed(
//   CHECK-NOT:   vector<32xbf16>
//       CHECK:   return
func.func @computed(%x: memref<128x256xbf16>, %y: memref<256x128xbf16>) {
  linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<128x256xbf16>) outs(%y : memref<256x128xbf16>) {
  ^bb0(%a: bf16, %out: bf16):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.negf %0 : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  }
  return
}
