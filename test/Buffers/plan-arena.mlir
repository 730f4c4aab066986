// RUN: shard-opt %s --spmd-plan-arena --allow-unregistered-dialect --split-input-file | FileCheck %s

// Two buffers that do not live together share bytes.
// CHECK-LABEL: module attributes {kernel.arena_bytes = 128 : i64, kernel.arena_largest = "64 bytes of f32 [16]{{.*}}; 64 bytes of f32 [16]{{[^;]*}}"}
//       CHECK: func.func @main(%[[ARENA:.*]]: memref<?xi8> {kernel.arena})
//       CHECK:   memref.view %[[ARENA]]
//       CHECK:   memref.view %[[ARENA]]
//       CHECK:   memref.view %[[ARENA]]
//   CHECK-NOT:   memref.alloc
module {
  func.func @main() {
    %a = memref.alloc() : memref<16xf32>
    %b = memref.alloc() : memref<16xf32>
    "test.use"(%a, %b) : (memref<16xf32>, memref<16xf32>) -> ()
    %c = memref.alloc() : memref<16xf32>
    "test.use"(%b, %c) : (memref<16xf32>, memref<16xf32>) -> ()
    return
  }
}

// -----

// What a loop reads lives as long as the loop.
// CHECK-LABEL: module attributes {kernel.arena_bytes = 128 : i64,
module {
  func.func @main(%n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = memref.alloc() : memref<16xf32>
    "test.use"(%a) : (memref<16xf32>) -> ()
    scf.for %i = %c0 to %n step %c1 {
      "test.use"(%a) : (memref<16xf32>) -> ()
      %b = memref.alloc() : memref<16xf32>
      "test.use"(%b) : (memref<16xf32>) -> ()
    }
    return
  }
}

// -----

// A bound on the size is enough; without one the buffer is freed after its use.
// CHECK-LABEL: module attributes {kernel.arena_bytes = 448 : i64,
//       CHECK:   memref.view {{.*}} : memref<?xi8> to memref<?xf32>
//       CHECK:   %[[OTHER:.*]] = memref.alloc
//       CHECK:   memref.dealloc %[[OTHER]]
module {
  func.func @main(%m: index) {
    %c100 = arith.constant 100 : index
    %zero = arith.constant 0 : index
    %low = arith.maxsi %m, %zero : index
    %n = arith.minsi %low, %c100 : index
    %a = memref.alloc(%n) : memref<?xf32>
    "test.use"(%a) : (memref<?xf32>) -> ()
    %b = memref.alloc(%m) : memref<?xf32>
    "test.use"(%b) : (memref<?xf32>) -> ()
    return
  }
}

// -----

// What is left of a size that follows from what is bound follows from it too: not the whole dim, which is 1024 on any number
// of ranks.
// CHECK-LABEL: module attributes {kernel.arena_bytes = 256 : i64,
//  CHECK-SAME:   kernel.arena_plan = [#kernel.arena_buffer<bytes = 4, sizes = [#spmd.formula<greatest
//  CHECK-SAME:     (#spmd.formula<sum [-3, 1] (#spmd.formula<size (#spmd.formula<shards [0] (#spmd.formula<given [0, 0, 1024]>)>)>)>, #spmd.formula<sum [0]>)>]>]
#rows = #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 1024]>)>
module {
  spmd.mesh @mesh = <["x"=16]>
  func.func @main() {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %0 = local.lookup [64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64] along ["x"] on @mesh by <size (#rows)>
    %1 = arith.subi %0, %c3 : index
    %2 = arith.maxsi %1, %c0 : index
    %a = memref.alloc(%2) : memref<?xf32>
    "test.use"(%a) : (memref<?xf32>) -> ()
    return
  }
}

// -----

// As does what arithmetic and affine maps make of several: half the rows, rounded up, and two, or all columns where there are
// fewer rows than these. Of 64 rows that is 34, of 136 bytes.
// CHECK-LABEL: module attributes {kernel.arena_bytes = 192 : i64,
//  CHECK-SAME:   sizes = [#spmd.formula<choice (#spmd.formula<sum [0, 1, -1] ([[ROWS:#spmd.formula<size .*given \[0, 0, 1024\]>\)>\)>]], [[COLUMNS:#spmd.formula<size .*given \[0, 1, 48\]>\)>\)>]])>,
//  CHECK-SAME:     #spmd.formula<sum [2, 1] (#spmd.formula<quotient [2] (#spmd.formula<sum [1, 1] ([[ROWS]])>)>)>, [[COLUMNS]])>]>]
#rows = #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 1024]>)>
#columns = #spmd.formula<shards [0] (#spmd.formula<given [0, 1, 48]>)>
module {
  spmd.mesh @mesh = <["x"=16]>
  func.func @main() {
    %rows = local.lookup [64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64] along ["x"] on @mesh by <size (#rows)>
    %columns = local.lookup [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3] along ["x"] on @mesh by <size (#columns)>
    %half = affine.apply affine_map<()[s0] -> (s0 ceildiv 2 + 2)>()[%rows]
    %more = arith.cmpi sgt, %rows, %columns : index
    %n = arith.select %more, %half, %columns : index
    %a = memref.alloc(%n) : memref<?xf32>
    "test.use"(%a) : (memref<?xf32>) -> ()
    return
  }
}

// -----

// As does a dim of a view that is several of the buffer's: 64 rows of 16 columns take 4096 bytes.
// CHECK-LABEL: module attributes {kernel.arena_bytes = 8192 : i64,
//  CHECK-SAME:   #kernel.arena_buffer<bytes = 4, sizes = [#spmd.formula<sum [0, 16] (#spmd.formula<size {{.*}}given [0, 0, 1024]>)>)>)>]
#rows = #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 1024]>)>
module {
  spmd.mesh @mesh = <["x"=16]>
  func.func @main() {
    %c0 = arith.constant 0 : index
    %rows = local.lookup [64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64] along ["x"] on @mesh by <size (#rows)>
    %a = memref.alloc(%rows) : memref<?x16xf32>
    %flat = memref.collapse_shape %a [[0, 1]] : memref<?x16xf32> into memref<?xf32>
    %n = memref.dim %flat, %c0 : memref<?xf32>
    %b = memref.alloc(%n) : memref<?xf32>
    "test.use"(%a, %b) : (memref<?x16xf32>, memref<?xf32>) -> ()
    return
  }
}

// -----

// An address with an offset is of the buffer still: what a function is given so lives until the call, and scratch that is made in
// between lies elsewhere.
// CHECK-LABEL: module attributes {kernel.arena_bytes = 128 : i64,
module {
  func.func private @kernel(index, index)
  func.func @main() {
    %c16 = arith.constant 16 : index
    %a = memref.alloc() : memref<16xf32>
    "test.use"(%a) : (memref<16xf32>) -> ()
    %address = memref.extract_aligned_pointer_as_index %a : memref<16xf32> -> index
    %there = arith.addi %address, %c16 : index
    %scratch = memref.alloc() : memref<16xf32>
    %room = memref.extract_aligned_pointer_as_index %scratch : memref<16xf32> -> index
    call @kernel(%there, %room) : (index, index) -> ()
    return
  }
}
