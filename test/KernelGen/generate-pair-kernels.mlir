// RUN: shard-opt %s --spmd-generate-pair-kernels=vector-bits=512 --split-input-file | FileCheck %s

#q = affine_map<(b, q, k, d, e) -> (b, q, d)>
#k = affine_map<(b, q, k, d, e) -> (b, k, d)>
#v = affine_map<(b, q, k, d, e) -> (b, k, e)>
#row = affine_map<(b, q, k, d, e) -> (b, q)>
#out = affine_map<(b, q, k, d, e) -> (b, q, e)>

// Scratch is of one tile, however long the blocks are: 48 rows of 128 scores, 64 rows of 128 keys, a factor a row.
// Keys go into it by squares of 16 x 16 that are transposed in registers, in four steps of 16 shuffles: no element by itself.
// CHECK-LABEL: func @attention(
//  CHECK-DAG:   memref.alloc() {alignment = 64 : i64} : memref<24576xi8>
//  CHECK-DAG:   memref.alloc() {alignment = 64 : i64} : memref<32768xi8>
//  CHECK-DAG:   memref.alloc() {alignment = 64 : i64} : memref<512xi8>
//  CHECK-NOT:   memref.alloc
//      CHECK:   scf.for
//  CHECK-NOT:   llvm.load {{.*}} -> f32
//CHECK-COUNT-64:   vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
//  CHECK-NOT:   llvm.load {{.*}} -> f32
//CHECK-COUNT-16:   llvm.store {{.*}} : vector<16xf32>, !llvm.ptr
//      CHECK:   vector.fma
//  CHECK-NOT:   pairs.pair_step
func.func @attention(%q: memref<2x4096x64xf32>, %k: memref<2x8192x64xf32>, %v: memref<2x8192x64xf32>,
                     %m: memref<2x4096xf32>, %l: memref<2x4096xf32>, %acc: memref<2x4096x64xf32>) {
  %zero = arith.constant 0 : index
  pairs.pair_step softmax ins(%q, %k, %v : memref<2x4096x64xf32>, memref<2x8192x64xf32>, memref<2x8192x64xf32>)
      at (%zero, %zero, %zero) outs(%m, %l, %acc : memref<2x4096xf32>, memref<2x4096xf32>, memref<2x4096x64xf32>)
      maps [#q, #k, #v, #row, #row, #out] score {
  ^bb0(%raw: f32, %b: i32, %i: i32, %j: i32):
    pairs.yield %raw : f32
  }
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>

// What a mask says of a tile comes before its scores: where it leaves no weight, nothing is computed.
// CHECK-LABEL: func @documents(
//      CHECK:   %[[SOME:.*]] = scf.for {{.*}} -> (vector<16xi1>)
//  CHECK-NOT:   vector.fma
//      CHECK:   arith.cmpi eq
//  CHECK-NOT:   vector.fma
//      CHECK:   %[[ANY:.*]] = vector.reduction <or>, %[[SOME]]
//      CHECK:   scf.if %[[ANY]] {
//      CHECK:     vector.fma
func.func @documents(%q: memref<256x8xf32>, %k: memref<256x8xf32>, %v: memref<256x16xf32>, %a: memref<256xi32>, %c: memref<256xi32>,
                     %m: memref<256xf32>, %l: memref<256xf32>, %acc: memref<256x16xf32>) {
  %zero = arith.constant 0 : index
  pairs.pair_step softmax ins(%q, %k, %v : memref<256x8xf32>, memref<256x8xf32>, memref<256x16xf32>)
      extras(%a, %c : memref<256xi32>, memref<256xi32>) at (%zero, %zero) outs(%m, %l, %acc : memref<256xf32>, memref<256xf32>, memref<256x16xf32>)
      maps [#q, #k, affine_map<(q, k, d, e) -> (k, e)>, #row, affine_map<(q, k, d, e) -> (k)>, #row, #row, affine_map<(q, k, d, e) -> (q, e)>] score {
  ^bb0(%raw: f32, %x: i32, %y: i32, %i: i32, %j: i32):
    %low = arith.constant 0xFF800000 : f32
    %same = arith.cmpi eq, %x, %y : i32
    %s = arith.select %same, %raw, %low : f32
    pairs.yield %s : f32
  }
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>

// Steps that are alike share one function.
// CHECK-LABEL: func private @__shardc_pair_step_0(
//  CHECK-NOT:   memref.alloc
// CHECK-LABEL: func @two_steps(
//      CHECK:   call @__shardc_pair_step_0
//      CHECK:   call @__shardc_pair_step_0
func.func @two_steps(%q: memref<40x3xf32>, %k0: memref<50x3xf32>, %k1: memref<50x3xf32>, %acc: memref<40xf32>) {
  %zero = arith.constant 0 : index
  %fifty = arith.constant 50 : index
  pairs.pair_step sum ins(%q, %k0 : memref<40x3xf32>, memref<50x3xf32>) at (%zero, %zero) outs(%acc : memref<40xf32>)
      maps [#q, #k, #row] score {
  ^bb0(%raw: f32, %i: i32, %j: i32):
    pairs.yield %raw : f32
  }
  pairs.pair_step sum ins(%q, %k1 : memref<40x3xf32>, memref<50x3xf32>) at (%zero, %fifty) outs(%acc : memref<40xf32>)
      maps [#q, #k, #row] score {
  ^bb0(%raw: f32, %i: i32, %j: i32):
    pairs.yield %raw : f32
  }
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>

// So do steps on blocks of other sizes, wherever these lie; not those whose rows are longer, or lie crosswise.
// CHECK-LABEL: func private @__shardc_pair_step_0(
//  CHECK-SAME:   memref<?x3xf32, strided<[?, 1], offset: ?>>
// CHECK-LABEL: func @three_blocks(
//      CHECK:   call @__shardc_pair_step_0
//      CHECK:   call @__shardc_pair_step_0
//  CHECK-NOT:   call
func.func @three_blocks(%q: memref<40x3xf32>, %k0: memref<50x3xf32>, %k1: memref<?x3xf32, strided<[9, 1], offset: ?>>,
                        %k2: memref<50x3xf32, strided<[1, 50]>>, %acc: memref<40xf32>) {
  %zero = arith.constant 0 : index
  %fifty = arith.constant 50 : index
  pairs.pair_step sum ins(%q, %k0 : memref<40x3xf32>, memref<50x3xf32>) at (%zero, %zero) outs(%acc : memref<40xf32>)
      maps [#q, #k, #row] score {
  ^bb0(%raw: f32, %i: i32, %j: i32):
    pairs.yield %raw : f32
  }
  pairs.pair_step sum ins(%q, %k1 : memref<40x3xf32>, memref<?x3xf32, strided<[9, 1], offset: ?>>) at (%zero, %fifty) outs(%acc : memref<40xf32>)
      maps [#q, #k, #row] score {
  ^bb0(%raw: f32, %i: i32, %j: i32):
    pairs.yield %raw : f32
  }
  pairs.pair_step sum ins(%q, %k2 : memref<40x3xf32>, memref<50x3xf32, strided<[1, 50]>>) at (%zero, %fifty) outs(%acc : memref<40xf32>)
      maps [#q, #k, #row] score {
  ^bb0(%raw: f32, %i: i32, %j: i32):
    pairs.yield %raw : f32
  }
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>

// Where the number of queries is known later, scratch is for as many of a tile's 48 rows as there are: 512 bytes each.
// CHECK-LABEL: func @open_queries(
//  CHECK-SAME:   %[[Q:[^:]*]]: memref<?x3xf32>
//       CHECK:   %[[QUERIES:.*]] = memref.dim %[[Q]], %{{.*}} : memref<?x3xf32>
//       CHECK:   %[[LEAST:.*]] = arith.minsi %[[QUERIES]], %c48
//       CHECK:   %[[ROWS:.*]] = arith.maxsi %[[LEAST]], %c0
//       CHECK:   %[[SCORES:.*]] = arith.muli %[[ROWS]], %c128
//       CHECK:   %[[BYTES:.*]] = arith.muli %[[SCORES]], %c4
//       CHECK:   %[[LINES:.*]] = arith.ceildivsi %[[BYTES]], %c64
//       CHECK:   %[[ALL:.*]] = arith.muli %[[LINES]], %c64
//       CHECK:   memref.alloc(%[[ALL]]) {alignment = 64 : i64} : memref<?xi8>
func.func @open_queries(%q: memref<?x3xf32>, %k: memref<256x3xf32>, %acc: memref<?xf32>) {
  %zero = arith.constant 0 : index
  pairs.pair_step sum ins(%q, %k : memref<?x3xf32>, memref<256x3xf32>) at (%zero, %zero) outs(%acc : memref<?xf32>)
      maps [#q, #k, #row] score {
  ^bb0(%raw: f32, %i: i32, %j: i32):
    pairs.yield %raw : f32
  }
  return
}

// -----

#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#row = affine_map<(q, k, d, e) -> (q)>

// Of a function that steps share, each caller brings scratch for its own queries.
// CHECK-LABEL: func private @__shardc_pair_step_0(
//   CHECK-NOT:   memref.alloc
// CHECK-LABEL: func @two_sets(
//  CHECK-SAME:   %[[P:[^:]*]]: memref<?x3xf32>, %[[Q:[^:]*]]: memref<20x3xf32>
//       CHECK:   %[[OPEN:.*]] = memref.cast %[[P]]
//       CHECK:   %[[QUERIES:.*]] = memref.dim %[[OPEN]]
//       CHECK:   arith.minsi %[[QUERIES]], %c48
//       CHECK:   %[[MINE:.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?xi8>
//       CHECK:   call @__shardc_pair_step_0({{.*}}%[[MINE]])
//       CHECK:   %[[CAST:.*]] = memref.cast %[[Q]]
//       CHECK:   %[[TWENTY:.*]] = memref.dim %[[CAST]]
//       CHECK:   arith.minsi %[[TWENTY]], %c48
//       CHECK:   %[[OTHER:.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?xi8>
//       CHECK:   call @__shardc_pair_step_0({{.*}}%[[OTHER]])
func.func @two_sets(%p: memref<?x3xf32>, %q: memref<20x3xf32>, %k: memref<256x3xf32>, %a: memref<?xf32>, %b: memref<20xf32>) {
  %zero = arith.constant 0 : index
  pairs.pair_step sum ins(%p, %k : memref<?x3xf32>, memref<256x3xf32>) at (%zero, %zero) outs(%a : memref<?xf32>)
      maps [#q, #k, #row] score {
  ^bb0(%raw: f32, %i: i32, %j: i32):
    pairs.yield %raw : f32
  }
  pairs.pair_step sum ins(%q, %k : memref<20x3xf32>, memref<256x3xf32>) at (%zero, %zero) outs(%b : memref<20xf32>)
      maps [#q, #k, #row] score {
  ^bb0(%raw: f32, %i: i32, %j: i32):
    pairs.yield %raw : f32
  }
  return
}
