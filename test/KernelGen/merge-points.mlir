// RUN: shard-opt %s --pass-pipeline="builtin.module(spmd-fuse-rows)" | FileCheck %s --check-prefix=APART
// RUN: shard-opt %s --pass-pipeline="builtin.module(spmd-set-machine{machine=generic,cache_line=128B},spmd-fuse-rows)" | FileCheck %s --check-prefix=ONE

// A pass over 2,000 elements that are 256 bytes apart brings 125 KiB along in
// lines of 64 bytes, and 250 KiB in lines of 128: more than an eighth of a cache
// of 1 MiB, so that two loops over them are one.
#id = affine_map<(i) -> (i)>
#apart = strided<[64]>

// APART-LABEL: func @two_points(
// APART-COUNT-2: linalg.generic
// ONE-LABEL: func @two_points(
//       ONE:   linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : memref<2000xf32>, memref<2000xf32>)
//   ONE-NOT:   linalg.generic
func.func @two_points(%x: memref<2000xf32, #apart>, %y: memref<2000xf32>, %z: memref<2000xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<2000xf32, #apart>) outs(%y : memref<2000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<2000xf32, #apart>) outs(%z : memref<2000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    linalg.yield %0 : f32
  }
  return
}
