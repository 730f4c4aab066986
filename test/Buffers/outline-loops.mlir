// RUN: shard-opt %s --spmd-outline-loops=least-ops=0 --allow-unregistered-dialect --split-input-file | FileCheck %s
// RUN: shard-opt %s --spmd-outline-loops --allow-unregistered-dialect --split-input-file | FileCheck %s --check-prefix=SHORT
// SHORT-NOT: @__shardc_loop
// RUN: shard-opt %s --spmd-outline-loops=least-ops=20 --allow-unregistered-dialect --split-input-file | FileCheck %s --check-prefix=CALLS

// Layers that are alike call one function; constants go along, other values are given.
// CHECK-LABEL: func.func private @__shardc_loop_0(
//  CHECK-SAME:   %[[X:.*]]: f32, %[[BUFFER:.*]]: memref<32xf32>) attributes {{{.*}}passthrough = ["noinline"]
//   CHECK-DAG:   %[[C32:.*]] = arith.constant 32 : index
//       CHECK:   scf.for %[[I:.*]] = %{{.*}} to %[[C32]] step
//       CHECK:     memref.store %[[X]], %[[BUFFER]][%[[I]]]
//       CHECK:   return
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[A:.*]]: memref<32xf32>, %[[B:.*]]: memref<32xf32>, %[[Y:.*]]: f32, %[[Z:.*]]: f32)
//       CHECK:   call @__shardc_loop_0(%[[Y]], %[[A]])
//  CHECK-NEXT:   call @__shardc_loop_0(%[[Z]], %[[B]])
//  CHECK-NEXT:   return
func.func @main(%a: memref<32xf32>, %b: memref<32xf32>, %y: f32, %z: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %c32 step %c1 {
    memref.store %y, %a[%i] : memref<32xf32>
  }
  scf.for %i = %c0 to %c32 step %c1 {
    memref.store %z, %b[%i] : memref<32xf32>
  }
  return
}

// -----

// Another bound, or another value stored, is another function.
// CHECK: func.func private @__shardc_loop_0(
// CHECK: func.func private @__shardc_loop_1(
// CHECK: func.func private @__shardc_loop_2(
// CHECK: func.func @main(
func.func @main(%a: memref<32xf32>, %y: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c32 step %c1 {
    memref.store %y, %a[%i] : memref<32xf32>
  }
  scf.for %i = %c0 to %c16 step %c1 {
    memref.store %y, %a[%i] : memref<32xf32>
  }
  scf.for %i = %c0 to %c32 step %c1 {
    memref.store %one, %a[%i] : memref<32xf32>
  }
  return
}

// -----

// What a loop yields comes back; a loop that asks the runtime stays, and what it holds goes.
// CHECK: func.func private @__shardc_loop_0(%{{.*}}: memref<32xf32>) -> f32
// CHECK: func.func private @__shardc_loop_1(
// CHECK: func.func @main(
// CHECK:   %[[SUM:.*]] = call @__shardc_loop_0(
// CHECK:   scf.for
// CHECK:     call @__shardc_loop_1(
// CHECK:     "test.something"(%[[SUM]])
// CHECK: return
func.func @main(%a: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %c32 step %c1 iter_args(%so_far = %zero) -> f32 {
    %x = memref.load %a[%i] : memref<32xf32>
    %next = arith.addf %so_far, %x : f32
    scf.yield %next : f32
  }
  scf.for %step = %c0 to %c32 step %c1 {
    scf.for %i = %c0 to %c32 step %c1 {
      memref.store %sum, %a[%i] : memref<32xf32>
    }
    "test.something"(%sum) : (f32) -> ()
  }
  return
}

// -----

// Vectors stay in registers.
// CHECK-NOT: func.func private
// CHECK: func.func @main(
func.func @main(%a: memref<32xf32>) -> vector<16xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %sum = scf.for %i = %c0 to %c32 step %c16 iter_args(%so_far = %zero) -> vector<16xf32> {
    %x = vector.load %a[%i] : memref<32xf32>, vector<16xf32>
    %next = arith.addf %so_far, %x : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  return %sum : vector<16xf32>
}

// -----

// Accumulators stay in registers until they are stored: what is stored goes
// with the loop, and what is loaded before it.
// CHECK: func.func private @__shardc_loop_0(%[[TO:.*]]: memref<4xf32>, %{{.*}}: memref<32xf32>)
// CHECK:   %[[BEGIN:.*]] = vector.load %[[TO]]
// CHECK:   %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[BEGIN]])
// CHECK:   vector.store %[[SUM]], %[[TO]]
// CHECK: func.func @main(
// CHECK-SAME: %[[A:.*]]: memref<32xf32>, %[[B:.*]]: memref<4xf32>, %[[C:.*]]: memref<4xf32>)
// CHECK-NOT: scf.for
// CHECK:   call @__shardc_loop_0(%[[B]], %[[A]])
// CHECK-NEXT: call @__shardc_loop_0(%[[C]], %[[A]])
func.func @main(%a: memref<32xf32>, %b: memref<4xf32>, %c: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %begin = vector.load %b[%c0] : memref<4xf32>, vector<4xf32>
  %sum = scf.for %i = %c0 to %c32 step %c4 iter_args(%s = %begin) -> (vector<4xf32>) {
    %v = vector.load %a[%i] : memref<32xf32>, vector<4xf32>
    %t = arith.addf %s, %v : vector<4xf32>
    scf.yield %t : vector<4xf32>
  }
  vector.store %sum, %b[%c0] : memref<4xf32>, vector<4xf32>
  %other = vector.load %c[%c0] : memref<4xf32>, vector<4xf32>
  %more = scf.for %i = %c0 to %c32 step %c4 iter_args(%s = %other) -> (vector<4xf32>) {
    %v = vector.load %a[%i] : memref<32xf32>, vector<4xf32>
    %t = arith.addf %s, %v : vector<4xf32>
    scf.yield %t : vector<4xf32>
  }
  vector.store %more, %c[%c0] : memref<4xf32>, vector<4xf32>
  return
}

// -----

// A call between the loop and the store of what it ends with stays where it is,
// and so do they.
// CHECK-NOT: @__shardc_loop
// CHECK: func.func @main(
// CHECK:   scf.for
func.func private @runtime()
func.func @main(%a: memref<32xf32>, %b: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<4xf32>
  %sum = scf.for %i = %c0 to %c32 step %c4 iter_args(%s = %zero) -> (vector<4xf32>) {
    %v = vector.load %a[%i] : memref<32xf32>, vector<4xf32>
    %t = arith.addf %s, %v : vector<4xf32>
    scf.yield %t : vector<4xf32>
  }
  func.call @runtime() : () -> ()
  vector.store %sum, %b[%c0] : memref<4xf32>, vector<4xf32>
  return
}

// -----

// A loop of the program: what it runs is outlined, not the loop, or a network in a loop is one function.
// CHECK: func.func @main(
// CHECK:   scf.for
// CHECK-COUNT-17: func.call @__shardc_loop_0(
// CHECK:   return
func.func @main(%a: memref<32xf32>, %y: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  scf.for %iteration = %c0 to %c3 step %c1 {
    scf.for %i = %c0 to %c32 step %c1 { memref.store %y, %a[%i] : memref<32xf32> }
    scf.for %i = %c0 to %c32 step %c1 { memref.store %y, %a[%i] : memref<32xf32> }
    scf.for %i = %c0 to %c32 step %c1 { memref.store %y, %a[%i] : memref<32xf32> }
    scf.for %i = %c0 to %c32 step %c1 { memref.store %y, %a[%i] : memref<32xf32> }
    scf.for %i = %c0 to %c32 step %c1 { memref.store %y, %a[%i] : memref<32xf32> }
    scf.for %i = %c0 to %c32 step %c1 { memref.store %y, %a[%i] : memref<32xf32> }
    scf.for %i = %c0 to %c32 step %c1 { memref.store %y, %a[%i] : memref<32xf32> }
    scf.for %i = %c0 to %c32 step %c1 { memref.store %y, %a[%i] : memref<32xf32> }
    scf.for %i = %c0 to %c32 step %c1 { memref.store %y, %a[%i] : memref<32xf32> }
    scf.for %i = %c0 to %c32 step %c1 { memref.store %y, %a[%i] : memref<32xf32> }
    scf.for %i = %c0 to %c32 step %c1 { memref.store %y, %a[%i] : memref<32xf32> }
    scf.for %i = %c0 to %c32 step %c1 { memref.store %y, %a[%i] : memref<32xf32> }
    scf.for %i = %c0 to %c32 step %c1 { memref.store %y, %a[%i] : memref<32xf32> }
    scf.for %i = %c0 to %c32 step %c1 { memref.store %y, %a[%i] : memref<32xf32> }
    scf.for %i = %c0 to %c32 step %c1 { memref.store %y, %a[%i] : memref<32xf32> }
    scf.for %i = %c0 to %c32 step %c1 { memref.store %y, %a[%i] : memref<32xf32> }
    scf.for %i = %c0 to %c32 step %c1 { memref.store %y, %a[%i] : memref<32xf32> }
  }
  return
}

// -----

// Kernels that are functions already count as if they were not: 9 ops, and 13 of what is called.
// CALLS-LABEL: func.func private @kernel(
//       CALLS: func.func private @__shardc_loop_0(
//       CALLS: func.func @main(
//       CALLS:   call @__shardc_loop_0(
func.func private @kernel(%a: memref<f32>, %x: f32) {
  %0 = arith.addf %x, %x : f32
  %1 = arith.mulf %0, %x : f32
  %2 = arith.addf %1, %x : f32
  %3 = arith.mulf %2, %x : f32
  %4 = arith.addf %3, %x : f32
  %5 = arith.mulf %4, %x : f32
  %6 = arith.addf %5, %x : f32
  %7 = arith.mulf %6, %x : f32
  %8 = arith.addf %7, %x : f32
  %9 = arith.mulf %8, %x : f32
  memref.store %9, %a[] : memref<f32>
  return
}
func.func @main(%a: memref<32xf32>, %b: memref<f32>, %y: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %c32 step %c1 {
    memref.store %y, %a[%i] : memref<32xf32>
  }
  call @kernel(%b, %y) : (memref<f32>, f32) -> ()
  return
}
