// RUN: shard-opt %s --split-input-file --spmd-lower-control-flow | FileCheck %s

// One after the other, with one inside: each join is where the next begins.
// CHECK-LABEL: func.func @conditionals(
//  CHECK-SAME:     %[[C:.*]]: i1, %[[D:.*]]: i1, %[[X:.*]]: memref<f32>, %[[V:.*]]: f32, %[[W:.*]]: f32)
//       CHECK:   cf.cond_br %[[C]], ^[[THEN:.*]], ^[[JOIN:[^ ]*]]
//       CHECK: ^[[THEN]]:
//       CHECK:   cf.cond_br %[[D]], ^[[INNER:.*]], ^[[AFTER:[^ ]*]]
//       CHECK: ^[[INNER]]:
//       CHECK:   memref.store %[[V]], %[[X]][]
//       CHECK:   cf.br ^[[AFTER]]
//       CHECK: ^[[AFTER]]:
//       CHECK:   memref.store %[[W]], %[[X]][]
//       CHECK:   cf.br ^[[JOIN]]
//       CHECK: ^[[JOIN]]:
//       CHECK:   cf.cond_br %[[D]], ^[[FIRST:.*]], ^[[SECOND:[^ ]*]]
//       CHECK: ^[[FIRST]]:
//       CHECK:   cf.br ^[[END:.*]](%[[V]] : f32)
//       CHECK: ^[[SECOND]]:
//       CHECK:   cf.br ^[[END]](%[[W]] : f32)
//       CHECK: ^[[END]](%[[RESULT:.*]]: f32):
//       CHECK:   return %[[RESULT]]
//   CHECK-NOT:   scf.
func.func @conditionals(%c: i1, %d: i1, %x: memref<f32>, %v: f32, %w: f32) -> f32 {
  scf.if %c {
    scf.if %d {
      memref.store %v, %x[] : memref<f32>
    }
    memref.store %w, %x[] : memref<f32>
  }
  %0 = scf.if %d -> f32 {
    scf.yield %v : f32
  } else {
    scf.yield %w : f32
  }
  return %0 : f32
}

// -----

// A parallel loop becomes a loop, and that one becomes branches.
// CHECK-LABEL: func.func @loops(
//       CHECK:   cf.br ^[[HEAD:.*]](%{{.*}} : index)
//       CHECK: ^[[HEAD]](%[[I:.*]]: index):
//       CHECK:   cf.cond_br %{{.*}}, ^[[BODY:.*]], ^[[BEHIND:[^ ]*]]
//       CHECK: ^[[BODY]]:
//       CHECK:   memref.store
//       CHECK:   cf.br ^[[HEAD]](
//       CHECK: ^[[BEHIND]]:
//       CHECK:   cf.br ^[[AGAIN:.*]](%{{.*}} : i32)
//       CHECK: ^[[AGAIN]](%{{.*}}: i32):
//       CHECK:   cf.cond_br %{{.*}}, ^[[STEP:.*]], ^[[END:[^ ]*]]
//   CHECK-NOT:   scf.
func.func @loops(%n: index, %x: memref<?xf32>, %v: f32, %last: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %v, %x[%i] : memref<?xf32>
  }
  %0 = scf.while (%k = %one) : (i32) -> i32 {
    %more = arith.cmpi slt, %k, %last : i32
    scf.condition(%more) %k : i32
  } do {
  ^bb0(%k: i32):
    %next = arith.addi %k, %k : i32
    scf.yield %next : i32
  }
  return %0 : i32
}
