// RUN: shard-opt %s --split-input-file --spmd-pad-in-exchanges | FileCheck %s

// The rows are cut, the columns padded: the exchange writes both.
// CHECK: dim_exchange<dim 0 along ["x"] : [0:4, 4:8] -> [-1:5, 3:9]>, #local.dim_exchange<dim 1 along [] : [0:4] -> [-1:6]>
// CHECK-LABEL: func.func @padded(
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: memref<4x4xf32>
//       CHECK:   %[[P:.*]] = memref.alloc() : memref<6x7xf32>
//  CHECK-NEXT:   kernel.run_site 0 ins(%[[X]], {{.*}}) outs(%[[P]] : memref<6x7xf32>)
//  CHECK-NEXT:   linalg.exp ins(%[[P]]
module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "halo_exchange", type = f32, location = "model.py:4", shape = [8, 4], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:4, 4:8] -> [-1:5, 3:9]>]>]>} {
  spmd.mesh @mesh = <["x"=2]>
  memref.global "private" constant @minus : memref<f32> = dense<0xFF800000>
  func.func @padded(%x: memref<4x4xf32>, %out: memref<6x7xf32>) {
    %minus = arith.constant 0xFF800000 : f32
    %element = memref.get_global @minus : memref<f32>
    %h = memref.alloc() : memref<6x4xf32>
    kernel.run_site 0 ins(%x, %element : memref<4x4xf32>, memref<f32>) outs(%h : memref<6x4xf32>)
    %p = memref.alloc() : memref<6x7xf32>
    linalg.fill ins(%minus : f32) outs(%p : memref<6x7xf32>)
    %box = memref.subview %p[0, 1] [6, 4] [1, 1] : memref<6x7xf32> to memref<6x4xf32, strided<[7, 1], offset: 1>>
    memref.copy %h, %box : memref<6x4xf32> to memref<6x4xf32, strided<[7, 1], offset: 1>>
    linalg.exp ins(%p : memref<6x7xf32>) outs(%out : memref<6x7xf32>)
    return
  }
}

// -----

// Shards whose sizes differ: what the padded buffer has of them is what comes.
// CHECK-LABEL: func.func @uneven(
//       CHECK:   %[[P:.*]] = memref.alloc(%{{.*}}) : memref<?x6xf32>
//  CHECK-NEXT:   kernel.run_site 0 {{.*}} outs(%[[P]] : memref<?x6xf32>)
//   CHECK-NOT:   memref.copy
module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "halo_exchange", type = f32, location = "model.py:4", shape = [8, 4], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:3, 3:8] -> [-1:4, 2:9]>]>]>} {
  spmd.mesh @mesh = <["x"=2]>
  func.func @uneven(%x: memref<?x4xf32>, %rows: index, %out: memref<?x6xf32>) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %h = memref.alloc(%rows) : memref<?x4xf32>
    kernel.run_site 0 ins(%x : memref<?x4xf32>) outs(%h : memref<?x4xf32>)
    %size = memref.dim %h, %c0 : memref<?x4xf32>
    %p = memref.alloc(%size) : memref<?x6xf32>
    linalg.fill ins(%zero : f32) outs(%p : memref<?x6xf32>)
    %box = memref.subview %p[0, 1] [%size, 4] [1, 1] : memref<?x6xf32> to memref<?x4xf32, strided<[6, 1], offset: 1>>
    memref.copy %h, %box : memref<?x4xf32> to memref<?x4xf32, strided<[6, 1], offset: 1>>
    linalg.exp ins(%p : memref<?x6xf32>) outs(%out : memref<?x6xf32>)
    return
  }
}

// -----

// The exchange fills with zeros, the copy stands among ones; minus zero is not
// zero either; the padded dim is the one that is cut; somebody reads what came,
// or the buffer before it is filled.
// CHECK-NOT: along []
// CHECK-LABEL: func.func @not_padded(
// CHECK-COUNT-5: memref.copy
module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [
    #kernel.site<kind = exchange, report = "halo_exchange", type = f32, location = "model.py:1", shape = [8, 4], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:4, 4:8] -> [-1:5, 3:9]>]>,
    #kernel.site<kind = exchange, report = "halo_exchange", type = f32, location = "model.py:2", shape = [8, 4], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:4, 4:8] -> [-1:5, 3:9]>]>,
    #kernel.site<kind = exchange, report = "halo_exchange", type = f32, location = "model.py:3", shape = [8, 4], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:4, 4:8] -> [-1:5, 3:9]>]>,
    #kernel.site<kind = exchange, report = "halo_exchange", type = f32, location = "model.py:4", shape = [8, 4], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:4, 4:8] -> [-1:5, 3:9]>]>,
    #kernel.site<kind = exchange, report = "halo_exchange", type = f32, location = "model.py:5", shape = [8, 4], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:4, 4:8] -> [-1:5, 3:9]>]>]>} {
  spmd.mesh @mesh = <["x"=2]>
  func.func @not_padded(%x: memref<4x4xf32>, %a: memref<6x6xf32>, %b: memref<6x6xf32>, %c: memref<8x4xf32>, %d: memref<6x6xf32>, %e: memref<6x4xf32>, %f: memref<6x6xf32>) {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %minus = arith.constant -0.0 : f32
    %h0 = memref.alloc() : memref<6x4xf32>
    kernel.run_site 0 ins(%x : memref<4x4xf32>) outs(%h0 : memref<6x4xf32>)
    %p0 = memref.alloc() : memref<6x6xf32>
    linalg.fill ins(%one : f32) outs(%p0 : memref<6x6xf32>)
    %box0 = memref.subview %p0[0, 1] [6, 4] [1, 1] : memref<6x6xf32> to memref<6x4xf32, strided<[6, 1], offset: 1>>
    memref.copy %h0, %box0 : memref<6x4xf32> to memref<6x4xf32, strided<[6, 1], offset: 1>>
    linalg.exp ins(%p0 : memref<6x6xf32>) outs(%a : memref<6x6xf32>)

    %h1 = memref.alloc() : memref<6x4xf32>
    kernel.run_site 1 ins(%x : memref<4x4xf32>) outs(%h1 : memref<6x4xf32>)
    %p1 = memref.alloc() : memref<6x6xf32>
    linalg.fill ins(%minus : f32) outs(%p1 : memref<6x6xf32>)
    %box1 = memref.subview %p1[0, 1] [6, 4] [1, 1] : memref<6x6xf32> to memref<6x4xf32, strided<[6, 1], offset: 1>>
    memref.copy %h1, %box1 : memref<6x4xf32> to memref<6x4xf32, strided<[6, 1], offset: 1>>
    linalg.exp ins(%p1 : memref<6x6xf32>) outs(%b : memref<6x6xf32>)

    %h2 = memref.alloc() : memref<6x4xf32>
    kernel.run_site 2 ins(%x : memref<4x4xf32>) outs(%h2 : memref<6x4xf32>)
    %p2 = memref.alloc() : memref<8x4xf32>
    linalg.fill ins(%zero : f32) outs(%p2 : memref<8x4xf32>)
    %box2 = memref.subview %p2[1, 0] [6, 4] [1, 1] : memref<8x4xf32> to memref<6x4xf32, strided<[4, 1], offset: 4>>
    memref.copy %h2, %box2 : memref<6x4xf32> to memref<6x4xf32, strided<[4, 1], offset: 4>>
    linalg.exp ins(%p2 : memref<8x4xf32>) outs(%c : memref<8x4xf32>)

    %h3 = memref.alloc() : memref<6x4xf32>
    kernel.run_site 3 ins(%x : memref<4x4xf32>) outs(%h3 : memref<6x4xf32>)
    %p3 = memref.alloc() : memref<6x6xf32>
    linalg.fill ins(%zero : f32) outs(%p3 : memref<6x6xf32>)
    %box3 = memref.subview %p3[0, 1] [6, 4] [1, 1] : memref<6x6xf32> to memref<6x4xf32, strided<[6, 1], offset: 1>>
    memref.copy %h3, %box3 : memref<6x4xf32> to memref<6x4xf32, strided<[6, 1], offset: 1>>
    linalg.exp ins(%p3 : memref<6x6xf32>) outs(%d : memref<6x6xf32>)
    linalg.exp ins(%h3 : memref<6x4xf32>) outs(%e : memref<6x4xf32>)

    %h4 = memref.alloc() : memref<6x4xf32>
    kernel.run_site 4 ins(%x : memref<4x4xf32>) outs(%h4 : memref<6x4xf32>)
    %p4 = memref.alloc() : memref<6x6xf32>
    linalg.fill ins(%zero : f32) outs(%p4 : memref<6x6xf32>)
    linalg.exp ins(%p4 : memref<6x6xf32>) outs(%f : memref<6x6xf32>)
    %box4 = memref.subview %p4[0, 1] [6, 4] [1, 1] : memref<6x6xf32> to memref<6x4xf32, strided<[6, 1], offset: 1>>
    memref.copy %h4, %box4 : memref<6x4xf32> to memref<6x4xf32, strided<[6, 1], offset: 1>>
    return
  }
}
