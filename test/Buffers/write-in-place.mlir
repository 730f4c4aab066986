// RUN: shard-opt %s --split-input-file --spmd-write-in-place | FileCheck %s

// A copy of the argument is none where they are one buffer.
// CHECK-LABEL: module @copy
//  CHECK-SAME:   kernel.written_in_place = array<i64: 0>
//       CHECK:   func.func @main(%[[A:.*]]: memref<4x4xf32>, %[[O:.*]]: memref<4x4xf32> {kernel.in_place = 0 : i64})
//   CHECK-DAG:     %[[FROM:.*]] = memref.extract_aligned_pointer_as_index %[[A]]
//   CHECK-DAG:     %[[TO:.*]] = memref.extract_aligned_pointer_as_index %[[O]]
//       CHECK:     %[[DIFFER:.*]] = arith.cmpi ne, %[[FROM]], %[[TO]]
//       CHECK:     scf.if %[[DIFFER]] {
//  CHECK-NEXT:       linalg.generic {{.*}} ins(%[[A]] : memref<4x4xf32>) outs(%[[O]] : memref<4x4xf32>)
#same = affine_map<(i, j) -> (i, j)>
module @copy attributes {kernel.entry_inputs = [{spmd.donated = 0 : i64}], kernel.entry_outputs = [{}]} {
  func.func @main(%a: memref<4x4xf32>, %o: memref<4x4xf32>) {
    linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x4xf32>) outs(%o : memref<4x4xf32>) {
    ^bb0(%in: f32, %old: f32):
      linalg.yield %in : f32
    }
    return
  }
}

// -----

// Other elements are read than the one that is written.
// CHECK-LABEL: module @turned
//   CHECK-NOT:   in_place
#same = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
module @turned attributes {kernel.entry_inputs = [{spmd.donated = 0 : i64}], kernel.entry_outputs = [{}]} {
  func.func @main(%a: memref<4x4xf32>, %o: memref<4x4xf32>) {
    linalg.generic {indexing_maps = [#same, #turned, #same], iterator_types = ["parallel", "parallel"]} ins(%a, %a : memref<4x4xf32>, memref<4x4xf32>) outs(%o : memref<4x4xf32>) {
    ^bb0(%x: f32, %y: f32, %old: f32):
      %0 = arith.addf %x, %y : f32
      linalg.yield %0 : f32
    }
    return
  }
}

// -----

// By index any element may be read.
// CHECK-LABEL: module @indexed
//   CHECK-NOT:   in_place
#same = affine_map<(i) -> (i)>
module @indexed attributes {kernel.entry_inputs = [{spmd.donated = 0 : i64}, {}], kernel.entry_outputs = [{}]} {
  func.func @main(%a: memref<4xf32>, %at: memref<4xindex>, %o: memref<4xf32>) {
    linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%at : memref<4xindex>) outs(%o : memref<4xf32>) {
    ^bb0(%i: index, %old: f32):
      %0 = memref.load %a[%i] : memref<4xf32>
      linalg.yield %0 : f32
    }
    return
  }
}

// -----

// The last reader of the old value goes before the writer.
// CHECK-LABEL: module @early
//  CHECK-SAME:   kernel.written_in_place = array<i64: 0, -1>
//       CHECK:   func.func @main(%[[A:.*]]: memref<4xf32>, %[[O:.*]]: memref<4xf32> {kernel.in_place = 0 : i64}, %[[NORM:.*]]: memref<f32>)
//       CHECK:     linalg.generic {{.*}} ins(%[[A]] : memref<4xf32>) outs(%[[NORM]] : memref<f32>)
//       CHECK:     linalg.generic {{.*}} ins(%[[A]] : memref<4xf32>) outs(%[[O]] : memref<4xf32>)
#same = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>
module @early attributes {kernel.entry_inputs = [{spmd.donated = -1 : i64}], kernel.entry_outputs = [{}, {}]} {
  func.func @main(%a: memref<4xf32>, %o: memref<4xf32>, %norm: memref<f32>) {
    linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {
    ^bb0(%in: f32, %old: f32):
      %0 = arith.negf %in : f32
      linalg.yield %0 : f32
    }
    linalg.generic {indexing_maps = [#same, #none], iterator_types = ["reduction"]} ins(%a : memref<4xf32>) outs(%norm : memref<f32>) {
    ^bb0(%in: f32, %old: f32):
      %0 = arith.addf %in, %old : f32
      linalg.yield %0 : f32
    }
    return
  }
}

// -----

// It stays where it reads what is made later of what the writer reads.
// CHECK-LABEL: module @changed
//   CHECK-NOT:   in_place
#same = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>
module @changed attributes {kernel.entry_inputs = [{spmd.donated = 0 : i64}, {}], kernel.entry_outputs = [{}, {}]} {
  func.func @main(%a: memref<4xf32>, %x: memref<4xf32>, %o: memref<4xf32>, %norm: memref<f32>) {
    %t = memref.alloc() : memref<4xf32>
    linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%t : memref<4xf32>) outs(%o : memref<4xf32>) {
    ^bb0(%in: f32, %old: f32):
      %0 = arith.negf %in : f32
      linalg.yield %0 : f32
    }
    linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%x : memref<4xf32>) outs(%t : memref<4xf32>) {
    ^bb0(%in: f32, %old: f32):
      linalg.yield %in : f32
    }
    linalg.generic {indexing_maps = [#same, #same, #none], iterator_types = ["reduction"]} ins(%a, %t : memref<4xf32>, memref<4xf32>) outs(%norm : memref<f32>) {
    ^bb0(%in: f32, %other: f32, %old: f32):
      %0 = arith.mulf %in, %other : f32
      %1 = arith.addf %0, %old : f32
      linalg.yield %1 : f32
    }
    return
  }
}

// -----

// Those of other ranks that read the argument are waited for.
// CHECK-LABEL: module @shown
//  CHECK-SAME:   kernel.written_in_place = array<i64: 0>
//       CHECK:     kernel.run_site
//  CHECK-NEXT:     kernel.release_site
//  CHECK-NEXT:     linalg.generic
//   CHECK-NOT:     kernel.release_site
#same = affine_map<(i) -> (i)>
module @shown attributes {kernel.entry_inputs = [{spmd.donated = 0 : i64}], kernel.entry_outputs = [{}]} {
  func.func @main(%a: memref<4xf32>, %o: memref<4xf32>) {
    %t = memref.alloc() : memref<4xf32>
    kernel.run_site 0 ins(%a : memref<4xf32>) outs(%t : memref<4xf32>)
    linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%t : memref<4xf32>) outs(%o : memref<4xf32>) {
    ^bb0(%in: f32, %old: f32):
      %0 = arith.negf %in : f32
      linalg.yield %0 : f32
    }
    kernel.release_site 0 of %a : memref<4xf32>
    return
  }
}

// -----

// Sizes that agree on no rank but the first do not fit; those that do are
// taken, though another result comes first.
// CHECK-LABEL: module @uneven
//  CHECK-SAME:   kernel.written_in_place = array<i64: -1, 0>
#same = affine_map<(i) -> (i)>
module @uneven attributes {
    kernel.entry_inputs = [{spmd.donated = 0 : i64, spmd.global_type = tensor<5xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [2, 1, 2]}]>}],
    kernel.entry_outputs = [{spmd.global_type = tensor<5xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>},
                          {spmd.global_type = tensor<5xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [2, 1, 2]}]>}]} {
  spmd.mesh @mesh = <["x"=3]>
  func.func @main(%a: memref<?xf32>, %o: memref<?xf32>, %p: memref<?xf32>) {
    linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%a : memref<?xf32>) outs(%p : memref<?xf32>) {
    ^bb0(%in: f32, %old: f32):
      %0 = arith.negf %in : f32
      linalg.yield %0 : f32
    }
    return
  }
}

// -----

// In each branch: what is read there is read before.
// CHECK-LABEL: module @branches
//  CHECK-SAME:   kernel.written_in_place = array<i64: 0>
#same = affine_map<(i) -> (i)>
module @branches attributes {kernel.entry_inputs = [{spmd.donated = 0 : i64}, {}], kernel.entry_outputs = [{}]} {
  func.func @main(%a: memref<4xf32>, %p: memref<i1>, %o: memref<4xf32>) {
    %which = memref.load %p[] : memref<i1>
    scf.if %which {
      linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {
      ^bb0(%in: f32, %old: f32):
        %0 = arith.negf %in : f32
        linalg.yield %0 : f32
      }
    } else {
      linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) {
      ^bb0(%in: f32, %old: f32):
        linalg.yield %in : f32
      }
    }
    return
  }
}

// -----

// An update is made where all that it reads is there, not at the end.
// CHECK-LABEL: module @updates
//  CHECK-SAME:   kernel.written_in_place = array<i64: 0, 1>
//       CHECK:   func.func @main(%[[A:.*]]: memref<4xf32>, %[[B:.*]]: memref<4xf32>, %[[O:[a-z0-9]+]]: {{.*}}, %[[P:[a-z0-9]+]]: {{.*}})
//       CHECK:     %[[G:.*]] = memref.alloc
//       CHECK:     linalg.generic {{.*}} outs(%[[G]] :
//       CHECK:     linalg.generic {{.*}} ins(%[[A]], %[[G]] : {{.*}} outs(%[[O]] :
//       CHECK:     %[[H:.*]] = memref.alloc
//       CHECK:     linalg.generic {{.*}} outs(%[[H]] :
//       CHECK:     linalg.generic {{.*}} ins(%[[B]], %[[H]] : {{.*}} outs(%[[P]] :
#same = affine_map<(i) -> (i)>
module @updates attributes {kernel.entry_inputs = [{spmd.donated = 0 : i64}, {spmd.donated = 1 : i64}], kernel.entry_outputs = [{}, {}]} {
  func.func @main(%a: memref<4xf32>, %b: memref<4xf32>, %o: memref<4xf32>, %p: memref<4xf32>) {
    %g = memref.alloc() : memref<4xf32>
    linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%b : memref<4xf32>) outs(%g : memref<4xf32>) {
    ^bb0(%in: f32, %old: f32):
      %0 = math.exp %in : f32
      linalg.yield %0 : f32
    }
    %h = memref.alloc() : memref<4xf32>
    linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%b : memref<4xf32>) outs(%h : memref<4xf32>) {
    ^bb0(%in: f32, %old: f32):
      %0 = math.sin %in : f32
      linalg.yield %0 : f32
    }
    linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%b, %h : memref<4xf32>, memref<4xf32>) outs(%p : memref<4xf32>) {
    ^bb0(%x: f32, %y: f32, %old: f32):
      %0 = arith.subf %x, %y : f32
      linalg.yield %0 : f32
    }
    linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%a, %g : memref<4xf32>, memref<4xf32>) outs(%o : memref<4xf32>) {
    ^bb0(%x: f32, %y: f32, %old: f32):
      %0 = arith.subf %x, %y : f32
      linalg.yield %0 : f32
    }
    return
  }
}

// -----

// With sizes that are said when the program is bound, results that are halves in
// balanced shards may be cut in other ways: the one that is cut as the argument
// arrives is taken.
// CHECK-LABEL: module @open
//  CHECK-SAME:   kernel.written_in_place = array<i64: -1, 0>
#same = affine_map<(i) -> (i)>
module @open attributes {
    kernel.entry_inputs = [{spmd.donated = 0 : i64, spmd.global_type = tensor<8xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [4, 4] by #spmd.formula<given [0, 0, 8]>}]>}],
    kernel.entry_outputs = [{spmd.global_type = tensor<8xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [4, 4] by #spmd.formula<given [1, 0, 8]>}]>},
                          {spmd.global_type = tensor<8xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [4, 4] by #spmd.formula<given [0, 0, 8]>}]>}]} {
  spmd.mesh @mesh = <["x"=2]>
  func.func @main(%a: memref<?xf32>, %o: memref<?xf32>, %p: memref<?xf32>) {
    linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%a : memref<?xf32>) outs(%p : memref<?xf32>) {
    ^bb0(%in: f32, %old: f32):
      %0 = arith.negf %in : f32
      linalg.yield %0 : f32
    }
    return
  }
}

// -----

// What each rank holds of a result whose cuts are not of its type is not known.
// CHECK-LABEL: module @other_dims
//   CHECK-NOT:   in_place
#same = affine_map<(i) -> (i)>
module @other_dims attributes {
    kernel.entry_inputs = [{spmd.donated = 0 : i64, spmd.global_type = tensor<5xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [2, 1, 2]}]>}],
    kernel.entry_outputs = [{spmd.global_type = tensor<f32>, spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}]} {
  spmd.mesh @mesh = <["x"=3]>
  func.func @main(%a: memref<?xf32>, %o: memref<?xf32>) {
    linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%a : memref<?xf32>) outs(%o : memref<?xf32>) {
    ^bb0(%in: f32, %old: f32):
      linalg.yield %in : f32
    }
    return
  }
}
