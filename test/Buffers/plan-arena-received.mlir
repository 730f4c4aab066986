// RUN: shard-opt %s --spmd-plan-arena --split-input-file | FileCheck %s

// What is brought takes room on ranks by which it moves. In balanced shards it does on none: there are 256 bytes of the other buffer.
// CHECK-LABEL: module attributes {kernel.arena_bytes = 256 : i64,
//  CHECK-SAME:   [#kernel.arena_buffer<bytes = 16, sizes = [#spmd.formula<size (#spmd.formula<shards [0] (#spmd.formula<given [1, 0, 32]>)>)>,
//  CHECK-SAME:     #spmd.formula<differs (#spmd.formula<shards [0] (#spmd.formula<given [0, 0, 32]>)>, #spmd.formula<shards [0] (#spmd.formula<given [1, 0, 32]>)>)>]>,
//       CHECK:   kernel.received %{{.*}} by 0
#owned = #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 32]>)>
#needed = #spmd.formula<shards [0] (#spmd.formula<given [1, 0, 32]>)>
module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "rebalance", type = f32, location = "model.py:4", shape = [32, 4], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:16, 16:32] -> [0:16, 16:32] by #owned -> #needed>]>]>} {
  spmd.mesh @mesh = <["x"=2]>
  func.func @main(%x: memref<?x4xf32>, %out: memref<?x4xf32>) {
    %n = local.lookup [16, 16] along ["x"] on @mesh by <size (#needed)>
    %a = memref.alloc(%n) : memref<?x4xf32>
    %brought = kernel.received %a by 0 : memref<?x4xf32>
    kernel.run_site 0 ins(%x : memref<?x4xf32>) outs(%brought : memref<?x4xf32>)
    %b = memref.alloc(%n) : memref<?x4xf32>
    linalg.exp ins(%brought : memref<?x4xf32>) outs(%b : memref<?x4xf32>)
    linalg.add ins(%brought, %b : memref<?x4xf32>, memref<?x4xf32>) outs(%out : memref<?x4xf32>)
    return
  }
}

// -----

// An argument that a result is written over does not last: what is read of it later stands in the buffer.
// CHECK-LABEL: module attributes {kernel.arena_bytes = 256 : i64,
//   CHECK-NOT:   differs
//   CHECK-NOT:   kernel.received
#owned = #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 32]>)>
#needed = #spmd.formula<shards [0] (#spmd.formula<given [1, 0, 32]>)>
module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "rebalance", type = f32, location = "model.py:4", shape = [32, 4], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:16, 16:32] -> [0:16, 16:32] by #owned -> #needed>]>]>} {
  spmd.mesh @mesh = <["x"=2]>
  func.func @main(%x: memref<?x4xf32>, %out: memref<?x4xf32> {kernel.in_place = 0 : i64}) {
    %n = local.lookup [16, 16] along ["x"] on @mesh by <size (#needed)>
    %a = memref.alloc(%n) : memref<?x4xf32>
    %brought = kernel.received %a by 0 : memref<?x4xf32>
    kernel.run_site 0 ins(%x : memref<?x4xf32>) outs(%brought : memref<?x4xf32>)
    linalg.exp ins(%brought : memref<?x4xf32>) outs(%out : memref<?x4xf32>)
    return
  }
}
