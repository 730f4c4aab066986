// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=512 | FileCheck %s

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>

// Rows of 4,000 bytes lie in sets of their own: tiles of 14 rows and 2 vectors.
// CHECK-LABEL: func.func @rows_in_sets_of_their_own(
//       CHECK:   %{{.*}}:28 = scf.for
func.func @rows_in_sets_of_their_own(%a: memref<1008x1000xf32>, %b: memref<1000x1024xf32>, %c: memref<1008x1024xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<1008x1000xf32>, memref<1000x1024xf32>) outs(%c : memref<1008x1024xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Rows of 4,096 bytes all lie in one set, which has room for eight lines: tiles of 6 rows and 4 vectors.
// CHECK-LABEL: func.func @rows_in_one_set(
//       CHECK:   %{{.*}}:24 = scf.for
func.func @rows_in_one_set(%a: memref<1008x1024xf32>, %b: memref<1024x1024xf32>, %c: memref<1008x1024xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<1008x1024xf32>, memref<1024x1024xf32>) outs(%c : memref<1008x1024xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// The long operand is read once whatever is done, the other one stays in the cache: sums stay in registers from the first to
// the last of the 1,024, totals beside partial sums of 512 each.
// CHECK-LABEL: func.func @skinny(
//       CHECK:   %{{.*}}:6 = scf.for %{{.*}} = %c0{{.*}} to %c1024{{.*}} step %c512{{.*}} iter_args
//       CHECK:     %{{.*}}:6 = scf.for %{{.*}} = %c0{{.*}} to %c512{{.*}} step %c1{{.*}} iter_args
//       CHECK:     scf.yield
//       CHECK:     arith.addf
func.func @skinny(%a: memref<4096x1024xf32>, %b: memref<1024x16xf32>, %c: memref<4096x16xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<4096x1024xf32>, memref<1024x16xf32>) outs(%c : memref<4096x16xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Images of 28 by 28, channels first: vectors of features, which are copied to a panel, as vectors of columns would be 12 of 16
// elements. Channels, which lie furthest apart, are summed up outermost; columns of the window, of which rows of the tile would
// share elements, not innermost.
#image = affine_map<(n, f, y, x, h, w, c) -> (n, c, y + h, x + w)>
#window = affine_map<(n, f, y, x, h, w, c) -> (f, c, h, w)>
#sums = affine_map<(n, f, y, x, h, w, c) -> (n, f, y, x)>
// CHECK-LABEL: func.func @narrow_images(
//       CHECK:   memref.alloc() {{.*}} : memref<589824xi8>
//       CHECK:   %{{.*}}:28 = scf.for %{{.*}} to %c512
//       CHECK:     arith.constant 900 : index
//       CHECK:     %{{.*}}:28 = scf.for %{{.*}} to %c3
//   CHECK-NOT:       arith.constant 30 : index
//       CHECK:       %{{.*}}:28 = scf.for %{{.*}} to %c3
//       CHECK:         arith.constant 30 : index
func.func @narrow_images(%a: memref<2x512x30x30xf32>, %b: memref<512x512x3x3xf32>, %c: memref<2x512x28x28xf32>) {
  linalg.generic {indexing_maps = [#image, #window, #sums],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%a, %b : memref<2x512x30x30xf32>, memref<512x512x3x3xf32>) outs(%c : memref<2x512x28x28xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// A product that is subtracted has the tiles of one that is added.
// CHECK-LABEL: func.func @subtracted(
//       CHECK:   %{{.*}}:28 = scf.for
func.func @subtracted(%a: memref<1008x1000xf32>, %b: memref<1000x1024xf32>, %c: memref<1008x1024xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<1008x1000xf32>, memref<1000x1024xf32>) outs(%c : memref<1008x1024xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.negf %x : f32
    %p = arith.mulf %m, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Sums of 8,192 products of columns: a panel of all of them fills the second-level cache, so sums go in blocks of 1,024 (by two
// vectors: 128 KB), and outputs are added to in memory.
#columns = affine_map<(m, n, k) -> (k, m)>
// CHECK-LABEL: func.func @long_sums(
//       CHECK:   scf.for %{{.*}} = %c0{{.*}} to %c8192{{.*}} step %c1024
//       CHECK:     memref.alloc() {{.*}} : memref<131072xi8>
//       CHECK:     %{{.*}}:28 = scf.for
func.func @long_sums(%a: memref<8192x1024xf32>, %b: memref<8192x1024xf32>, %c: memref<1024x1024xf32>) {
  linalg.generic {indexing_maps = [#columns, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8192x1024xf32>, memref<8192x1024xf32>) outs(%c : memref<1024x1024xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// An operand of 64 MB, and blocks of 512 rows of the other one that stay in the cache: the first is read once, nothing is copied.
// CHECK-LABEL: func.func @read_once(
//   CHECK-NOT:   memref.alloc
//       CHECK:   scf.for %{{.*}} = %c0{{.*}} to %c2048{{.*}} step %c512
//   CHECK-NOT:   memref.alloc
//       CHECK:   return
func.func @read_once(%a: memref<2048x8192xf32>, %b: memref<2048x256xf32>, %c: memref<8192x256xf32>) {
  linalg.generic {indexing_maps = [#columns, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<2048x8192xf32>, memref<2048x256xf32>) outs(%c : memref<8192x256xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// 512 products of 64 by 64, 8 MB each of operands and result. The first rows of each wait for lines of the second operand: with
// 4 rows and 4 vectors there are more of them on their way than with 13 rows and 2 vectors, which take as many multiply-adds.
#batch_lhs = affine_map<(b, m, n, k) -> (b, m, k)>
#batch_rhs = affine_map<(b, m, n, k) -> (b, k, n)>
#batch_out = affine_map<(b, m, n, k) -> (b, m, n)>
// CHECK-LABEL: func.func @many_from_memory(
//       CHECK:   %{{.*}}:16 = scf.for
func.func @many_from_memory(%a: memref<512x64x64xf32>, %b: memref<512x64x64xf32>, %c: memref<512x64x64xf32>) {
  linalg.generic {indexing_maps = [#batch_lhs, #batch_rhs, #batch_out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<512x64x64xf32>, memref<512x64x64xf32>) outs(%c : memref<512x64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Eight of them are in a cache.
// CHECK-LABEL: func.func @few(
//       CHECK:   %{{.*}}:26 = scf.for
func.func @few(%a: memref<8x64x64xf32>, %b: memref<8x64x64xf32>, %c: memref<8x64x64xf32>) {
  linalg.generic {indexing_maps = [#batch_lhs, #batch_rhs, #batch_out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x64x64xf32>, memref<8x64x64xf32>) outs(%c : memref<8x64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Short sums of many rows: 14 rows at a time are more than a core prefetches. A sum of 1,000 hides them.
// CHECK-LABEL: func.func @tall(
//       CHECK:   %{{.*}}:24 = scf.for
func.func @tall(%a: memref<50000x50xf32>, %b: memref<50x64xf32>, %c: memref<50000x64xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<50000x50xf32>, memref<50x64xf32>) outs(%c : memref<50000x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}
// CHECK-LABEL: func.func @tall_of_long_sums(
//       CHECK:   %{{.*}}:28 = scf.for
func.func @tall_of_long_sums(%a: memref<50000x1000xf32>, %b: memref<1000x64xf32>, %c: memref<50000x64xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<50000x1000xf32>, memref<1000x64xf32>) outs(%c : memref<50000x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// What is over in microseconds is waited for while it is compiled: tiles of 8 rows leave none of 40, and take about as long as two of
// 14 with one of 12 beside them.
// CHECK-LABEL: func.func @soon_over(
//       CHECK:   %{{.*}}:16 = scf.for
//   CHECK-NOT:   scf.for
//       CHECK:   return
func.func @soon_over(%a: memref<40x17xf32>, %b: memref<17x17xf32>, %c: memref<40x17xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<40x17xf32>, memref<17x17xf32>) outs(%c : memref<40x17xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}
