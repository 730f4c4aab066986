// RUN: shard-opt %s --spmd-form-gpu-kernels --canonicalize --cse --split-input-file | FileCheck %s

// What a row is compared with is known before it is used: one kernel, a block a row, which meets before the results are read.
// CHECK-LABEL: func.func @normalise(
//  CHECK-SAME:   %[[X:[^:]*]]: memref<200x300xf32>, %[[M:[^:]*]]: memref<200xf32>, %[[Y:[^:]*]]: memref<200x300xf32>
//   CHECK-DAG:   %[[ROWS:.*]] = arith.constant 200 : index
//       CHECK:   gpu.launch blocks({{.*}}) in (%{{[a-z0-9]+}} = %[[ROWS]],
//       CHECK:     memref.store %{{.*}}, %[[M]]
//       CHECK:     scf.for
//       CHECK:       memref.load %[[X]]
//       CHECK:     gpu.shuffle xor
//       CHECK:     gpu.barrier
//       CHECK:     memref.store %{{.*}}, %[[M]]
//       CHECK:     gpu.barrier
//       CHECK:     scf.for
//   CHECK-DAG:       memref.load %[[X]]
//   CHECK-DAG:       memref.load %[[M]]
//       CHECK:       memref.store %{{.*}}, %[[Y]]
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
