// RUN: shard-opt %s --split-input-file --spmd-plan-arena | FileCheck %s

// What the rank is done with stays for its readers where other bytes are at their most elsewhere.
// CHECK-LABEL: module attributes {{.*}}kernel.arena_bytes = 12288
//       CHECK:   kernel.run_site 0
//       CHECK:   memref.copy
//       CHECK:   kernel.release_site 0
//       CHECK:   memref.copy
module {
  func.func @main(%in: memref<1024xf32>, %out: memref<1024xf32>) {
    %source = memref.alloc() : memref<1024xf32>
    memref.copy %in, %source : memref<1024xf32> to memref<1024xf32>
    %whole = memref.alloc() : memref<1024xf32>
    kernel.run_site 0 ins(%source : memref<1024xf32>) outs(%whole : memref<1024xf32>)
    %next = memref.alloc() : memref<1024xf32>
    memref.copy %whole, %next : memref<1024xf32> to memref<1024xf32>
    kernel.release_site 0 of %source : memref<1024xf32>
    %a = memref.alloc() : memref<1024xf32>
    %b = memref.alloc() : memref<1024xf32>
    memref.copy %next, %a : memref<1024xf32> to memref<1024xf32>
    memref.copy %next, %b : memref<1024xf32> to memref<1024xf32>
    memref.copy %a, %out : memref<1024xf32> to memref<1024xf32>
    memref.copy %b, %out : memref<1024xf32> to memref<1024xf32>
    return
  }
}

// -----

// Where it would cost memory it is released at once, also by a loop's body.
// CHECK-LABEL: module attributes {{.*}}kernel.arena_bytes = 8192
//       CHECK:   kernel.run_site 0
//  CHECK-NEXT:   kernel.release_site 0
//       CHECK:   memref.copy
//       CHECK:   scf.for
//       CHECK:     kernel.run_site 1
//  CHECK-NEXT:     kernel.release_site 1
//       CHECK:     memref.copy
module {
  func.func @main(%in: memref<1024xf32>, %out: memref<1024xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %source = memref.alloc() : memref<1024xf32>
    memref.copy %in, %source : memref<1024xf32> to memref<1024xf32>
    %whole = memref.alloc() : memref<1024xf32>
    kernel.run_site 0 ins(%source : memref<1024xf32>) outs(%whole : memref<1024xf32>)
    %next = memref.alloc() : memref<1024xf32>
    memref.copy %whole, %next : memref<1024xf32> to memref<1024xf32>
    kernel.release_site 0 of %source : memref<1024xf32>
    memref.copy %next, %out : memref<1024xf32> to memref<1024xf32>
    scf.for %i = %c0 to %c4 step %c1 {
      %block = memref.alloc() : memref<1024xf32>
      memref.copy %in, %block : memref<1024xf32> to memref<1024xf32>
      %all = memref.alloc() : memref<1024xf32>
      kernel.run_site 1 ins(%block : memref<1024xf32>) outs(%all : memref<1024xf32>)
      %sum = memref.alloc() : memref<1024xf32>
      memref.copy %all, %sum : memref<1024xf32> to memref<1024xf32>
      memref.copy %sum, %out : memref<1024xf32> to memref<1024xf32>
      kernel.release_site 1 of %block : memref<1024xf32>
    }
    return
  }
}
