// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=256 | FileCheck %s

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// Fill, sum of products and what follows are one nest: the buffer between them
// is gone.
// CHECK-LABEL: func.func @matmul_and_relu(
//   CHECK-NOT:   memref.alloc
//       CHECK:   scf.for {{.*}} iter_args({{.*}}) -> (vector<8xf32>,
//       CHECK:     arith.mulf {{.*}} : vector<8xf32>
//       CHECK:     scf.yield
//       CHECK:   arith.maximumf
//       CHECK:   llvm.store {{.*}} : vector<8xf32>
//   CHECK-NOT:   linalg
func.func @matmul_and_relu(%a: memref<12x16xf32>, %b: memref<16x16xf32>, %out: memref<12x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<12x16xf32>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
      outs(%c : memref<12x16xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<12x16xf32>, memref<16x16xf32>) outs(%c : memref<12x16xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : memref<12x16xf32>) outs(%out : memref<12x16xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.maximumf %x, %zero : f32
    linalg.yield %m : f32
  }
  return
}

// A transposed operand is copied to a panel.
#transposed = affine_map<(m, n, k) -> (n, k)>
// CHECK-LABEL: func.func @transposed_operand(
//       CHECK:   memref.alloc() {{.*}} : memref<{{[0-9]+}}xi8>
//   CHECK-NOT:   linalg
func.func @transposed_operand(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#lhs, #transposed, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Only the edges of a padded buffer are filled.
// CHECK-LABEL: func.func @edges(
//   CHECK-NOT:   linalg
//       CHECK:   memref.subview %{{.*}}[0, 0] [1, 10] [1, 1]
//       CHECK:   memref.subview %{{.*}}[9, 0] [1, 10] [1, 1]
//       CHECK:   memref.subview %{{.*}}[1, 0] [8, 1] [1, 1]
//       CHECK:   memref.subview %{{.*}}[1, 9] [8, 1] [1, 1]
func.func @edges(%x: memref<8x8xf32>) -> memref<10x10xf32> {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<10x10xf32>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
      outs(%p : memref<10x10xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  %inside = memref.subview %p[1, 1] [8, 8] [1, 1]
      : memref<10x10xf32> to memref<8x8xf32, strided<[10, 1], offset: 11>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<8x8xf32>) outs(%inside : memref<8x8xf32, strided<[10, 1], offset: 11>>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return %p : memref<10x10xf32>
}

// A result's as well, but not what is written over what the box reads.
// CHECK-LABEL: func.func @edges_of_result(
//   CHECK-NOT:   linalg
//       CHECK:   memref.subview %{{.*}}[0, 0] [1, 10] [1, 1]
//       CHECK:   memref.subview %{{.*}}[1, 9] [8, 1] [1, 1]
func.func @edges_of_result(%x: memref<8x8xf32>, %p: memref<10x10xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
      outs(%p : memref<10x10xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  %inside = memref.subview %p[1, 1] [8, 8] [1, 1]
      : memref<10x10xf32> to memref<8x8xf32, strided<[10, 1], offset: 11>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<8x8xf32>) outs(%inside : memref<8x8xf32, strided<[10, 1], offset: 11>>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}
// CHECK-LABEL: func.func @reads_the_fill(
//   CHECK-NOT:   memref.subview %{{.*}}[0, 0] [1, 10] [1, 1]
func.func @reads_the_fill(%p: memref<10x10xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
      outs(%p : memref<10x10xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  %inside = memref.subview %p[1, 1] [8, 8] [1, 1]
      : memref<10x10xf32> to memref<8x8xf32, strided<[10, 1], offset: 11>>
  %behind = memref.subview %p[2, 2] [8, 8] [1, 1]
      : memref<10x10xf32> to memref<8x8xf32, strided<[10, 1], offset: 22>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%behind : memref<8x8xf32, strided<[10, 1], offset: 22>>) outs(%inside : memref<8x8xf32, strided<[10, 1], offset: 11>>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// A maximum of floats takes some ten cycles, and there is one accumulator: eight
// rows are compared with one another before what they leave is compared with
// it. The last three rows go in one by one.
// CHECK-LABEL: func.func @maxima_of_columns(
//       CHECK:   scf.for %{{.*}} to %c1000 step %c8 iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (vector<8xf32>)
// CHECK-COUNT-8:   llvm.load {{.*}} -> vector<8xf32>
//       CHECK:     %[[MOST:.*]] = arith.maximumf %[[SO_FAR]], %{{.*}} : vector<8xf32>
//  CHECK-NEXT:     scf.yield %[[MOST]]
//       CHECK:   scf.for %{{.*}} to %c1003 step %c1 iter_args(
//       CHECK:     arith.maximumf
//   CHECK-NOT:     arith.maximumf
//       CHECK:   return
func.func @maxima_of_columns(%in: memref<1003x8xf32>, %out: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(n, m) -> (m, n)>, affine_map<(n, m) -> (n)>], iterator_types = ["parallel", "reduction"]}
      ins(%in : memref<1003x8xf32>) outs(%out : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.maximumf %o, %x : f32
    linalg.yield %m : f32
  }
  return
}

// Rows of the input are read as whole vectors and turned in registers: three
// exchanges of eight vectors. What tiles leave over is gathered.
#across = affine_map<(m, n) -> (n, m)>
// CHECK-LABEL: func.func @transposed(
//       CHECK:   scf.for {{.*}} step %c8
//       CHECK:     scf.for {{.*}} step %c8
// CHECK-COUNT-8:     llvm.load {{.*}} -> vector<8xf32>
//   CHECK-NOT:     gather
// CHECK-COUNT-24:    vector.shuffle {{.*}} : vector<8xf32>, vector<8xf32>
// CHECK-COUNT-8:     llvm.store {{.*}} : vector<8xf32>
func.func @transposed(%in: memref<24x35xf32>, %out: memref<35x24xf32>) {
  linalg.generic {indexing_maps = [#across, #id], iterator_types = ["parallel", "parallel"]}
      ins(%in : memref<24x35xf32>) outs(%out : memref<35x24xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// Rows of the result are a power of two apart, so that lines of different ones
// push one another out of a cache: tiles go along the result, which has its
// rows of 512 elements one after the other.
// CHECK-LABEL: func.func @transposed_along_the_result(
//       CHECK:   scf.for %{{.*}} = %{{.*}} to %c1024 step
//       CHECK:     scf.for %[[ROW:.*]] = %{{.*}} to %c512{{.*}} step
//       CHECK:       %[[APART:.*]] = arith.constant 1024
//  CHECK-NEXT:       arith.muli %[[ROW]], %[[APART]]
func.func @transposed_along_the_result(%in: memref<512x1024xf32>, %out: memref<1024x512xf32>) {
  linalg.generic {indexing_maps = [#across, #id], iterator_types = ["parallel", "parallel"]}
      ins(%in : memref<512x1024xf32>) outs(%out : memref<1024x512xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// Rows of the result are so short that eight of them are in different sets of a
// cache, and those of the input are not: tiles go along the input.
// CHECK-LABEL: func.func @transposed_to_short_rows(
//       CHECK:   scf.for %{{.*}} = %{{.*}} to %c64 step
//       CHECK:     scf.for %[[COLUMN:.*]] = %{{.*}} to %c1024{{.*}} step
//       CHECK:       %[[APART:.*]] = arith.constant 64
//  CHECK-NEXT:       arith.muli %[[COLUMN]], %[[APART]]
func.func @transposed_to_short_rows(%in: memref<64x1024xf32>, %out: memref<1024x64xf32>) {
  linalg.generic {indexing_maps = [#across, #id], iterator_types = ["parallel", "parallel"]}
      ins(%in : memref<64x1024xf32>) outs(%out : memref<1024x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// Two real vectors a vector of complex elements: parts taken apart after loads,
// and stored in turns.
// CHECK-LABEL: func.func @conjugate(
//       CHECK:   scf.for
// CHECK-COUNT-2:   llvm.load {{.*}} -> vector<8xf32>
//       CHECK:     vector.shuffle {{.*}} [0, 2, 4, 6, 9, 11, 13, 15]
//       CHECK:     vector.shuffle {{.*}} [0, 8, 1, 9, 2, 10, 3, 11]
//       CHECK:     llvm.store {{.*}} : vector<8xf32>
//       CHECK:     vector.shuffle {{.*}} [4, 12, 5, 13, 6, 14, 7, 15]
//       CHECK:     llvm.store {{.*}} : vector<8xf32>
//   CHECK-NOT:   complex
//       CHECK:   return
func.func @conjugate(%in: memref<64xcomplex<f32>>, %out: memref<64xcomplex<f32>>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%in : memref<64xcomplex<f32>>) outs(%out : memref<64xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %o: complex<f32>):
    %re = complex.re %x : complex<f32>
    %im = complex.im %x : complex<f32>
    %n = arith.negf %im : f32
    %c = complex.create %re, %n : complex<f32>
    linalg.yield %c : complex<f32>
  }
  return
}

// What known rows take from others, as solvers of complex systems write it: nobody knows how many rows, and they are
// vectors of real and of imaginary parts all the same. The size is the complex buffer's.
// CHECK-LABEL: func.func @rows_known(
//  CHECK-SAME:     %[[FACTORS:[a-z0-9]*]]: memref<32x?xcomplex<f32>,
//   CHECK-NOT:   unrealized_conversion_cast
//       CHECK:   memref.dim %[[FACTORS]], %{{.*}} : memref<32x?xcomplex<f32>,
//       CHECK:   scf.for
//       CHECK:       arith.mulf {{.*}} : vector<8xf32>
//   CHECK-NOT:   complex.
//   CHECK-NOT:   linalg
//       CHECK:   return
func.func @rows_known(%factors: memref<32x?xcomplex<f32>, strided<[64, 1]>>, %rows: memref<?x16xcomplex<f32>>, %x: memref<32x16xcomplex<f32>>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%factors, %rows : memref<32x?xcomplex<f32>, strided<[64, 1]>>, memref<?x16xcomplex<f32>>) outs(%x : memref<32x16xcomplex<f32>>) {
  ^bb0(%a: complex<f32>, %b: complex<f32>, %s: complex<f32>):
    %ar = complex.re %a : complex<f32>
    %ai = complex.im %a : complex<f32>
    %br = complex.re %b : complex<f32>
    %bi = complex.im %b : complex<f32>
    %rr = arith.mulf %ar, %br : f32
    %ii = arith.mulf %ai, %bi : f32
    %ri = arith.mulf %ar, %bi : f32
    %ir = arith.mulf %ai, %br : f32
    %re = arith.subf %rr, %ii : f32
    %im = arith.addf %ri, %ir : f32
    %sr = complex.re %s : complex<f32>
    %si = complex.im %s : complex<f32>
    %r = arith.subf %sr, %re : f32
    %i = arith.subf %si, %im : f32
    %c = complex.create %r, %i : complex<f32>
    linalg.yield %c : complex<f32>
  }
  return
}

// Rows of shards that differ run in the tiles of the largest shard, were its size known: 576 and 448 rows are one dim, and
// what tiles of six leave goes in tiles of four, not row by row.
#rows = affine_map<(b, m, n, k) -> (b, m, k)>
#weights = affine_map<(b, m, n, k) -> (k, n)>
#made = affine_map<(b, m, n, k) -> (b, m, n)>
// CHECK-LABEL: func.func @rows_of_shards(
//   CHECK-DAG:   %[[ALL:.*]] = local.lookup [576, 448]
//   CHECK-DAG:   %[[SIX:.*]] = arith.constant 6 : index
//       CHECK:   %[[REST:.*]] = arith.remui %[[ALL]], %[[SIX]]
//       CHECK:   %[[FULL:.*]] = arith.subi %[[ALL]], %[[REST]]
//       CHECK:   scf.for %{{.*}} = %{{.*}} to %[[FULL]] step %
//       CHECK:     %{{.*}}:12 = scf.for
//   CHECK-NOT:     scf.for
//       CHECK:   scf.for %{{.*}} = %[[FULL]] to %[[ALL]] step %
//       CHECK:     %{{.*}}:8 = scf.for
//   CHECK-NOT:   scf.for
//       CHECK:   return
// CHECK-LABEL: func.func @rows_that_are_known(
//   CHECK-DAG:   %[[ALL:.*]] = arith.constant 576 : index
//   CHECK-DAG:   %[[SIX:.*]] = arith.constant 6 : index
//       CHECK:   scf.for %{{.*}} = %{{.*}} to %[[ALL]] step %[[SIX]]
//       CHECK:     %{{.*}}:12 = scf.for
//   CHECK-NOT:   scf.for
//       CHECK:   return
spmd.mesh @mesh = <["x"=2]>
func.func @rows_of_shards(%x: memref<16x16xf32>) {
  %images = local.lookup [9, 7] along ["x"] on @mesh
  %a = memref.alloc(%images) : memref<?x64x16xf32>
  %c = memref.alloc(%images) : memref<?x64x16xf32>
  linalg.generic {indexing_maps = [#rows, #weights, #made], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %x : memref<?x64x16xf32>, memref<16x16xf32>) outs(%c : memref<?x64x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
func.func @rows_that_are_known(%x: memref<16x16xf32>) {
  %a = memref.alloc() : memref<9x64x16xf32>
  %c = memref.alloc() : memref<9x64x16xf32>
  linalg.generic {indexing_maps = [#rows, #weights, #made], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %x : memref<9x64x16xf32>, memref<16x16xf32>) outs(%c : memref<9x64x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
