// RUN: shard-opt %s --spmd-form-gpu-kernels --canonicalize --cse --split-input-file | FileCheck %s

// Sums of columns of one cotangent, and of its products with something else: one kernel of two results, in which each element is loaded
// once, and one that adds up its blocks' parts. The first sum waits for what the second reads.
// CHECK-LABEL: func.func @gradients(
//  CHECK-SAME:   %[[G:[^:]*]]: memref<4000x64xf32>, %[[X:[^:]*]]: memref<4000x64xf32>, %[[Y:[^:]*]]: memref<4000x64xf32>, %[[B:[^:]*]]: memref<64xf32>, %[[A:[^:]*]]: memref<64xf32>
//       CHECK:   gpu.launch
//       CHECK:     vector.store %{{.*}}, %[[Y]]
//       CHECK:   gpu.launch {{.*}} workgroup(%{{.*}} : memref<256xf32, {{.*}}>, %{{.*}} : memref<256xf32, {{.*}}>)
//       CHECK:     memref.load %[[G]]
//   CHECK-NOT:     memref.load %[[G]]
//       CHECK:   gpu.launch
//   CHECK-DAG:     memref.store %{{.*}}, %[[B]]
//   CHECK-DAG:     memref.store %{{.*}}, %[[A]]
//   CHECK-NOT:   gpu.launch
#all = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
func.func @gradients(%g: memref<4000x64xf32>, %x: memref<4000x64xf32>, %y: memref<4000x64xf32>, %b: memref<64xf32>, %a: memref<64xf32>) {
  linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]} ins(%g : memref<4000x64xf32>) outs(%b : memref<64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4000x64xf32>) outs(%y : memref<4000x64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.negf %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #all, #column], iterator_types = ["reduction", "parallel"]} ins(%y, %g : memref<4000x64xf32>, memref<4000x64xf32>) outs(%a : memref<64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.mulf %p, %q : f32
    %s = arith.addf %o, %r : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// What needs the first one's result, or reads nothing that it reads, is a kernel of its own.
// CHECK-LABEL: func.func @apart(
// CHECK-COUNT-6: gpu.launch blocks
//     CHECK-NOT: gpu.launch blocks
#all = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
func.func @apart(%g: memref<4000x64xf32>, %x: memref<4000x64xf32>, %b: memref<64xf32>, %a: memref<64xf32>, %c: memref<64xf32>) {
  linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]} ins(%g : memref<4000x64xf32>) outs(%b : memref<64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]} ins(%x : memref<4000x64xf32>) outs(%c : memref<64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #column, #column], iterator_types = ["reduction", "parallel"]} ins(%g, %b : memref<4000x64xf32>, memref<64xf32>) outs(%a : memref<64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.mulf %p, %q : f32
    %s = arith.addf %o, %r : f32
    linalg.yield %s : f32
  }
  return
}
