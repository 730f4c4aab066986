// RUN: shard-opt %s --spmd-leave-blocks --split-input-file | FileCheck %s

#window = affine_map<(d0, d1, d2) -> (d0 + d2, d1)>
#tap = affine_map<(d0, d1, d2) -> (d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

// A row from below and two from above arrive; the block is copied behind that.
// CHECK-LABEL: module
//  CHECK-SAME:   parts = [#local.part<[-1:0, 1023:1024]>, #local.part<[1024:1026, 2048:2050]>]
//       CHECK: func @both_sides(%[[X:[a-z0-9]+]]: memref<1024x1024xf32>
//       CHECK:   kernel.run_site 0 ins(%[[X]] : {{.*}}) outs(%[[ALL:.*]] : memref<1027x1024xf32>)
//  CHECK-NEXT:   %[[BOX:.*]] = memref.subview %[[ALL]][1, 0] [1024, 1024] [1, 1]
//  CHECK-NEXT:   memref.copy %[[X]], %[[BOX]]
module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "halo_exchange", type = f32, location = "model.py:4", shape = [2048, 1024], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:1024, 1024:2048] -> [-1:1026, 1023:2050]>]>]>} {
  spmd.mesh @mesh = <["x"=2]>
  func.func @both_sides(%x: memref<1024x1024xf32>, %w: memref<4xf32>, %out: memref<1024x1024xf32>) {
    %h = memref.alloc() : memref<1027x1024xf32>
    kernel.run_site 0 ins(%x : memref<1024x1024xf32>) outs(%h : memref<1027x1024xf32>)
    linalg.generic {indexing_maps = [#window, #tap, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%h, %w : memref<1027x1024xf32>, memref<4xf32>) outs(%out : memref<1024x1024xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    }
    return
  }
}

// -----

#window = affine_map<(d0, d1, d2) -> (d0 + d2, d1)>
#tap = affine_map<(d0, d1, d2) -> (d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

// Who reads it twice has it whole.
// CHECK-LABEL: module
//   CHECK-NOT:   parts =
//       CHECK: func @two_readers(
//   CHECK-NOT:   memref.copy
//       CHECK:   return
module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "halo_exchange", type = f32, location = "model.py:4", shape = [2048, 1024], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:1024, 1024:2048] -> [-1:1024, 1023:2048]>]>]>} {
  spmd.mesh @mesh = <["x"=2]>
  func.func @two_readers(%x: memref<1024x1024xf32>, %w: memref<2xf32>, %out: memref<1024x1024xf32>, %again: memref<1025x1024xf32>) {
    %h = memref.alloc() : memref<1025x1024xf32>
    kernel.run_site 0 ins(%x : memref<1024x1024xf32>) outs(%h : memref<1025x1024xf32>)
    linalg.generic {indexing_maps = [#window, #tap, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%h, %w : memref<1025x1024xf32>, memref<2xf32>) outs(%out : memref<1024x1024xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    }
    linalg.exp ins(%h : memref<1025x1024xf32>) outs(%again : memref<1025x1024xf32>)
    return
  }
}

// -----

#window = affine_map<(d0, d1, d2) -> (d0 + d2, d1)>
#tap = affine_map<(d0, d1, d2) -> (d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

// In the cache as it is.
// CHECK-LABEL: module
//   CHECK-NOT:   parts =
//       CHECK: func @small(
//   CHECK-NOT:   memref.copy
//       CHECK:   return
module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "halo_exchange", type = f32, location = "model.py:4", shape = [8, 4], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:4, 4:8] -> [-1:4, 3:8]>]>]>} {
  spmd.mesh @mesh = <["x"=2]>
  func.func @small(%x: memref<4x4xf32>, %w: memref<2xf32>, %out: memref<4x4xf32>) {
    %h = memref.alloc() : memref<5x4xf32>
    kernel.run_site 0 ins(%x : memref<4x4xf32>) outs(%h : memref<5x4xf32>)
    linalg.generic {indexing_maps = [#window, #tap, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%h, %w : memref<5x4xf32>, memref<2xf32>) outs(%out : memref<4x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    }
    return
  }
}

// -----

#window = affine_map<(d0, d1, d2) -> (d0 + d2, d1)>
#tap = affine_map<(d0, d1, d2) -> (d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

// Blocks of other sizes on each rank begin at one place, and how many rows there are is asked of the block. A rank that has nothing,
// and needs nothing, gets nothing.
// CHECK-LABEL: module
//       CHECK:   parts = [#local.part<{{.*}}[-1:0, 1199:1200, 2048:2048]{{.*}}>]
//       CHECK: func @other_sizes(
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: memref<?x1024xf32>
//       CHECK:   %[[ROWS:.*]] = memref.dim %[[X]], %{{.*}}
//       CHECK:   %[[BOX:.*]] = memref.subview %{{.*}}[1, 0] [%[[ROWS]], 1024] [1, 1]
//       CHECK:   memref.copy %[[X]], %[[BOX]]
module attributes {kernel.sites = #kernel.site_table<<["x"=3]>, [#kernel.site<kind = exchange, report = "halo_exchange", type = f32, location = "model.py:4", shape = [2048, 1024], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:1200, 1200:2048, 2048:2048] -> [-1:1200, 1199:2048, 2048:2048]>]>]>} {
  spmd.mesh @mesh = <["x"=3]>
  func.func @other_sizes(%x: memref<?x1024xf32>, %w: memref<2xf32>, %out: memref<?x1024xf32>) {
    %rows = local.lookup [1201, 849, 0] along ["x"] on @mesh
    %h = memref.alloc(%rows) : memref<?x1024xf32>
    kernel.run_site 0 ins(%x : memref<?x1024xf32>) outs(%h : memref<?x1024xf32>)
    linalg.generic {indexing_maps = [#window, #tap, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%h, %w : memref<?x1024xf32>, memref<2xf32>) outs(%out : memref<?x1024xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    }
    return
  }
}
