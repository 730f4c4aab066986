// RUN: shard-opt %s --split-input-file --spmd-call-runtime=threads=3 | FileCheck %s

// A buffer whose size has no bound comes from the rank's pool and goes back to it: 8 bytes an element, n rows of 3.
// CHECK-LABEL: func.func private @shardc_step(
//  CHECK-SAME:   %[[CTX:[^:]*]]: !llvm.ptr, %[[N:[^:]*]]: memref<1xindex>
//       CHECK:   %[[SIZE:.*]] = memref.load %[[N]]
//       CHECK:   %[[EACH:.*]] = arith.constant 8 : i64
//       CHECK:   %[[ROWS:.*]] = arith.index_cast %[[SIZE]] : index to i64
//       CHECK:   %[[COLUMN:.*]] = arith.muli %[[EACH]], %[[ROWS]]
//       CHECK:   %[[WIDTH:.*]] = arith.constant 3 : i64
//       CHECK:   %[[BYTES:.*]] = arith.muli %[[COLUMN]], %[[WIDTH]]
//       CHECK:   %[[DATA:.*]] = call @shardrt_alloc(%[[CTX]], %[[BYTES]], %{{.*}})
//       CHECK:   call @shardrt_free(%[[CTX]],
//   CHECK-NOT:   memref.alloc
//       CHECK: func.func @shardc_main(
module attributes {kernel.entry_inputs = [{}], kernel.entry_outputs = [],
                   kernel.sites = #kernel.site_table<<[]>, []>} {
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

// -----

// A sort of 2 lines of 5, by a key that nobody asks for, with its positions: order "numbers" (3) descending (1), 3
// threads, 4 elements to keep, one operand, positions of 4 bytes.
// CHECK-LABEL: func.func private @shardc_step(
//  CHECK-SAME:   %[[CTX:[^:]*]]: !llvm.ptr
//       CHECK:   %[[WORDS:.*]] = llvm.alloca
//   CHECK-DAG:   %[[ORDER:.*]] = arith.constant 3 : i64
//       CHECK:   llvm.store
//       CHECK:   call @shardrt_sort_lines(%[[CTX]], %[[WORDS]])
//   CHECK-NOT:   kernel.lines
module attributes {kernel.entry_inputs = [{}], kernel.entry_outputs = [{}],
                   kernel.sites = #kernel.site_table<<[]>, []>} {
  func.func @main(%x: memref<2x5xf32>, %places: memref<2x4xi32>, %arena: memref<?xi8>) {
    %c0 = arith.constant 0 : index
    %keys = memref.view %arena[%c0][] : memref<?xi8> to memref<2x4xf32>
    kernel.lines sort dim 1 positions ins(%x : memref<2x5xf32>) outs(%keys, %places : memref<2x4xf32>, memref<2x4xi32>) {kernel.line_order = #kernel.line_order<comparison = numbers, descending = true>} body {
    ^bb0(%a: f32, %b: f32):
      %before = arith.cmpf ogt, %a, %b : f32
      kernel.yield %before : i1
    }
    return
  }
}

// -----

// Transforms of one dim after the other are one call, from the last dim to the first here: words of 13 + 3 dims of 3
// each, of which the 13th says where the next ones are. At most one goes from buffer to buffer.
// CHECK-LABEL: func.func private @shardc_step(
//       CHECK:   arith.constant 22 : i64
//       CHECK:   arith.constant 22 : i64
//       CHECK:   call @shardrt_transform_dims(
//       CHECK:   call @shardrt_transform_dims(
//       CHECK:   call @shardrt_transform_dims(
//   CHECK-NOT:   call @shardrt_transform_dims(
//       CHECK:   return %
module attributes {kernel.entry_inputs = [{}, {}, {}, {}, {}, {}, {}], kernel.entry_outputs = [{}],
                   kernel.sites = #kernel.site_table<<[]>, []>} {
  func.func @main(%x: memref<4x8x8xf32>, %a: memref<4x8x5xcomplex<f32>>, %b: memref<4x8x5xcomplex<f32>>, %c: memref<4x8x5xcomplex<f32>>,
                  %cosines: memref<8xf32>, %sines: memref<8xf32>, %few: memref<4xf32>, %out: memref<4x8x8xf32>) {
    %one = arith.constant 1.0 : f32
    kernel.lines fourier dim 2 ins(%x, %cosines, %sines : memref<4x8x8xf32>, memref<8xf32>, memref<8xf32>) starts(%one : f32) outs(%a : memref<4x8x5xcomplex<f32>>)
    kernel.lines fourier dim 1 ins(%a, %cosines, %sines : memref<4x8x5xcomplex<f32>>, memref<8xf32>, memref<8xf32>) starts(%one : f32) outs(%a : memref<4x8x5xcomplex<f32>>)
    kernel.lines fourier dim 0 ins(%a, %few, %few : memref<4x8x5xcomplex<f32>>, memref<4xf32>, memref<4xf32>) starts(%one : f32) outs(%a : memref<4x8x5xcomplex<f32>>)
    kernel.lines fourier dim 1 ins(%b, %cosines, %sines : memref<4x8x5xcomplex<f32>>, memref<8xf32>, memref<8xf32>) starts(%one : f32) outs(%c : memref<4x8x5xcomplex<f32>>)
    kernel.lines fourier dim 2 ins(%c, %cosines, %sines : memref<4x8x5xcomplex<f32>>, memref<8xf32>, memref<8xf32>) starts(%one : f32) outs(%out : memref<4x8x8xf32>)
    return
  }
}

// -----

// Eigenvalues and eigenvectors of 3 matrices of 20 rows: parts of 4 bytes, not complex, 3 threads, 3 dims, the same bits
// on all processors, the upper triangle (1), 2 results; sizes; the matrices and their strides, the same of both results.
// CHECK-LABEL: func.func private @shardc_step(
//  CHECK-SAME:   %[[CTX:[^:]*]]: !llvm.ptr
//       CHECK:   %[[WORDS:.*]] = llvm.alloca
//       CHECK:   arith.constant 4 : i64
//  CHECK-NEXT:   arith.constant 0 : i64
//  CHECK-NEXT:   arith.constant 3 : i64
//  CHECK-NEXT:   arith.constant 3 : i64
//  CHECK-NEXT:   %[[FIXED:.*]] = arith.constant 1 : i64
//  CHECK-NEXT:   arith.constant 1 : i64
//  CHECK-NEXT:   %[[RESULTS:.*]] = arith.constant 2 : i64
//       CHECK:   %[[PLACE:.*]] = llvm.getelementptr %[[WORDS]][4]
//  CHECK-NEXT:   llvm.store %[[FIXED]], %[[PLACE]]
//       CHECK:   %[[LAST:.*]] = llvm.getelementptr %[[WORDS]][6]
//  CHECK-NEXT:   llvm.store %[[RESULTS]], %[[LAST]]
//       CHECK:   call @shardrt_eigh(%[[CTX]], %[[WORDS]])
//   CHECK-NOT:   kernel.eigh
module attributes {kernel.entry_inputs = [{}], kernel.entry_outputs = [{}, {}],
                   kernel.sites = #kernel.site_table<<[]>, []>} {
  func.func @main(%a: memref<3x20x20xf32>, %values: memref<3x20xf32>, %vectors: memref<3x20x20xf32>, %arena: memref<?xi8>) {
    kernel.eigh upper fixed_level ins(%a : memref<3x20x20xf32>) outs(%values, %vectors : memref<3x20xf32>, memref<3x20x20xf32>)
    return
  }
}

// -----

// Reflectors of 3 matrices of 40 rows and 20 columns: parts of 8 bytes, complex, 3 threads, 3 dims, any bits, QR (0),
// then their product (2), of 20 reflectors each; the matrices that are read, those that are written, and the taus.
// CHECK-LABEL: func.func private @shardc_step(
//  CHECK-SAME:   %[[CTX:[^:]*]]: !llvm.ptr
//       CHECK:   %{{.*}} = arith.constant 8 : i64
//  CHECK-NEXT:   %{{.*}} = arith.constant 1 : i64
//  CHECK-NEXT:   %{{.*}} = arith.constant 3 : i64
//  CHECK-NEXT:   %{{.*}} = arith.constant 3 : i64
//  CHECK-NEXT:   %{{.*}} = arith.constant 0 : i64
//  CHECK-NEXT:   %{{.*}} = arith.constant 0 : i64
//  CHECK-NEXT:   %{{.*}} = arith.constant 20 : i64
//       CHECK:   call @shardrt_householder(%[[CTX]], %{{.*}})
//  CHECK-NEXT:   %{{.*}} = arith.constant 8 : i64
//  CHECK-NEXT:   %{{.*}} = arith.constant 1 : i64
//  CHECK-NEXT:   %{{.*}} = arith.constant 3 : i64
//  CHECK-NEXT:   %{{.*}} = arith.constant 3 : i64
//  CHECK-NEXT:   %{{.*}} = arith.constant 0 : i64
//  CHECK-NEXT:   %{{.*}} = arith.constant 2 : i64
//       CHECK:   call @shardrt_householder(%[[CTX]], %{{.*}})
//   CHECK-NOT:   kernel.qr
//   CHECK-NOT:   kernel.householder_product
module attributes {kernel.entry_inputs = [{}], kernel.entry_outputs = [{}, {}, {}],
                   kernel.sites = #kernel.site_table<<[]>, []>} {
  func.func @main(%a: memref<3x40x20xcomplex<f64>>, %p: memref<3x40x20xcomplex<f64>>, %t: memref<3x20xcomplex<f64>>,
                  %q: memref<3x40x20xcomplex<f64>>, %arena: memref<?xi8>) {
    kernel.qr ins(%a : memref<3x40x20xcomplex<f64>>) outs(%p, %t : memref<3x40x20xcomplex<f64>>, memref<3x20xcomplex<f64>>)
    kernel.householder_product ins(%p, %t : memref<3x40x20xcomplex<f64>>, memref<3x20xcomplex<f64>>) outs(%q : memref<3x40x20xcomplex<f64>>)
    return
  }
}
