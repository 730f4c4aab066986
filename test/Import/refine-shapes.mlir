// RUN: shard-opt %s --split-input-file --spmd-refine-shapes=shapes="0=6x4" --canonicalize | FileCheck %s

// A size reaches what is made of it: broadcasts, iotas, slices, assertions.
// CHECK-LABEL: func.func @main
//  CHECK-SAME:   (%[[X:.*]]: tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<3x4xf32>, tensor<24xf32>)
//   CHECK-NOT:   dynamic
//   CHECK-NOT:   shape_assertion
//       CHECK:   %[[SPREAD:.*]] = stablehlo.broadcast_in_dim {{.*}} -> tensor<6x4xf32>
//       CHECK:   stablehlo.add %[[X]], %[[SPREAD]] : tensor<6x4xf32>
//       CHECK:   stablehlo.slice %[[X]] [3:6, 0:4]
//       CHECK:   stablehlo.reshape %[[X]] : (tensor<6x4xf32>) -> tensor<24xf32>
func.func @main(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?xf32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %some = stablehlo.compare GE, %n, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%some, %n) {error_message = "need {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  %rows = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %shape = stablehlo.concatenate %rows, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %spread = stablehlo.dynamic_broadcast_in_dim %half, %shape, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
  %sum = stablehlo.add %x, %spread : tensor<?x4xf32>
  %middle = stablehlo.divide %n, %two : tensor<i32>
  %from = stablehlo.reshape %middle : (tensor<i32>) -> tensor<1xi32>
  %start = stablehlo.concatenate %from, %zero, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %steps = stablehlo.constant dense<1> : tensor<2xi32>
  %upper = stablehlo.real_dynamic_slice %x, %start, %shape, %steps : (tensor<?x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x4xf32>
  %all = stablehlo.multiply %rows, %four : tensor<1xi32>
  %flat = stablehlo.dynamic_reshape %x, %all : (tensor<?x4xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %sum, %upper, %flat : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?xf32>
}

// -----

// Loops carry the shapes that they are given.
// CHECK-LABEL: func.func @main
//       CHECK:   stablehlo.while({{.*}}) : tensor<6x4xf32>, tensor<i32>
//       CHECK:   stablehlo.dot_general {{.*}} : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x6xf32>
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x?xf32> {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %w:2 = stablehlo.while(%a = %x, %k = %i) : tensor<?x4xf32>, tensor<i32> cond {
    %three = stablehlo.constant dense<3> : tensor<i32>
    %go = stablehlo.compare LT, %k, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %k, %one : tensor<i32>
    %b = stablehlo.tanh %a : tensor<?x4xf32>
    stablehlo.return %b, %next : tensor<?x4xf32>, tensor<i32>
  }
  %p = stablehlo.dot_general %w#0, %w#0, contracting_dims = [1] x [1] : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}

// -----

// A window whose padding depends on sizes comes with a function that says how it combines.
// CHECK-LABEL: func.func @main
//       CHECK:   "stablehlo.reduce_window"
//       CHECK:   stablehlo.add
//       CHECK:   (tensor<6x4xf32>, tensor<f32>) -> tensor<6x4xf32>
//   CHECK-NOT: func.func
func.func private @sum(%p: tensor<f32>, %q: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %p, %q : tensor<f32>
  return %0 : tensor<f32>
}
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %window = stablehlo.constant dense<[3, 1]> : tensor<2xi32>
  %ones = stablehlo.constant dense<1> : tensor<2xi32>
  %padding = stablehlo.constant dense<[[1, 1], [0, 0]]> : tensor<2x2xi32>
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %z, %window, %ones, %ones, %ones, %padding) {called_computations = [@sum]} : (tensor<?x4xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// A slice as long as a size says, from where a value says; the clamp in front of it is dynamic_slice's own.
// CHECK-LABEL: func.func @main
//  CHECK-SAME:   (%[[X:.*]]: tensor<6x4xf32>, %[[I:.*]]: tensor<i32>)
//       CHECK:   %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<i32>
//       CHECK:   stablehlo.dynamic_slice %[[X]], %[[ZERO]], %[[I]], sizes = [6, 1]
//   CHECK-NOT:   clamp
func.func @main(%x: tensor<?x4xf32>, %i: tensor<i32>) -> tensor<?x1xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %rows = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %column = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
  %lengths = stablehlo.concatenate %rows, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %shape = stablehlo.concatenate %rows, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %asked = stablehlo.concatenate %zero, %column, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %none = stablehlo.constant dense<0> : tensor<2xi32>
  %steps = stablehlo.constant dense<1> : tensor<2xi32>
  %last = stablehlo.subtract %shape, %lengths : tensor<2xi32>
  %start = stablehlo.clamp %none, %asked, %last : tensor<2xi32>
  %limit = stablehlo.add %start, %lengths : tensor<2xi32>
  %0 = stablehlo.real_dynamic_slice %x, %start, %limit, %steps : (tensor<?x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x1xf32>
  return %0 : tensor<?x1xf32>
}

// -----

// Random bits of a shape that sizes say.
// CHECK-LABEL: func.func @main
//       CHECK:   stablehlo.rng_bit_generator %{{.*}}, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<6xui32>)
func.func @main(%x: tensor<?x4xf32>, %state: tensor<2xui64>) -> tensor<?xui32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %shape = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %0:2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%state, %shape) {rng_algorithm = #stablehlo<rng_algorithm DEFAULT>} : (tensor<2xui64>, tensor<1xi32>) -> (tensor<2xui64>, tensor<?xui32>)
  return %0#1 : tensor<?xui32>
}

// -----

// Blocks of a region are as large as what is cut; a size that is a value comes
// in as it is, and what has an operand for a shape has it inside as well.
// CHECK-LABEL: func.func @main(
//       CHECK:   sdy.manual_computation(
//       CHECK:     stablehlo.iota dim = 0 : tensor<3xf32>
//       CHECK:     stablehlo.broadcast_in_dim %{{.*}}, dims = [0] : (tensor<3xf32>) -> tensor<3x2xf32>
//       CHECK:     sdy.return %{{.*}} : tensor<3x2xf32>
//       CHECK:   (tensor<i32>, tensor<6x4xf32>) -> tensor<6x4xf32>
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %0 = sdy.manual_computation(%n, %x) in_shardings=[<@mesh, []>, <@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x", "y"} (%m: tensor<i32>, %b: tensor<?x2xf32>) {
    %two = stablehlo.constant dense<2> : tensor<i32>
    %rows = stablehlo.divide %m, %two : tensor<i32>
    %r = stablehlo.reshape %rows : (tensor<i32>) -> tensor<1xi32>
    %i = stablehlo.dynamic_iota %r, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
    %c = stablehlo.reshape %two : (tensor<i32>) -> tensor<1xi32>
    %s = stablehlo.concatenate %r, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %e = stablehlo.dynamic_broadcast_in_dim %i, %s, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x2xf32>
    %a = stablehlo.add %b, %e : tensor<?x2xf32>
    sdy.return %a : tensor<?x2xf32>
  } : (tensor<i32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// The same of a region of our own, whose types are known.
// CHECK-LABEL: func.func @main(
//       CHECK:   spmd.manual(
//       CHECK:     stablehlo.reshape %{{.*}} : (tensor<6x2xf32>) -> tensor<2x6xf32>
spmd.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<6x4xf32>) -> tensor<2x12xf32> {
  %0 = spmd.manual(%x) in [#spmd.sharding<@mesh, [{?}, {"x", ?}]>] out [#spmd.sharding<@mesh, [{?}, {"x", ?}]>] along ["x"] {
  ^bb0(%b: tensor<6x2xf32>):
    %s = stablehlo.constant dense<[2, 6]> : tensor<2xi64>
    %r = stablehlo.dynamic_reshape %b, %s : (tensor<6x2xf32>, tensor<2xi64>) -> tensor<2x6xf32>
    spmd.return %r : tensor<2x6xf32>
  } : (tensor<6x4xf32>) -> tensor<2x12xf32>
  return %0 : tensor<2x12xf32>
}

// -----

// Lists of a window may be longer than it has dims, as exports of windows of one dim have them: what is behind says nothing.
// CHECK-LABEL: func.func @main
//       CHECK:   stablehlo.convolution{{.*}} window = {stride = [2], pad = {{\[\[}}1, 1]], rhs_dilate = [1], reverse = [false]}
//  CHECK-SAME:   (tensor<6x4x2xf32>, tensor<3x2x5xf32>) -> tensor<6x2x5xf32>
func.func @main(%x: tensor<?x4xf32>, %y: tensor<6x4x2xf32>, %w: tensor<3x2x5xf32>) -> tensor<6x?x5xf32> {
  %padding = stablehlo.constant dense<1> : tensor<1x2xi32>
  %0 = "stablehlo.dynamic_conv"(%y, %w, %padding) {batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
      feature_group_count = 1 : i64, window_strides = array<i64: 2, 3>, rhs_dilation = array<i64: 1, 7>, window_reversal = array<i1: false, true>}
      : (tensor<6x4x2xf32>, tensor<3x2x5xf32>, tensor<1x2xi32>) -> tensor<6x?x5xf32>
  return %0 : tensor<6x?x5xf32>
}
