// RUN: shard-opt %s --spmd-name-locations --spmd-mark-kernels --split-input-file --mlir-print-debuginfo=false | FileCheck %s

// What comes of one op is one kernel, and has its name and line.
// CHECK: module attributes {kernel.kernels = [
// CHECK-SAME: ["scf.for", "model.py:3"], ["linalg.fill", "model.py:4"]]
// CHECK-LABEL: func.func @main(
//       CHECK:   %[[FIRST:.*]] = arith.constant 0 : i64
//       CHECK:   call @shardc_mark(%[[FIRST]])
//       CHECK:   scf.for
//       CHECK:   scf.for
//   CHECK-NOT:   scf.for
//       CHECK:   call @shardc_mark_end(
//       CHECK:   %[[SECOND:.*]] = arith.constant 1 : i64
//       CHECK:   call @shardc_mark(%[[SECOND]])
//       CHECK:   linalg.fill
//       CHECK:   call @shardc_mark_end(
//   CHECK-NOT:   call @shardc_mark
func.func @main(%a: memref<32xf32>, %b: memref<16xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c30 = arith.constant 30 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %c30 step %c1 {
    memref.store %x, %a[%i] : memref<32xf32>
  } loc("model.py":3:1)
  %rest = memref.subview %a[30] [2] [1] : memref<32xf32> to memref<2xf32, strided<[1], offset: 30>>
  scf.for %i = %c30 to %c32 step %c1 {
    memref.store %x, %a[%i] : memref<32xf32>
  } loc("model.py":3:1)
  linalg.fill ins(%x : f32) outs(%b : memref<16xf32>) loc("model.py":4:1)
  return
}

// -----

// A loop that communicates is no kernel; what is in it is.
// CHECK: module attributes {kernel.kernels = [
// CHECK-SAME: ["linalg.fill", "model.py:9"]]
// CHECK-LABEL: func.func @main(
//       CHECK:   scf.for
//   CHECK-NOT:   call @shardc_mark
//       CHECK:     kernel.run_site
//       CHECK:     call @shardc_mark
//       CHECK:     linalg.fill
//       CHECK:     call @shardc_mark_end
//       CHECK:     kernel.release_site
//   CHECK-NOT:   call @shardc_mark
func.func @main(%a: memref<16xf32>, %b: memref<16xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    kernel.run_site 0 ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
    linalg.fill ins(%x : f32) outs(%b : memref<16xf32>) loc("model.py":9:1)
    kernel.release_site 0 of %a : memref<16xf32>
  } loc("model.py":8:1)
  return
}
