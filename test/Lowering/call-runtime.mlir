// RUN: shard-opt %s --spmd-call-runtime | FileCheck %s

// A buffer whose size has no bound comes from the rank's pool and goes back to it: 8 bytes an element, n rows of 3.
// CHECK-LABEL: func.func private @shardc_step(
//  CHECK-SAME:   %[[CTX:[^:]*]]: !llvm.ptr, %[[N:[^:]*]]: memref<1xindex>
//       CHECK:   %[[SIZE:.*]] = memref.load %[[N]]
//       CHECK:   %[[EACH:.*]] = arith.constant 8 : i64
//       CHECK:   %[[ROWS:.*]] = arith.index_cast %[[SIZE]] : index to i64
//       CHECK:   %[[COLUMN:.*]] = arith.muli %[[EACH]], %[[ROWS]]
//       CHECK:   %[[WIDTH:.*]] = arith.constant 3 : i64
//       CHECK:   %[[BYTES:.*]] = arith.muli %[[COLUMN]], %[[WIDTH]]
//       CHECK:   %[[DATA:.*]] = call @shardrt_alloc(%[[CTX]], %[[BYTES]])
//       CHECK:   call @shardrt_free(%[[CTX]],
//   CHECK-NOT:   memref.alloc
//       CHECK: func.func @shardc_main(
module attributes {spmd.entry_inputs = [{}], spmd.entry_outputs = [],
                   spmd.sites = #spmd.site_table<<[]>, []>} {
  func.func @main(%n: memref<1xindex>, %arena: memref<?xi8>) {
    %c0 = arith.constant 0 : index
    %size = memref.load %n[%c0] : memref<1xindex>
    %buffer = memref.alloc(%size) : memref<?x3xcomplex<f32>>
    %value = memref.load %buffer[%c0, %c0] : memref<?x3xcomplex<f32>>
    memref.store %value, %buffer[%c0, %c0] : memref<?x3xcomplex<f32>>
    memref.dealloc %buffer : memref<?x3xcomplex<f32>>
    return
  }
}
