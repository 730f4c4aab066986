// RUN: shard-opt %s --spmd-pad-blocks --split-input-file | FileCheck %s
// RUN: shard-opt %s --spmd-pad-blocks=threads=2 --split-input-file | FileCheck %s --check-prefix=PARTS

#all = affine_map<(d0, d1) -> (d0, d1)>
#window = affine_map<(d0, d1, d2) -> (d0 + d2, d1)>
#tap = affine_map<(d0, d1, d2) -> (d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

// 128 rows with one more on each side; two of these the block before has. Its
// zeros are beside what there is of the operand.
// CHECK-LABEL: func @rows(
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: memref<4096x1024xf32>, %{{.*}}: memref<3xf32>, %[[Y:[a-z0-9]+]]: memref<4096x1024xf32>
//   CHECK-NOT:   memref<4098x
//       CHECK:   %[[SLAB:.*]] = memref.alloc() {alignment = 64 : i64} : memref<130x1024xf32>
//       CHECK:   scf.for %[[BLOCK:.*]] = %{{.*}} to %[[COUNT:.*]] step
//       CHECK:     scf.if
//   CHECK-DAG:       %[[FRONT:.*]] = memref.subview %[[SLAB]][0, 0] [2, 1024]
//   CHECK-DAG:       %[[BACK:.*]] = memref.subview %[[SLAB]][128, 0] [2, 1024]
//       CHECK:       linalg.generic {{.*}} ins(%[[BACK]] {{.*}} outs(%[[FRONT]] 
//       CHECK:     %[[FROM:.*]] = memref.subview %[[X]][%{{.*}}, 0] [%{{.*}}, 1024]
//       CHECK:     linalg.generic {{.*}} ins(%[[FROM]] 
//       CHECK:     %[[ROWS:.*]] = memref.subview %[[Y]][%{{.*}}, 0] [128, 1024]
//       CHECK:     linalg.generic {{.*}} ins(%[[SLAB]], %{{.*}} outs(%[[ROWS]] 
//       CHECK:   return
//
// Parts have a block each, wherever another one is.
// PARTS-LABEL: func @rows(
//       PARTS:   memref.alloc() {alignment = 64 : i64} : memref<2x130x1024xf32>
//       PARTS:   scf.for
//       PARTS:     scf.for
//       PARTS:   } {kernel.parts = 2 : i64}
func.func @rows(%x: memref<4096x1024xf32>, %w: memref<3xf32>, %y: memref<4096x1024xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<4098x1024xf32>
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%p : memref<4098x1024xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  %box = memref.subview %p[1, 0] [4096, 1024] [1, 1] : memref<4098x1024xf32> to memref<4096x1024xf32, strided<[1024, 1], offset: 1024>>
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4096x1024xf32>) outs(%box : memref<4096x1024xf32, strided<[1024, 1], offset: 1024>>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#window, #tap, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %w : memref<4098x1024xf32>, memref<3xf32>) outs(%y : memref<4096x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#window = affine_map<(d0, d1, d2) -> (d0 + d2, d1)>
#tap = affine_map<(d0, d1, d2) -> (d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

// The operand is what the result is written over: a later block would read it.
// CHECK-LABEL: func @in_place(
//       CHECK:   memref.alloc() : memref<4098x1024xf32>
//   CHECK-NOT:   scf.for
//       CHECK:   return
func.func @in_place(%x: memref<4096x1024xf32>, %w: memref<3xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<4098x1024xf32>
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%p : memref<4098x1024xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  %box = memref.subview %p[1, 0] [4096, 1024] [1, 1] : memref<4098x1024xf32> to memref<4096x1024xf32, strided<[1024, 1], offset: 1024>>
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4096x1024xf32>) outs(%box : memref<4096x1024xf32, strided<[1024, 1], offset: 1024>>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#window, #tap, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %w : memref<4098x1024xf32>, memref<3xf32>) outs(%x : memref<4096x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#window = affine_map<(d0, d1, d2) -> (d0 + d2, d1)>
#tap = affine_map<(d0, d1, d2) -> (d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

// Half a megabyte is in the cache as it is.
// CHECK-LABEL: func @small(
//   CHECK-NOT:   scf.for
//       CHECK:   return
func.func @small(%x: memref<126x1024xf32>, %w: memref<3xf32>, %y: memref<126x1024xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<128x1024xf32>
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%p : memref<128x1024xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  %box = memref.subview %p[1, 0] [126, 1024] [1, 1] : memref<128x1024xf32> to memref<126x1024xf32, strided<[1024, 1], offset: 1024>>
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : memref<126x1024xf32>) outs(%box : memref<126x1024xf32, strided<[1024, 1], offset: 1024>>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#window, #tap, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %w : memref<128x1024xf32>, memref<3xf32>) outs(%y : memref<126x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#window = affine_map<(d0, d1, d2) -> (d0 + d2, d1)>
#tap = affine_map<(d0, d1, d2) -> (d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

// Each rank has another number of rows, of which no block is a part: all blocks have as many, and the last one begins where it ends
// with the rows. What it has of the block before is not moved, as it is elsewhere.
// CHECK-LABEL: func @rows_of_ranks(
//   CHECK-DAG:   %[[ROWS:.*]] = local.lookup [4099, 2048]
//       CHECK:   %[[SLAB:.*]] = memref.alloc() {alignment = 64 : i64} : memref<[[WHOLE:[0-9]+]]x1024xf32>
//       CHECK:   scf.for
//       CHECK:     %[[LAST:.*]] = arith.subi %[[ROWS]], %{{.*}} : index
//       CHECK:     %[[APART:.*]] = arith.cmpi sle, %{{.*}}, %[[LAST]] : index
//       CHECK:     %[[FROM:.*]] = arith.minsi %{{.*}}, %[[LAST]] : index
//       CHECK:     %[[MOVES:.*]] = arith.andi %{{.*}}, %[[APART]] : i1
//       CHECK:     scf.if %[[MOVES]]
//       CHECK:     memref.subview %{{.*}}[%[[FROM]], 0] [{{[0-9]+}}, 1024]
module {
  spmd.mesh @mesh = <["x"=2]>
  func.func @rows_of_ranks(%x: memref<?x1024xf32>, %w: memref<3xf32>, %y: memref<?x1024xf32>) {
    %zero = arith.constant 0.0 : f32
    %rows = local.lookup [4099, 2048] along ["x"] on @mesh
    %more = local.lookup [4101, 2050] along ["x"] on @mesh
    %p = memref.alloc(%more) : memref<?x1024xf32>
    linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%p : memref<?x1024xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    }
    %box = memref.subview %p[1, 0] [%rows, 1024] [1, 1] : memref<?x1024xf32> to memref<?x1024xf32, strided<[1024, 1], offset: 1024>>
    linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x1024xf32>) outs(%box : memref<?x1024xf32, strided<[1024, 1], offset: 1024>>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }
    %sum = memref.alloc(%rows) : memref<?x1024xf32>
    linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%sum : memref<?x1024xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    }
    linalg.generic {indexing_maps = [#window, #tap, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %w : memref<?x1024xf32>, memref<3xf32>) outs(%sum : memref<?x1024xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    }
    linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%sum : memref<?x1024xf32>) outs(%y : memref<?x1024xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.negf %a : f32
      linalg.yield %0 : f32
    }
    return
  }
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#window = affine_map<(d0, d1, d2) -> (d0 + d2, d1)>
#tap = affine_map<(d0, d1, d2) -> (d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
#owned = #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 4096]>)>
#needed = #spmd.formula<positions [-1, 1, 1] (#spmd.formula<shards [0] (#spmd.formula<given [0, 0, 4096]>)>, #spmd.formula<same [0, 3]>)>

// How many rows there are is said when the program is bound, and may be less than a block has: the last one has what is left, and
// so has what finishes it.
// CHECK-LABEL: func @rows_bound_later(
//   CHECK-DAG:   %[[ROWS:.*]] = local.lookup [2048, 2048]
//   CHECK-NOT:   memref.alloc(
//       CHECK:   %[[SLAB:.*]] = memref.alloc() {alignment = 64 : i64} : memref<{{[0-9]+}}x1024xf32>
//       CHECK:   %[[SUMS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<[[STEP:[0-9]+]]x1024xf32>
//       CHECK:   scf.for %[[BLOCK:.*]] = %{{.*}} to
//       CHECK:     %[[SIZE:.*]] = arith.constant [[STEP]] : index
//       CHECK:     %[[FROM:.*]] = arith.muli %[[BLOCK]], %[[SIZE]]
//       CHECK:     %[[LEFT:.*]] = arith.subi %[[ROWS]], %[[FROM]]
//       CHECK:     %[[HERE:.*]] = arith.minsi %{{.*}}, %[[LEFT]]
//       CHECK:     %[[READ:.*]] = memref.subview %[[SLAB]][0, 0] [%{{.*}}, 1024]
//       CHECK:     %[[SUM:.*]] = memref.subview %[[SUMS]][0, 0] [%[[HERE]], 1024]
//       CHECK:     linalg.generic {{.*}} ins(%[[READ]], %{{.*}} outs(%[[SUM]]
//       CHECK:     %[[END:.*]] = memref.subview %{{.*}}[%[[FROM]], 0] [%[[HERE]], 1024]
//       CHECK:     linalg.generic {{.*}} ins(%[[SUM]] {{.*}} outs(%[[END]]
module {
  spmd.mesh @mesh = <["x"=2]>
  func.func @rows_bound_later(%x: memref<?x1024xf32>, %w: memref<3xf32>, %y: memref<?x1024xf32>) {
    %zero = arith.constant 0.0 : f32
    %rows = local.lookup [2048, 2048] along ["x"] on @mesh by <size (#owned)>
    %more = local.lookup [2050, 2050] along ["x"] on @mesh by <size (#needed)>
    %p = memref.alloc(%more) : memref<?x1024xf32>
    linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%p : memref<?x1024xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    }
    %box = memref.subview %p[1, 0] [%rows, 1024] [1, 1] : memref<?x1024xf32> to memref<?x1024xf32, strided<[1024, 1], offset: 1024>>
    linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x1024xf32>) outs(%box : memref<?x1024xf32, strided<[1024, 1], offset: 1024>>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }
    %sum = memref.alloc(%rows) : memref<?x1024xf32>
    linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%sum : memref<?x1024xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    }
    linalg.generic {indexing_maps = [#window, #tap, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %w : memref<?x1024xf32>, memref<3xf32>) outs(%sum : memref<?x1024xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    }
    linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%sum : memref<?x1024xf32>) outs(%y : memref<?x1024xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.negf %a : f32
      linalg.yield %0 : f32
    }
    return
  }
}
