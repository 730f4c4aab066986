// RUN: shard-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(spmd-raise-padding))" | FileCheck %s

// jnp.roll(x, 1).
// CHECK-LABEL: func @roll
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>)
// CHECK-NEXT: %[[R:.*]] = spmd.pad wrap %[[X]] low = [1, 0] high = [-1, 0] : tensor<8x4xf32> -> tensor<8x4xf32>
// CHECK-NEXT: return %[[R]]
func.func @roll(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %a = stablehlo.slice %x [7:8, 0:4] : (tensor<8x4xf32>) -> tensor<1x4xf32>
  %b = stablehlo.slice %x [0:7, 0:4] : (tensor<8x4xf32>) -> tensor<7x4xf32>
  %r = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1x4xf32>, tensor<7x4xf32>) -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// -----

// Two rolls of one dim are one, of two dims as well.
// CHECK-LABEL: func @rolls
// CHECK-NEXT: spmd.pad wrap %{{.*}} low = [-2, 1] high = [2, -1]
// CHECK-NEXT: return
func.func @rolls(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %a = stablehlo.slice %x [1:8, 0:4] : (tensor<8x4xf32>) -> tensor<7x4xf32>
  %b = stablehlo.slice %x [0:1, 0:4] : (tensor<8x4xf32>) -> tensor<1x4xf32>
  %r = stablehlo.concatenate %a, %b, dim = 0 : (tensor<7x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  %c = stablehlo.slice %r [0:8, 3:4] : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %d = stablehlo.slice %r [0:8, 0:3] : (tensor<8x4xf32>) -> tensor<8x3xf32>
  %s = stablehlo.concatenate %c, %d, dim = 1 : (tensor<8x1xf32>, tensor<8x3xf32>) -> tensor<8x4xf32>
  %e = stablehlo.slice %s [1:8, 0:4] : (tensor<8x4xf32>) -> tensor<7x4xf32>
  %f = stablehlo.slice %s [0:1, 0:4] : (tensor<8x4xf32>) -> tensor<1x4xf32>
  %t = stablehlo.concatenate %e, %f, dim = 0 : (tensor<7x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  return %t : tensor<8x4xf32>
}

// -----

// jnp.pad(x, (2, 1), mode="edge") as JAX prints it, and two windows of it.
// CHECK-LABEL: func @edge
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-DAG: spmd.pad edge %[[X]] low = [2] high = [-2] : tensor<4xf32> -> tensor<4xf32>
// CHECK-DAG: spmd.pad edge %[[X]] low = [-1] high = [1] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NOT: concatenate
func.func @edge(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.slice %x [0:1] : (tensor<4xf32>) -> tensor<1xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<1xf32>) -> tensor<1x2xf32>
  %2 = stablehlo.reshape %1 : (tensor<1x2xf32>) -> tensor<2xf32>
  %3 = stablehlo.slice %x [3:4] : (tensor<4xf32>) -> tensor<1xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
  %5 = stablehlo.reshape %4 : (tensor<1x1xf32>) -> tensor<1xf32>
  %6 = stablehlo.concatenate %2, %x, %5, dim = 0 : (tensor<2xf32>, tensor<4xf32>, tensor<1xf32>) -> tensor<7xf32>
  %7 = stablehlo.slice %6 [0:4] : (tensor<7xf32>) -> tensor<4xf32>
  %8 = stablehlo.slice %6 [3:7] : (tensor<7xf32>) -> tensor<4xf32>
  return %7, %8 : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func @mirrored
// CHECK: spmd.pad reflect %{{.*}} low = [2] high = [0] : tensor<4xf32> -> tensor<6xf32>
// CHECK: spmd.pad symmetric %{{.*}} low = [0] high = [2] : tensor<4xf32> -> tensor<6xf32>
func.func @mirrored(%x: tensor<4xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %0 = stablehlo.slice %x [1:3] : (tensor<4xf32>) -> tensor<2xf32>
  %1 = stablehlo.reverse %0, dims = [0] : tensor<2xf32>
  %2 = stablehlo.concatenate %1, %x, dim = 0 : (tensor<2xf32>, tensor<4xf32>) -> tensor<6xf32>
  %3 = stablehlo.slice %x [2:4] : (tensor<4xf32>) -> tensor<2xf32>
  %4 = stablehlo.reverse %3, dims = [0] : tensor<2xf32>
  %5 = stablehlo.concatenate %x, %4, dim = 0 : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
  return %2, %5 : tensor<6xf32>, tensor<6xf32>
}

// -----

// A window of a constant padding reads the tensor itself; one that holds the
// constant alone stays.
// CHECK-LABEL: func @constant
// CHECK-SAME: (%[[X:.*]]: tensor<8xf32>
// CHECK-DAG: stablehlo.pad %[[X]], %{{.*}}, low = [1], high = [-1], interior = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-DAG: stablehlo.slice %{{.*}} [0:1]
func.func @constant(%x: tensor<8xf32>, %zero: tensor<f32>) -> (tensor<8xf32>, tensor<1xf32>) {
  %0 = stablehlo.pad %x, %zero, low = [1], high = [1], interior = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<10xf32>
  %1 = stablehlo.slice %0 [0:8] : (tensor<10xf32>) -> tensor<8xf32>
  %2 = stablehlo.slice %0 [0:1] : (tensor<10xf32>) -> tensor<1xf32>
  return %1, %2 : tensor<8xf32>, tensor<1xf32>
}

// -----

// Other tensors, other orders, plain slices: nothing to raise.
// CHECK-LABEL: func @others
// CHECK-NOT: spmd.pad
func.func @others(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<9xf32>, tensor<8xf32>, tensor<6xf32>) {
  %0 = stablehlo.slice %y [7:8] : (tensor<8xf32>) -> tensor<1xf32>
  %1 = stablehlo.concatenate %0, %x, dim = 0 : (tensor<1xf32>, tensor<8xf32>) -> tensor<9xf32>
  %2 = stablehlo.slice %x [0:4] : (tensor<8xf32>) -> tensor<4xf32>
  %3 = stablehlo.concatenate %2, %2, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %4 = stablehlo.slice %x [1:3] : (tensor<8xf32>) -> tensor<2xf32>
  %5 = stablehlo.slice %x [3:7] : (tensor<8xf32>) -> tensor<4xf32>
  %6 = stablehlo.concatenate %4, %5, dim = 0 : (tensor<2xf32>, tensor<4xf32>) -> tensor<6xf32>
  return %1, %3, %6 : tensor<9xf32>, tensor<8xf32>, tensor<6xf32>
}

// -----

// The gradient of a slice of nearly all: the elements written are a window of what is padded.
// CHECK-LABEL: func @update_of_nearly_all
// CHECK-SAME: (%[[X:.*]]: tensor<61x4xf32>, %[[I:.*]]: tensor<i32>)
// CHECK-DAG: %[[MOST:.*]] = stablehlo.constant dense<3> : tensor<i32>
// CHECK-DAG: %[[PLACE:.*]] = stablehlo.clamp %{{.*}}, %[[I]], %[[MOST]]
// CHECK-DAG: %[[START:.*]] = stablehlo.subtract %[[MOST]], %[[PLACE]]
// CHECK: %[[PADDED:.*]] = stablehlo.pad %[[X]], %{{.*}}, low = [3, 0], high = [3, 0]
// CHECK: stablehlo.dynamic_slice %[[PADDED]], %[[START]], %{{.*}}, sizes = [64, 4]
// CHECK-NOT: dynamic_update_slice
spmd.mesh @mesh = <["x"=4]>
func.func @update_of_nearly_all(%x: tensor<61x4xf32>, %i: tensor<i32>) -> tensor<64x4xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<64x4xf32>
  %r = stablehlo.dynamic_update_slice %zeros, %x, %i, %i : (tensor<64x4xf32>, tensor<61x4xf32>, tensor<i32>, tensor<i32>) -> tensor<64x4xf32>
  return %r : tensor<64x4xf32>
}

// -----

// What is around is no constant, or ranks have fewer elements than it may move by.
// CHECK-LABEL: func @update_of_less
// CHECK: stablehlo.dynamic_update_slice
// CHECK: stablehlo.dynamic_update_slice
spmd.mesh @mesh = <["x"=4]>
func.func @update_of_less(%t: tensor<64x4xf32>, %x: tensor<61x4xf32>, %y: tensor<48x4xf32>, %i: tensor<i32>) -> (tensor<64x4xf32>, tensor<64x4xf32>) {
  %zeros = stablehlo.constant dense<0.0> : tensor<64x4xf32>
  %r = stablehlo.dynamic_update_slice %t, %x, %i, %i : (tensor<64x4xf32>, tensor<61x4xf32>, tensor<i32>, tensor<i32>) -> tensor<64x4xf32>
  %s = stablehlo.dynamic_update_slice %zeros, %y, %i, %i : (tensor<64x4xf32>, tensor<48x4xf32>, tensor<i32>, tensor<i32>) -> tensor<64x4xf32>
  return %r, %s : tensor<64x4xf32>, tensor<64x4xf32>
}

// -----

// Of n + 36 elements the first 20 are of n, or a part of the padding: what is cut off follows from n, and may be less than is padded. All but 4 of
// them are padding by 32, whatever n is. Where n has a second, lesser number, as many as that says are n, and 36 are cut off, not 4136.
// CHECK-LABEL: func @open
// CHECK: %[[P:.*]] = stablehlo.pad %arg0, %{{.*}}, low = [0], high = [36]
// CHECK: stablehlo.slice %[[P]] [0:20]
// CHECK: stablehlo.pad %arg0, %{{.*}}, low = [0], high = [32], interior = [0] : (tensor<246713xf32>, tensor<f32>) -> tensor<246745xf32>
// CHECK: stablehlo.slice %[[P]] [0:242613]
// CHECK: spmd.pad wrap %arg0 low = [-3] high = [3]
// CHECK: stablehlo.slice %{{.*}} [0:242613]
spmd.mesh @mesh = <["x"=1], #spmd.extents<[dim [0, 0] = 246713, constant [36] = 36, add [0, 1] = 246749, constant [-4100] = -4100, max [0, 3] = 242613]>>
func.func @open(%x: tensor<246713xf32>) -> (tensor<20xf32>, tensor<246745xf32>, tensor<242613xf32>, tensor<242613xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.pad %x, %zero, low = [0], high = [36], interior = [0] : (tensor<246713xf32>, tensor<f32>) -> tensor<246749xf32>
  %s = stablehlo.slice %p [0:20] : (tensor<246749xf32>) -> tensor<20xf32>
  %t = stablehlo.slice %p [0:246745] : (tensor<246749xf32>) -> tensor<246745xf32>
  %u = stablehlo.slice %p [0:242613] : (tensor<246749xf32>) -> tensor<242613xf32>
  %roll = spmd.pad wrap %x low = [-3] high = [3] : tensor<246713xf32> -> tensor<246713xf32>
  %v = stablehlo.slice %roll [0:242613] : (tensor<246713xf32>) -> tensor<242613xf32>
  return %s, %t, %u, %v : tensor<20xf32>, tensor<246745xf32>, tensor<242613xf32>, tensor<242613xf32>
}

// -----

// A slice of one piece is a slice of that; one of two pieces stays.
// CHECK-LABEL: func @slices_of_pieces
//  CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>, %[[Y:.*]]: tensor<6x4xf32>)
//       CHECK: %[[XY:.*]] = stablehlo.concatenate %[[X]], %[[Y]]
//       CHECK: %[[FIRST:.*]] = stablehlo.slice %[[X]] [2:8:3, 1:3] : (tensor<8x4xf32>) -> tensor<2x2xf32>
//       CHECK: %[[SECOND:.*]] = stablehlo.slice %[[Y]] [1:5, 0:4] : (tensor<6x4xf32>) -> tensor<4x4xf32>
//       CHECK: %[[BOTH:.*]] = stablehlo.slice %[[XY]] [7:9, 0:4]
//       CHECK: return %[[FIRST]], %[[SECOND]], %[[BOTH]]
func.func @slices_of_pieces(%x: tensor<8x4xf32>, %y: tensor<6x4xf32>) -> (tensor<2x2xf32>, tensor<4x4xf32>, tensor<2x4xf32>) {
  %xy = stablehlo.concatenate %x, %y, dim = 0 : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<14x4xf32>
  %a = stablehlo.slice %xy [2:8:3, 1:3] : (tensor<14x4xf32>) -> tensor<2x2xf32>
  %b = stablehlo.slice %xy [9:13, 0:4] : (tensor<14x4xf32>) -> tensor<4x4xf32>
  %c = stablehlo.slice %xy [7:9, 0:4] : (tensor<14x4xf32>) -> tensor<2x4xf32>
  return %a, %b, %c : tensor<2x2xf32>, tensor<4x4xf32>, tensor<2x4xf32>
}

// -----

// Where the second piece begins follows from the first one's open extent: the whole piece is it whatever is bound, the first 20 of it have no
// number that says so.
// CHECK-LABEL: func @slices_of_open_pieces
//  CHECK-SAME: (%[[X:.*]]: tensor<246713xf32>, %[[Y:.*]]: tensor<36xf32>)
//       CHECK: %[[XY:.*]] = stablehlo.concatenate
//       CHECK: %[[WHOLE:.*]] = stablehlo.slice %[[Y]] [0:36]
//       CHECK: %[[PART:.*]] = stablehlo.slice %[[XY]] [246713:246733]
//       CHECK: return %[[WHOLE]], %[[PART]]
spmd.mesh @mesh = <["x"=1], #spmd.extents<[dim [0, 0] = 246713, constant [36] = 36, add [0, 1] = 246749]>>
func.func @slices_of_open_pieces(%x: tensor<246713xf32>, %y: tensor<36xf32>) -> (tensor<36xf32>, tensor<20xf32>) {
  %xy = stablehlo.concatenate %x, %y, dim = 0 : (tensor<246713xf32>, tensor<36xf32>) -> tensor<246749xf32>
  %a = stablehlo.slice %xy [246713:246749] : (tensor<246749xf32>) -> tensor<36xf32>
  %b = stablehlo.slice %xy [246713:246733] : (tensor<246749xf32>) -> tensor<20xf32>
  return %a, %b : tensor<36xf32>, tensor<20xf32>
}
