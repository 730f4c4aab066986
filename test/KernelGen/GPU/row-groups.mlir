// RUN: shard-opt %s --spmd-form-gpu-kernels --canonicalize --cse --split-input-file | FileCheck %s

// What a row is compared with is known before it is used: one kernel, a block a row, which meets before the results are read. A thread loads
// and stores 16 bytes at once. The sum starts from the number that its buffer was set to.
// CHECK-LABEL: func.func @normalise(
//  CHECK-SAME:   %[[X:[^:]*]]: memref<200x300xf32>, %[[M:[^:]*]]: memref<200xf32>, %[[Y:[^:]*]]: memref<200x300xf32>
//   CHECK-DAG:   %[[ROWS:.*]] = arith.constant 200 : index
//       CHECK:   gpu.launch blocks({{.*}}) in (%{{[a-z0-9]+}} = %[[ROWS]],
//   CHECK-NOT:     memref.store
//       CHECK:     scf.for
//       CHECK:       vector.load %[[X]]{{.*}} {alignment = 16 : i64} : memref<200x300xf32>, vector<4xf32>
//       CHECK:     gpu.shuffle xor
//       CHECK:     gpu.barrier
//   CHECK-NOT:     memref.load %[[M]][
//       CHECK:     memref.store %{{.*}}, %[[M]]
//       CHECK:     gpu.barrier
//       CHECK:     scf.for
//   CHECK-DAG:       vector.load %[[X]]
//   CHECK-DAG:       memref.load %[[M]]
//       CHECK:       vector.store %{{.*}}, %[[Y]]{{.*}} {alignment = 16 : i64}
//   CHECK-NOT:   gpu.launch
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @normalise(%x: memref<200x300xf32>, %m: memref<200xf32>, %y: memref<200x300xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%m : memref<200xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<200x300xf32>) outs(%m : memref<200xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %m : memref<200x300xf32>, memref<200xf32>) outs(%y : memref<200x300xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// The second op reads results of other rows, which other blocks may not have yet: another kernel.
// CHECK-LABEL: func.func @neighbours(
//       CHECK:   gpu.launch
//       CHECK:   gpu.launch
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @neighbours(%x: memref<200x300xf32>, %m: memref<200xf32>, %y: memref<200x200xf32>) {
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<200x300xf32>) outs(%m : memref<200xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, #all], iterator_types = ["parallel", "parallel"]} ins(%m : memref<200xf32>) outs(%y : memref<200x200xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// Nor may a row be overwritten that others still read.
// CHECK-LABEL: func.func @overwritten(
//       CHECK:   gpu.launch
//       CHECK:   gpu.launch
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @overwritten(%x: memref<200x200xf32>, %m: memref<200xf32>, %k: memref<200xf32>) {
  linalg.generic {indexing_maps = [#all, affine_map<(i, j) -> (j)>, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %k : memref<200x200xf32>, memref<200xf32>) outs(%m : memref<200xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.minimumf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%m : memref<200xf32>) outs(%k : memref<200xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// Few rows would leave most of a GPU idle: blocks share them.
// CHECK-LABEL: func.func @few_rows(
//       CHECK:   gpu.launch
//       CHECK:   gpu.launch
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @few_rows(%x: memref<4x3000xf32>, %m: memref<4xf32>, %y: memref<4x3000xf32>) {
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x3000xf32>) outs(%m : memref<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %m : memref<4x3000xf32>, memref<4xf32>) outs(%y : memref<4x3000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Rows as many as the program gets to know, of two buffers that one size was asked for: a warp each.
// CHECK-LABEL: func.func @dynamic(
//       CHECK:   %[[N:.*]] = memref.dim
//       CHECK:   %[[BLOCKS:.*]] = arith.ceildivui %[[N]], %{{.*}}
//       CHECK:   gpu.launch blocks({{.*}}) in (%{{[a-z0-9]+}} = %[[BLOCKS]],
//   CHECK-NOT:   gpu.launch
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @dynamic(%x: memref<?x100xf32>) -> memref<?x100xf32> {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x100xf32>
  %m = memref.alloc(%n) : memref<?xf32>
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x100xf32>) outs(%m : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  %y = memref.alloc(%n) : memref<?x100xf32>
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %m : memref<?x100xf32>, memref<?xf32>) outs(%y : memref<?x100xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  }
  return %y : memref<?x100xf32>
}

// -----

// Results of rows that are kept as columns, as keepdims has them: a dim of one element more or less is the same buffer.
// CHECK-LABEL: func.func @kept(
//       CHECK:   gpu.launch
//   CHECK-NOT:   gpu.launch
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#kept = affine_map<(i, j) -> (i, 0)>
func.func @kept(%x: memref<200x300xf32>, %m: memref<200x1xf32>, %y: memref<200x300xf32>) {
  %n = arith.constant 300.0 : f32
  %line = memref.collapse_shape %m [[0, 1]] : memref<200x1xf32> into memref<200xf32>
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<200x300xf32>) outs(%line : memref<200xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%m : memref<200x1xf32>) {
  ^bb0(%o: f32):
    %q = arith.divf %o, %n : f32
    linalg.yield %q : f32
  }
  linalg.generic {indexing_maps = [#all, #kept, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %m : memref<200x300xf32>, memref<200x1xf32>) outs(%y : memref<200x300xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A column of two elements a row is no such thing: the rows of one view are not those of the other.
// CHECK-LABEL: func.func @halves(
//       CHECK:   gpu.launch
//       CHECK:   gpu.launch
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @halves(%x: memref<200x300xf32>, %m: memref<100x2xf32>, %y: memref<200x300xf32>) {
  %line = memref.collapse_shape %m [[0, 1]] : memref<100x2xf32> into memref<200xf32>
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<200x300xf32>) outs(%line : memref<200xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, affine_map<(i, j) -> (i floordiv 2, 0)>, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %m : memref<200x300xf32>, memref<100x2xf32>) outs(%y : memref<200x300xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A sum of columns that stands between, and reads what is known of rows, is done behind: what comes after it on the rows does not wait.
// CHECK-LABEL: func.func @columns_between(
//  CHECK-SAME:   %[[X:[^:]*]]: memref<200x300xf32>, %[[M:[^:]*]]: memref<200xf32>, %[[C:[^:]*]]: memref<300xf32>, %[[Y:[^:]*]]: memref<200x300xf32>
//       CHECK:   gpu.launch
//       CHECK:     memref.store %{{.*}}, %[[M]]
//       CHECK:     vector.store %{{.*}}, %[[Y]]
//       CHECK:   gpu.launch
//   CHECK-NOT:     %[[Y]]
//       CHECK:   gpu.launch
//       CHECK:     memref.store %{{.*}}, %[[C]]
//   CHECK-NOT:   gpu.launch
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
func.func @columns_between(%x: memref<200x300xf32>, %m: memref<200xf32>, %c: memref<300xf32>, %y: memref<200x300xf32>) {
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<200x300xf32>) outs(%m : memref<200xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #column], iterator_types = ["reduction", "parallel"]} ins(%x, %m : memref<200x300xf32>, memref<200xf32>) outs(%c : memref<300xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %m : memref<200x300xf32>, memref<200xf32>) outs(%y : memref<200x300xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// What reads those columns has to wait: the rows are two kernels, one on each side.
// CHECK-LABEL: func.func @columns_needed(
//  CHECK-SAME:   %[[X:[^:]*]]: memref<200x300xf32>, %[[M:[^:]*]]: memref<200xf32>, %[[C:[^:]*]]: memref<300xf32>, %[[Y:[^:]*]]: memref<200x300xf32>
//       CHECK:   gpu.launch
//   CHECK-NOT:     %[[Y]]
//       CHECK:     memref.store %{{.*}}, %[[M]]
//       CHECK:   gpu.launch
//       CHECK:   gpu.launch
//       CHECK:     memref.store %{{.*}}, %[[C]]
//       CHECK:   gpu.launch
//       CHECK:     vector.store %{{.*}}, %[[Y]]
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
func.func @columns_needed(%x: memref<200x300xf32>, %m: memref<200xf32>, %c: memref<300xf32>, %y: memref<200x300xf32>) {
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<200x300xf32>) outs(%m : memref<200xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #column], iterator_types = ["reduction", "parallel"]} ins(%x, %m : memref<200x300xf32>, memref<200xf32>) outs(%c : memref<300xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #column, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %m, %c : memref<200x300xf32>, memref<200xf32>, memref<300xf32>) outs(%y : memref<200x300xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    %t = arith.addf %s, %d : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// Dims of one element are no rows: ops that have them and ops that have not are on the same rows.
// CHECK-LABEL: func.func @unit_dims(
//       CHECK:   gpu.launch
//   CHECK-NOT:   gpu.launch
#all = affine_map<(b, i, h, j) -> (b, i, h, j)>
#row = affine_map<(b, i, h, j) -> (b, i, h)>
func.func @unit_dims(%x: memref<1x200x1x300xf32>, %m: memref<1x200x1xf32>, %r: memref<200xf32>) {
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x : memref<1x200x1x300xf32>) outs(%m : memref<1x200x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  %line = memref.collapse_shape %m [[0, 1, 2]] : memref<1x200x1xf32> into memref<200xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%line : memref<200xf32>) outs(%r : memref<200xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A GPU of more multiprocessors than there are rows: with a block a row most of it would wait, so each op is a kernel.
// CHECK-LABEL: func.func @too_few_rows(
//       CHECK:   gpu.launch
//       CHECK:   gpu.launch
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
module attributes {machine.target = #machine.figures<"generic", {multiprocessors = 256.0 : f64}>} {
  func.func @too_few_rows(%x: memref<200x300xf32>, %m: memref<200xf32>, %y: memref<200x300xf32>) {
    linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<200x300xf32>) outs(%m : memref<200xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %m : memref<200x300xf32>, memref<200xf32>) outs(%y : memref<200x300xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.subf %a, %b : f32
      linalg.yield %s : f32
    }
    return
  }
}
