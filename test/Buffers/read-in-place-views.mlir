// RUN: shard-opt %s --spmd-read-in-place --split-input-file | FileCheck %s
// RUN: shard-opt %s --spmd-read-in-place --spmd-plan-arena --split-input-file | FileCheck %s --check-prefix=PLAN

// A region that the program cuts itself has blocks of known sizes; the argument has them where nothing moves.
// CHECK-LABEL: @main(%arg0: memref<?x4xf32>
//       CHECK: %[[BLOCK:.*]] = memref.alloc() : memref<4x4xf32>
//       CHECK: %[[READ:.*]] = kernel.received %[[BLOCK]] by 0 : memref<4x4xf32>
//       CHECK: kernel.run_site 0 ins(%arg0 : memref<?x4xf32>) outs(%[[READ]] : memref<4x4xf32>)
//       CHECK: linalg.exp ins(%[[READ]]
//  PLAN-LABEL: kernel.arena_bytes = 0 : i64
//        PLAN: kernel.received
#owned = #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 8]>)>
#needed = #spmd.formula<shards [0] (#spmd.formula<balanced [8, 2]>)>
module attributes {kernel.entry_inputs = [{}], kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "rebalance", type = f32, location = "model.py:4", shape = [8, 4], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:4, 4:8] -> [0:4, 4:8] by #owned -> #needed>]>]>} {
  spmd.mesh @mesh = <["x"=2]>
  func.func @main(%x: memref<?x4xf32>, %out: memref<4x4xf32>) {
    %a = memref.alloc() : memref<4x4xf32>
    kernel.run_site 0 ins(%x : memref<?x4xf32>) outs(%a : memref<4x4xf32>)
    linalg.exp ins(%a : memref<4x4xf32>) outs(%out : memref<4x4xf32>)
    return
  }
}

// -----

// An argument whose dims are joined is all of it: the view of it stands in front of what may be it.
// CHECK-LABEL: @main(%arg0: memref<?x2x2xf32>
//       CHECK: %[[JOINED:.*]] = memref.collapse_shape %arg0
//       CHECK: %[[BLOCK:.*]] = memref.alloc
//       CHECK: %[[READ:.*]] = kernel.received %[[BLOCK]] by 0 : memref<?x4xf32>
//       CHECK: kernel.run_site 0 ins(%[[JOINED]] : memref<?x4xf32>) outs(%[[READ]] : memref<?x4xf32>)
//  PLAN-LABEL: kernel.arena_bytes = 0 : i64
//        PLAN: kernel.received
#owned = #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 8]>)>
#needed = #spmd.formula<shards [0] (#spmd.formula<given [1, 0, 8]>)>
module attributes {kernel.entry_inputs = [{}], kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "rebalance", type = f32, location = "model.py:4", shape = [8, 4], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:4, 4:8] -> [0:4, 4:8] by #owned -> #needed>]>]>} {
  spmd.mesh @mesh = <["x"=2]>
  func.func @main(%x: memref<?x2x2xf32>, %out: memref<?x4xf32>) {
    %n = local.lookup [4, 4] along ["x"] on @mesh by <size (#needed)>
    %a = memref.alloc(%n) : memref<?x4xf32>
    %joined = memref.collapse_shape %x [[0], [1, 2]] : memref<?x2x2xf32> into memref<?x4xf32>
    kernel.run_site 0 ins(%joined : memref<?x4xf32>) outs(%a : memref<?x4xf32>)
    linalg.exp ins(%a : memref<?x4xf32>) outs(%out : memref<?x4xf32>)
    return
  }
}

// -----

// Of a part of an argument nothing is read in place, nor is what is written later.
// CHECK-LABEL: @main
//   CHECK-NOT: kernel.received
#owned = #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 8]>)>
#needed = #spmd.formula<shards [0] (#spmd.formula<given [1, 0, 8]>)>
module attributes {kernel.entry_inputs = [{}, {}], kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "rebalance", type = f32, location = "model.py:4", shape = [8, 4], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:4, 4:8] -> [0:4, 4:8] by #owned -> #needed>]>, #kernel.site<kind = exchange, report = "rebalance", type = f32, location = "model.py:5", shape = [8, 4], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:4, 4:8] -> [0:4, 4:8] by #owned -> #needed>]>]>} {
  spmd.mesh @mesh = <["x"=2]>
  func.func @main(%x: memref<?x8xf32>, %y: memref<?x4xf32>, %out: memref<?x4xf32>) {
    %n = local.lookup [4, 4] along ["x"] on @mesh by <size (#needed)>
    %a = memref.alloc(%n) : memref<?x4xf32>
    %part = memref.subview %x[0, 0] [%n, 4] [1, 1] : memref<?x8xf32> to memref<?x4xf32, strided<[8, 1]>>
    kernel.run_site 0 ins(%part : memref<?x4xf32, strided<[8, 1]>>) outs(%a : memref<?x4xf32>)
    %b = memref.alloc(%n) : memref<?x4xf32>
    kernel.run_site 1 ins(%y : memref<?x4xf32>) outs(%b : memref<?x4xf32>)
    linalg.exp ins(%a : memref<?x4xf32>) outs(%b : memref<?x4xf32>)
    linalg.exp ins(%b : memref<?x4xf32>) outs(%out : memref<?x4xf32>)
    return
  }
}
