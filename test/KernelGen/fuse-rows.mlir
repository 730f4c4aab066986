// RUN: shard-opt %s --spmd-fuse-rows --split-input-file | FileCheck %s
// RUN: shard-opt %s --spmd-fuse-rows=threads=2 --split-input-file | FileCheck %s --check-prefix=PARTS
// RUN: shard-opt %s --spmd-fuse-rows=exact=true --split-input-file | FileCheck %s --check-prefix=EXACT
// RUN: shard-opt %s --spmd-set-machine=machine=generic,first_cache=64KiB --spmd-fuse-rows --split-input-file | FileCheck %s --check-prefix=LARGER

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#one = affine_map<(d0) -> (d0)>

// Rows of 4 KB in and out: 2 of them are a block. The sums need no more memory
// than a block's.
// CHECK-LABEL: func @normalise(
//  CHECK-SAME:   %[[X:.*]]: memref<4096x1024xf32>, %[[Y:.*]]: memref<4096x1024xf32>
//       CHECK:   %[[SUM:.*]] = memref.alloc() {{.*}}: memref<2xf32>
//       CHECK:   %[[END:.*]] = arith.constant 2048 : index
//       CHECK:   scf.for %[[BLOCK:.*]] = %{{.*}} to %[[END]]
//       CHECK:     %[[FIRST:.*]] = arith.muli %[[BLOCK]], %{{.*}}
//       CHECK:     linalg.generic {{.*}} outs(%[[SUM]] :
//       CHECK:     %[[ROWS:.*]] = memref.subview %[[X]][%[[FIRST]], 0] [2, 1024] [1, 1]
//       CHECK:     linalg.generic {{.*}} ins(%[[ROWS]] : {{.*}} outs(%[[SUM]] :
//       CHECK:     %[[INTO:.*]] = memref.subview %[[Y]][%[[FIRST]], 0] [2, 1024] [1, 1]
//       CHECK:     linalg.generic {{.*}} outs(%[[INTO]] :
//   CHECK-NOT:   linalg.generic
// A first cache of twice the size has room for more: a 32nd of the second one is four rows.
// LARGER-LABEL: func @normalise(
//       LARGER:   memref.alloc() {{.*}}: memref<4xf32>
//       LARGER:   arith.constant 1024 : index
// PARTS-LABEL: func @normalise(
// Each part has lines of the cache to itself.
//       PARTS:   %[[BOTH:.*]] = memref.alloc() {{.*}}: memref<2x16xf32>
//       PARTS:   scf.for %[[PART:.*]] =
//       PARTS:     memref.subview %[[BOTH]][%[[PART]], 0] [1, 2] [1, 1]
//       PARTS:     scf.for
//       PARTS:   } {kernel.parts = 2 : i64}
func.func @normalise(%x: memref<4096x1024xf32>, %y: memref<4096x1024xf32>) {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<4096xf32>
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%s : memref<4096xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4096x1024xf32>) outs(%s : memref<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %s : memref<4096x1024xf32>, memref<4096xf32>) outs(%y : memref<4096x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#one = affine_map<(d0) -> (d0)>

// The sum of columns adds to partial results, 32 of them however many threads
// there are, which are added up in f64; what reads the total waits. Where bits
// do not depend on meshes either, it is a pass of its own.
// CHECK-LABEL: func @both_sums(
//       CHECK:   %[[SLOTS:.*]] = memref.alloc() {{.*}}: memref<32x1024xf32>
//       CHECK:   arith.constant -0.000000e+00 : f32
//       CHECK:   scf.for %[[CHUNK:.*]] =
//       CHECK:     %[[SLOT:.*]] = memref.subview %[[SLOTS]][%[[CHUNK]], 0] [1, 1024]
//       CHECK:     scf.for
//       CHECK:       linalg.generic {{.*}}["reduction", "parallel"]{{.*}} outs(%[[SLOT]] :
//       CHECK:   %[[WIDE:.*]] = memref.alloc() {{.*}}: memref<1024xf64>
//       CHECK:   linalg.generic {{.*}}["reduction", "parallel"]{{.*}} ins(%[[SLOTS]] : {{.*}} outs(%[[WIDE]] :
//       CHECK:     arith.extf
//       CHECK:   linalg.generic {{.*}} ins(%[[WIDE]] : {{.*}} outs(%[[TOTAL:.*]] :
//       CHECK:     arith.truncf
//       CHECK:   linalg.generic {{.*}} ins(%[[TOTAL]]
// PARTS-LABEL: func @both_sums(
//       PARTS:   memref.alloc() {{.*}}: memref<32x1024xf32>
//       PARTS:   {kernel.parts = 2 : i64}
// EXACT-LABEL: func @both_sums(
//   EXACT-NOT:   memref<32x1024xf32>
//       EXACT:   linalg.generic {{.*}}["reduction", "parallel"]{{.*}} ins(%{{.*}} : memref<4096x1024xf32>)
func.func @both_sums(%x: memref<4096x1024xf32>, %y: memref<4096x1024xf32>, %z: memref<1024xf32>) {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<4096xf32>
  %t = memref.alloc() : memref<1024xf32>
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%s : memref<4096xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4096x1024xf32>) outs(%s : memref<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%t : memref<1024xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]} ins(%x : memref<4096x1024xf32>) outs(%t : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%t : memref<1024xf32>) outs(%z : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %s : memref<4096x1024xf32>, memref<4096xf32>) outs(%y : memref<4096x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>

// The same blocks for rows that are counted later; what is left of them goes
// row by row.
// CHECK-LABEL: func @unknown_rows(
//       CHECK:   %[[ROWS:.*]] = memref.dim
//       CHECK:   %[[BLOCKS:.*]] = arith.divui %[[ROWS]],
//       CHECK:   scf.for %{{.*}} = %{{.*}} to %[[BLOCKS]]
//       CHECK:     memref.subview %{{.*}} [2, 1024] [1, 1]
//       CHECK:   scf.for
//       CHECK:     memref.subview %{{.*}} [1, 1024] [1, 1]
func.func @unknown_rows(%x: memref<?x1024xf32>, %y: memref<?x1024xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc(%n) : memref<?xf32>
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%s : memref<?xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x1024xf32>) outs(%s : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %s : memref<?x1024xf32>, memref<?xf32>) outs(%y : memref<?x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>

// What reads columns of what the group writes row by row cannot be done with
// it, nor what writes what the group reads.
// CHECK-LABEL: func @not_its_rows(
//   CHECK-NOT:   scf.for
func.func @not_its_rows(%x: memref<1024x1024xf32>, %y: memref<1024x1024xf32>) {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<1024xf32>
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%s : memref<1024xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<1024x1024xf32>) outs(%s : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#turned, #turned, #all], iterator_types = ["parallel", "parallel"]} ins(%y, %y : memref<1024x1024xf32>, memref<1024x1024xf32>) outs(%x : memref<1024x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
spmd.mesh @mesh = <["x"=2]>

// Numbers of rows that blocks divide leave nothing.
// CHECK-LABEL: func @known_rows(
//       CHECK:   %[[ROWS:.*]] = local.lookup [5000, 3000]
//       CHECK:   arith.divui %[[ROWS]],
//       CHECK:   scf.for
//       CHECK:     memref.subview %{{.*}} [4, 1024] [1, 1]
//   CHECK-NOT:   scf.for
func.func @known_rows(%x: memref<?x1024xf32>, %out: memref<?x1024xf32>) {
  %n = local.lookup [5000, 3000] along ["x"] on @mesh
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc(%n) : memref<?x1024xf32>
  %s = memref.alloc(%n) : memref<?xf32>
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x1024xf32>) outs(%y : memref<?x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%s : memref<?xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%y : memref<?x1024xf32>) outs(%s : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%y, %s : memref<?x1024xf32>, memref<?xf32>) outs(%out : memref<?x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
#half = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// Half as many rows are as far from one another as all of them: these are not
// the same rows.
// CHECK-LABEL: func @other_rows(
//   CHECK-NOT:   scf.for
func.func @other_rows(%x: memref<?x1024xf32>, %y: memref<2x?x1024xf32>, %n: index, %m: index) {
  %zero = arith.constant 0.0 : f32
  %halves = memref.expand_shape %x [[0, 1], [2]] output_shape [2, %m, 1024] : memref<?x1024xf32> into memref<2x?x1024xf32>
  %s = memref.alloc(%n) : memref<?xf32>
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%s : memref<?xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x1024xf32>) outs(%s : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#half, #half], iterator_types = ["parallel", "parallel", "parallel"]} ins(%halves : memref<2x?x1024xf32>) outs(%y : memref<2x?x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>

// What the rows read is overwritten behind them, whoever wants it then.
// CHECK-LABEL: func @filled_later(
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: memref<4096x1024xf32>
//       CHECK:   scf.for
//       CHECK:     linalg.generic
//       CHECK:     linalg.generic
//       CHECK:   }
//       CHECK:   linalg.generic {{.*}} outs(%[[X]] :
func.func @filled_later(%x: memref<4096x1024xf32>, %y: memref<4096x1024xf32>, %z: memref<4096x1024xf32>) {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<4096xf32>
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%s : memref<4096xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4096x1024xf32>) outs(%s : memref<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4096x1024xf32>) outs(%y : memref<4096x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%x : memref<4096x1024xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%z, %s : memref<4096x1024xf32>, memref<4096xf32>) outs(%y : memref<4096x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Sums of the same elements are one loop with two accumulators, also behind a
// site that only reads what the first sum gave.
// CHECK-LABEL: func @sums_of_the_same(
//       CHECK:   scf.for
//       CHECK:     linalg.generic {{.*}}["parallel", "reduction"]{{.*}} outs(%{{[^,]*}} : memref<
//       CHECK:     linalg.generic {{.*}}["parallel", "reduction"]{{.*}} outs(%{{.*}}, %{{.*}} : memref<
//  CHECK-NEXT:     ^bb0(%[[X:.*]]: f32, %[[M:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32):
//   CHECK-NOT:     linalg.generic {{.*}}"reduction"
//       CHECK:   kernel.run_site 0
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#one = affine_map<(i) -> (i)>
module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = all_reduce, report = "all_reduce", type = f32, reduction = sum, name = "sum", location = "here", group = ["x"]>]>} {
func.func @sums_of_the_same(%x: memref<8192x1024xf32>, %s: memref<8192xf32>, %all: memref<8192xf32>, %d: memref<8192xf32>, %q: memref<8192xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 1024.0 : f32
  %c = memref.alloc() : memref<8192xf32>
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%s : memref<8192xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8192x1024xf32>) outs(%s : memref<8192xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  kernel.run_site 0 ins(%s : memref<8192xf32>) outs(%all : memref<8192xf32>)
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%s : memref<8192xf32>) outs(%c : memref<8192xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.divf %a, %n : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%d : memref<8192xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %c : memref<8192x1024xf32>, memref<8192xf32>) outs(%d : memref<8192xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %0 = arith.subf %a, %m : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%q : memref<8192xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %c : memref<8192x1024xf32>, memref<8192xf32>) outs(%q : memref<8192xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %0 = arith.subf %a, %m : f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  }
  return
}
}

// -----

// A sum that another one waits for stays before it.
// CHECK-LABEL: func @one_waits(
// CHECK-COUNT-2: linalg.generic {{.*}}["parallel", "reduction"]{{.*}} outs(%{{[^,]*}} : memref<
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @one_waits(%x: memref<4x8xf32>, %s: memref<4xf32>, %q: memref<4xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x8xf32>) outs(%s : memref<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %s : memref<4x8xf32>, memref<4xf32>) outs(%q : memref<4xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %0 = arith.subf %a, %m : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Sums of columns into parts of one bucket, which is all-reduced behind them,
// are of one group: each row is read once.
// CHECK-LABEL: func @sums_in_a_bucket(
//       CHECK:   scf.for
//       CHECK:     scf.for
//       CHECK:       linalg.generic {{.*}}"reduction"
//       CHECK:       linalg.generic {{.*}}"reduction"
//       CHECK:     } {{.*}}
//   CHECK-NOT:   linalg.generic {{.*}}memref<4096x1024xf32>
//       CHECK:   kernel.run_site 0
#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#one = affine_map<(i) -> (i)>
module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = all_reduce, report = "all_reduce", type = f32, reduction = sum, name = "sum", location = "here", group = ["x"]>]>} {
func.func @sums_in_a_bucket(%x: memref<4096x1024xf32>, %y: memref<4096x1024xf32>, %all: memref<2048xf32>) {
  %zero = arith.constant 0.0 : f32
  %bucket = memref.alloc() : memref<2048xf32>
  %first = memref.subview %bucket[0] [1024] [1] : memref<2048xf32> to memref<1024xf32, strided<[1]>>
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%first : memref<1024xf32, strided<[1]>>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]} ins(%x : memref<4096x1024xf32>) outs(%first : memref<1024xf32, strided<[1]>>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  %second = memref.subview %bucket[1024] [1024] [1] : memref<2048xf32> to memref<1024xf32, strided<[1], offset: 1024>>
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%second : memref<1024xf32, strided<[1], offset: 1024>>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#id, #id, #column], iterator_types = ["reduction", "parallel"]} ins(%x, %y : memref<4096x1024xf32>, memref<4096x1024xf32>) outs(%second : memref<1024xf32, strided<[1], offset: 1024>>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  kernel.run_site 0 ins(%bucket : memref<2048xf32>) outs(%all : memref<2048xf32>)
  return
}

// Parts that overlap are not: the second sum waits for the first.
// CHECK-LABEL: func @sums_that_overlap(
//       CHECK:       linalg.generic {{.*}}"reduction"
//   CHECK-NOT:       linalg.generic
//       CHECK:   linalg.generic {{.*}} outs(%{{.*}} : memref<1024xf64>)
//       CHECK:   linalg.generic {{.*}} outs(%{{.*}} : memref<1024xf32, strided<[1]>>)
//       CHECK:       linalg.generic {{.*}}"reduction"
//       CHECK:   linalg.generic {{.*}} outs(%{{.*}} : memref<1024xf32, strided<[1], offset: 512>>)
//       CHECK:   kernel.run_site 0
func.func @sums_that_overlap(%x: memref<4096x1024xf32>, %y: memref<4096x1024xf32>, %all: memref<2048xf32>) {
  %zero = arith.constant 0.0 : f32
  %bucket = memref.alloc() : memref<2048xf32>
  %first = memref.subview %bucket[0] [1024] [1] : memref<2048xf32> to memref<1024xf32, strided<[1]>>
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%first : memref<1024xf32, strided<[1]>>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]} ins(%x : memref<4096x1024xf32>) outs(%first : memref<1024xf32, strided<[1]>>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  %second = memref.subview %bucket[512] [1024] [1] : memref<2048xf32> to memref<1024xf32, strided<[1], offset: 512>>
  linalg.generic {indexing_maps = [#id, #id, #column], iterator_types = ["reduction", "parallel"]} ins(%x, %y : memref<4096x1024xf32>, memref<4096x1024xf32>) outs(%second : memref<1024xf32, strided<[1], offset: 512>>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  kernel.run_site 0 ins(%bucket : memref<2048xf32>) outs(%all : memref<2048xf32>)
  return
}
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#one = affine_map<(d0) -> (d0)>

// Rows of twelve bytes lie side by side: a block of 625 is in the first-level cache.
// CHECK-LABEL: func @short_rows(
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: memref<1000000x3xf32>
//       CHECK:   scf.for
//       CHECK:     memref.subview %[[X]][%{{.*}}, 0] [625, 3] [1, 1]
//       CHECK:     linalg.generic {{.*}}"reduction"
//       CHECK:     linalg.generic {{.*}}"parallel", "parallel"]
func.func @short_rows(%x: memref<1000000x3xf32>, %y: memref<1000000x3xf32>, %s: memref<1000000xf32>) {
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<1000000x3xf32>) outs(%s : memref<1000000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %s : memref<1000000x3xf32>, memref<1000000xf32>) outs(%y : memref<1000000x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// Columns do not, a block of them would read few bytes of each line: blocks are of
// whole rows.
// CHECK-LABEL: func @columns(
//       CHECK:   memref.subview {{.*}}, 0] [{{[0-9]+}}, 1024] [1, 1]
//   CHECK-NOT:   memref.subview {{.*}}[4096,
func.func @columns(%x: memref<4096x1024xf32>, %y: memref<4096x1024xf32>, %s: memref<1024xf32>) {
  linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]} ins(%x : memref<4096x1024xf32>) outs(%s : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %s : memref<4096x1024xf32>, memref<1024xf32>) outs(%y : memref<4096x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// Rows that are no whole block are added to the last partial result, not to
// the total.
// CHECK-LABEL: func @rows_left(
//  CHECK-SAME:   %[[X:.*]]: memref<8197x1024xf32>, %[[S:.*]]: memref<1024xf32>)
//       CHECK:   %[[SLOTS:.*]] = memref.alloc() {{.*}}: memref<32x1024xf32>
//       CHECK:   %[[AT:.*]] = arith.constant 31 : index
//       CHECK:   %[[LAST:.*]] = memref.subview %[[SLOTS]][%[[AT]], 0] [1, 1024]
//       CHECK:     memref.subview %[[X]]{{.*}} [1, 1024] [1, 1]
//  CHECK-NEXT:     linalg.generic {{.*}}["reduction", "parallel"]{{.*}} outs(%[[LAST]] :
//       CHECK:   linalg.generic {{.*}} ins(%[[SLOTS]] : {{.*}} outs(%[[WIDE:.*]] : memref<1024xf64>)
//       CHECK:   linalg.generic {{.*}} ins(%[[WIDE]] : {{.*}} outs(%[[S]] :
func.func @rows_left(%x: memref<8197x1024xf32>, %s: memref<1024xf32>) {
  linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]} ins(%x : memref<8197x1024xf32>) outs(%s : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#ends = affine_map<(d0, d1, d2) -> (d0, d2)>
#two = affine_map<(d0, d1) -> (d0, d1)>

// The sums of a block begin with its fill: both have one name for the block's
// share of the result, by which they become one kernel.
// CHECK-LABEL: func @begins_with_its_fill(
//  CHECK-SAME:   %{{[a-z0-9]+}}: memref<262144x3x16xf32>, %[[Y:[a-z0-9]+]]: memref<262144x16xf32>
//       CHECK:   scf.for
//       CHECK:     %[[PART:.*]] = memref.subview %[[Y]]
//       CHECK:     linalg.generic {{.*}} outs(%[[PART]] :
//   CHECK-NOT:     memref.subview %[[Y]]
//       CHECK:     linalg.generic {{.*}}"reduction"{{.*}} outs(%[[PART]] :
func.func @begins_with_its_fill(%x: memref<262144x3x16xf32>, %y: memref<262144x16xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#two], iterator_types = ["parallel", "parallel"]} outs(%y : memref<262144x16xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#all, #ends], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x : memref<262144x3x16xf32>) outs(%y : memref<262144x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}
