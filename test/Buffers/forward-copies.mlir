// RUN: shard-opt %s --spmd-forward-copies=transforms --allow-unregistered-dialect | FileCheck %s
// RUN: shard-opt %s --spmd-forward-copies --allow-unregistered-dialect | FileCheck %s --check-prefix=APART

// CHECK-LABEL: func.func @last_use(
//  CHECK-SAME:   %[[OUT:.*]]: memref<4xf32>
//       CHECK:   "test.compute"(%[[OUT]])
//   CHECK-NOT:   memref.copy
func.func @last_use(%out: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  "test.compute"(%a) : (memref<4xf32>) -> ()
  memref.copy %a, %out : memref<4xf32> to memref<4xf32>
  return
}

// The argument under the buffer's type.
// CHECK-LABEL: func.func @reshaped(
//  CHECK-SAME:   %[[OUT:.*]]: memref<12xf32>
//       CHECK:   %[[VIEW:.*]] = memref.expand_shape %[[OUT]] {{\[\[}}0, 1]] output_shape [4, 3]
//       CHECK:   "test.compute"(%[[VIEW]])
//   CHECK-NOT:   memref.copy
func.func @reshaped(%out: memref<12xf32>) {
  %a = memref.alloc() : memref<4x3xf32>
  "test.compute"(%a) : (memref<4x3xf32>) -> ()
  %flat = memref.collapse_shape %a [[0, 1]] : memref<4x3xf32> into memref<12xf32>
  memref.copy %flat, %out : memref<12xf32> to memref<12xf32>
  return
}

// Sizes that are known later are the buffer's own.
// CHECK-LABEL: func.func @reshaped_later(
//  CHECK-SAME:   %[[OUT:[a-z0-9]+]]: memref<?x8xf32>, %[[M:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index
//       CHECK:   %[[VIEW:.*]] = memref.expand_shape %[[OUT]] {{\[\[}}0, 1], [2, 3]] output_shape [%[[M]], %[[N]], 4, 2] : memref<?x8xf32> into memref<?x?x4x2xf32>
//       CHECK:   "test.compute"(%[[VIEW]])
//   CHECK-NOT:   memref.copy
func.func @reshaped_later(%out: memref<?x8xf32>, %m: index, %n: index) {
  %a = memref.alloc(%m, %n) : memref<?x?x4x2xf32>
  "test.compute"(%a) : (memref<?x?x4x2xf32>) -> ()
  %flat = memref.collapse_shape %a [[0, 1], [2, 3]] : memref<?x?x4x2xf32> into memref<?x8xf32>
  memref.copy %flat, %out : memref<?x8xf32> to memref<?x8xf32>
  return
}

// CHECK-LABEL: func.func @flattened_later(
//  CHECK-SAME:   %[[OUT:[a-z0-9]+]]: memref<?x4xf32>
//       CHECK:   %[[VIEW:.*]] = memref.collapse_shape %[[OUT]] {{\[\[}}0, 1]] : memref<?x4xf32> into memref<?xf32>
//       CHECK:   "test.compute"(%[[VIEW]])
//   CHECK-NOT:   memref.copy
func.func @flattened_later(%out: memref<?x4xf32>, %n: index, %all: index) {
  %a = memref.alloc(%all) : memref<?xf32>
  "test.compute"(%a) : (memref<?xf32>) -> ()
  %rows = memref.expand_shape %a [[0, 1]] output_shape [%n, 4] : memref<?xf32> into memref<?x4xf32>
  memref.copy %rows, %out : memref<?x4xf32> to memref<?x4xf32>
  return
}

// Read again later under its own shape.
// CHECK-LABEL: func.func @reshaped_and_used_later(
//   CHECK-NOT:   expand_shape
//       CHECK:   memref.copy
func.func @reshaped_and_used_later(%out: memref<?x8xf32>, %n: index) {
  %a = memref.alloc(%n) : memref<?x4x2xf32>
  "test.compute"(%a) : (memref<?x4x2xf32>) -> ()
  %flat = memref.collapse_shape %a [[0], [1, 2]] : memref<?x4x2xf32> into memref<?x8xf32>
  memref.copy %flat, %out : memref<?x8xf32> to memref<?x8xf32>
  "test.compute"(%a) : (memref<?x4x2xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @used_later(
//       CHECK:   memref.copy
func.func @used_later(%out: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  "test.compute"(%a) : (memref<4xf32>) -> ()
  memref.copy %a, %out : memref<4xf32> to memref<4xf32>
  "test.compute"(%a) : (memref<4xf32>) -> ()
  return
}

// Transforms of two dims are done where the second one writes to. On GPUs they
// stay apart.
// CHECK-LABEL: func.func @transforms(
//  CHECK-SAME:   %[[OUT:[a-z0-9]+]]: memref<4x8x8xcomplex<f32>>
//   CHECK-NOT:   memref.alloc
//       CHECK:   "test.compute"(%[[OUT]])
//       CHECK:   kernel.lines fourier dim 1 ins(%[[OUT]], {{.*}} outs(%[[OUT]]
//       CHECK:   kernel.lines fourier dim 2 ins(%[[OUT]], {{.*}} outs(%[[OUT]]
// APART-LABEL: func.func @transforms(
// APART-COUNT-2: memref.alloc
func.func @transforms(%out: memref<4x8x8xcomplex<f32>>, %c: memref<8xf32>, %s: memref<8xf32>) {
  %one = arith.constant 1.0 : f32
  %a = memref.alloc() : memref<4x8x8xcomplex<f32>>
  "test.compute"(%a) : (memref<4x8x8xcomplex<f32>>) -> ()
  %b = memref.alloc() : memref<4x8x8xcomplex<f32>>
  kernel.lines fourier dim 1 ins(%a, %c, %s : memref<4x8x8xcomplex<f32>>, memref<8xf32>, memref<8xf32>) starts(%one : f32) outs(%b : memref<4x8x8xcomplex<f32>>)
  kernel.lines fourier dim 2 ins(%b, %c, %s : memref<4x8x8xcomplex<f32>>, memref<8xf32>, memref<8xf32>) starts(%one : f32) outs(%out : memref<4x8x8xcomplex<f32>>)
  return
}

// What is read afterwards, and what the result is written to before, stay what
// they are.
// CHECK-LABEL: func.func @not_the_last(
// CHECK-COUNT-2: memref.alloc
func.func @not_the_last(%out: memref<4x8x8xcomplex<f32>>, %c: memref<8xf32>, %s: memref<8xf32>) {
  %one = arith.constant 1.0 : f32
  %a = memref.alloc() : memref<4x8x8xcomplex<f32>>
  "test.compute"(%a) : (memref<4x8x8xcomplex<f32>>) -> ()
  %b = memref.alloc() : memref<4x8x8xcomplex<f32>>
  kernel.lines fourier dim 1 ins(%a, %c, %s : memref<4x8x8xcomplex<f32>>, memref<8xf32>, memref<8xf32>) starts(%one : f32) outs(%b : memref<4x8x8xcomplex<f32>>)
  "test.compute"(%a) : (memref<4x8x8xcomplex<f32>>) -> ()
  "test.compute"(%out) : (memref<4x8x8xcomplex<f32>>) -> ()
  kernel.lines fourier dim 2 ins(%b, %c, %s : memref<4x8x8xcomplex<f32>>, memref<8xf32>, memref<8xf32>) starts(%one : f32) outs(%out : memref<4x8x8xcomplex<f32>>)
  return
}

// Each branch makes its result where it is wanted, or copies it there.
// CHECK-LABEL: func.func @branches(
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: memref<4xf32>, %[[OUT:[a-z0-9]+]]: memref<4xf32>
//   CHECK-NOT:   memref.alloc
//       CHECK:   scf.if
//       CHECK:     "test.compute"(%[[OUT]])
//   CHECK-NOT:     memref.copy
//       CHECK:   } else {
//  CHECK-NEXT:     memref.copy %[[X]], %[[OUT]]
//  CHECK-NEXT:   }
//   CHECK-NOT:   memref.copy
func.func @branches(%x: memref<4xf32>, %out: memref<4xf32>, %which: i1) {
  %r = scf.if %which -> (memref<4xf32>) {
    %a = memref.alloc() : memref<4xf32>
    "test.compute"(%a) : (memref<4xf32>) -> ()
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %x : memref<4xf32>
  }
  memref.copy %r, %out : memref<4xf32> to memref<4xf32>
  return
}

// One of two results is wanted; of branches in branches each copies its own.
// CHECK-LABEL: func.func @nested_branches(
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: memref<4xf32>, %[[OUT:[a-z0-9]+]]: memref<4xf32>
//       CHECK:   %[[OTHER:.*]] = scf.if {{.*}} -> (memref<2xf32>) {
//       CHECK:     scf.if
//       CHECK:       "test.compute"(%[[OUT]])
//       CHECK:     } else {
//  CHECK-NEXT:       memref.copy %[[X]], %[[OUT]]
//       CHECK:     scf.yield %{{.*}} : memref<2xf32>
//       CHECK:   } else {
//       CHECK:     memref.copy %[[X]], %[[OUT]]
//       CHECK:   "test.compute"(%[[OTHER]])
func.func @nested_branches(%x: memref<4xf32>, %out: memref<4xf32>, %which: i1, %y: memref<2xf32>, %z: memref<2xf32>) {
  %r:2 = scf.if %which -> (memref<4xf32>, memref<2xf32>) {
    %s = scf.if %which -> (memref<4xf32>) {
      %a = memref.alloc() : memref<4xf32>
      "test.compute"(%a) : (memref<4xf32>) -> ()
      scf.yield %a : memref<4xf32>
    } else {
      scf.yield %x : memref<4xf32>
    }
    scf.yield %s, %y : memref<4xf32>, memref<2xf32>
  } else {
    scf.yield %x, %z : memref<4xf32>, memref<2xf32>
  }
  memref.copy %r#0, %out : memref<4xf32> to memref<4xf32>
  "test.compute"(%r#1) : (memref<2xf32>) -> ()
  return
}

// What a branch gives is written to before it is copied.
// CHECK-LABEL: func.func @written_between(
//       CHECK:   %[[R:.*]] = scf.if
//       CHECK:   "test.compute"(%[[X:.*]])
//       CHECK:   memref.copy %[[R]]
func.func @written_between(%x: memref<4xf32>, %out: memref<4xf32>, %which: i1) {
  %r = scf.if %which -> (memref<4xf32>) {
    %a = memref.alloc() : memref<4xf32>
    "test.compute"(%a) : (memref<4xf32>) -> ()
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %x : memref<4xf32>
  }
  "test.compute"(%x) : (memref<4xf32>) -> ()
  memref.copy %r, %out : memref<4xf32> to memref<4xf32>
  return
}
