// What the least code is worth follows from figures of the machine: this product takes 5 us of the generic one, less than ranks
// take to synchronise once (20 us), so one shape of tile, of 16 vectors of sums, does for all 64 rows.
// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=512 | FileCheck %s
// Where a synchronisation takes no time, or arithmetic takes longer, more sums at once are worth a second shape at the end.
// RUN: shard-opt %s --spmd-set-machine=machine=generic,link.latency=0 --spmd-generate-cpu-kernels=vector-bits=512 | FileCheck %s --check-prefix=FAST
// RUN: shard-opt %s --spmd-set-machine=machine=generic,flops=10GFLOP/s --spmd-generate-cpu-kernels=vector-bits=512 | FileCheck %s --check-prefix=FAST

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @product(
//       CHECK:   %{{.*}}:16 = scf.for
//   CHECK-NOT:   %{{.*}}:{{[0-9]+}} = scf.for
//  FAST-LABEL: func.func @product(
//        FAST:   %{{.*}}:26 = scf.for
//        FAST:   %{{.*}}:24 = scf.for
func.func @product(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}
