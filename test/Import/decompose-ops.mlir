// RUN: shard-opt %s --spmd-decompose-ops | FileCheck %s

// What a map computes is elementwise; what it captures is spread.
// CHECK-LABEL: func.func @map
//  CHECK-SAME:   %[[X:.*]]: tensor<4xf32>, %[[S:.*]]: tensor<f32>
//       CHECK:   %[[SPREAD:.*]] = stablehlo.broadcast_in_dim %[[S]], dims = [] : (tensor<f32>) -> tensor<4xf32>
//       CHECK:   stablehlo.multiply %[[X]], %[[SPREAD]] : tensor<4xf32>
func.func @map(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>):
    %1 = stablehlo.multiply %a, %s : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @tokens
//   CHECK-NOT:   token
//       CHECK:   %[[X:.*]] = stablehlo.optimization_barrier %{{.*}} : tensor<4xf32>
//       CHECK:   return %[[X]]
func.func @tokens(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = stablehlo.create_token : !stablehlo.token
  %u = stablehlo.after_all %t : !stablehlo.token
  %0:2 = stablehlo.optimization_barrier %x, %u : tensor<4xf32>, !stablehlo.token
  %v = stablehlo.after_all %0#1 : !stablehlo.token
  return %0#0 : tensor<4xf32>
}

// Loops and branches carry none.
// CHECK-LABEL: func.func @tokens_into_manual_regions
//   CHECK-NOT:   token
//       CHECK:   sdy.manual_computation(%{{.*}}) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
//       CHECK:     sdy.return %{{.*}} : tensor<4xf32>
//   CHECK-NOT:   token
sdy.mesh @mesh = <["x"=2]>
func.func @tokens_into_manual_regions(%x: tensor<8xf32>) -> tensor<8xf32> {
  %t = stablehlo.create_token : !stablehlo.token
  %0:2 = sdy.manual_computation(%t, %x) in_shardings=[<@mesh, []>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>, <@mesh, []>] manual_axes={"x"} (%u: !stablehlo.token, %y: tensor<4xf32>) {
    %v = stablehlo.after_all %u : !stablehlo.token
    %z = stablehlo.negate %y : tensor<4xf32>
    sdy.return %z, %v : tensor<4xf32>, !stablehlo.token
  } : (!stablehlo.token, tensor<8xf32>) -> (tensor<8xf32>, !stablehlo.token)
  %w = stablehlo.after_all %0#1 : !stablehlo.token
  return %0#0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @carried_tokens
//   CHECK-NOT:   token
//       CHECK:   %[[W:.*]] = stablehlo.while(%[[I:.*]] = %{{.*}}) : tensor<i32>
//       CHECK:     %[[C:.*]] = "stablehlo.case"(%[[I]])
//       CHECK:       stablehlo.return %[[I]] : tensor<i32>
//       CHECK:     stablehlo.return %[[C]] : tensor<i32>
//       CHECK:   return %[[W]] : tensor<i32>
func.func @carried_tokens(%i: tensor<i32>) -> tensor<i32> {
  %t = stablehlo.create_token : !stablehlo.token
  %0:2 = stablehlo.while(%u = %t, %j = %i) : !stablehlo.token, tensor<i32>
  cond {
    %p = stablehlo.compare LT, %j, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1:2 = "stablehlo.case"(%j) ({
      %v = stablehlo.after_all %u : !stablehlo.token
      stablehlo.return %j, %v : tensor<i32>, !stablehlo.token
    }, {
      stablehlo.return %i, %u : tensor<i32>, !stablehlo.token
    }) : (tensor<i32>) -> (tensor<i32>, !stablehlo.token)
    stablehlo.return %1#1, %1#0 : !stablehlo.token, tensor<i32>
  }
  return %0#1 : tensor<i32>
}

// CHECK-LABEL: func.func @tuple
//  CHECK-SAME:   %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<2xi32>
//   CHECK-NOT:   tuple
//       CHECK:   return %[[Y]]
func.func @tuple(%x: tensor<4xf32>, %y: tensor<2xi32>) -> tensor<2xi32> {
  %0 = stablehlo.tuple %x, %y : (tensor<4xf32>, tensor<2xi32>) -> tuple<tensor<4xf32>, tensor<2xi32>>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4xf32>, tensor<2xi32>>) -> tensor<2xi32>
  return %1 : tensor<2xi32>
}

// CHECK-LABEL: func.func @bits
//   CHECK-NOT:   rng_bit_generator
//       CHECK:   stablehlo.iota dim = 0 : tensor<6xui64>
func.func @bits(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<6xf32>) {
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<6xf32>)
  return %0#0, %0#1 : tensor<2xui64>, tensor<6xf32>
}

// Ordered effects that are left out by now leave tokens behind.
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[X:[a-z0-9]*]]: tensor<4xf32> {spmd.name = "x"}) -> (tensor<4xf32> {jax.result_info = "result"}) {
//  CHECK-NEXT:   return %[[X]]
func.func @main(%t: !stablehlo.token {jax.token = true}, %x: tensor<4xf32> {spmd.name = "x"})
    -> (!stablehlo.token {jax.token = true}, tensor<4xf32> {jax.result_info = "result"}) {
  return %t, %x : !stablehlo.token, tensor<4xf32>
}

// A window that is partly outside is dropped whole: behind, elements are judged one by one. Component 0 moves windows of 2
// in 6, component 1 windows of 1, which are outside or are not.
// CHECK-LABEL: func.func @windows_outside
//  CHECK-SAME:   %[[X:.*]]: tensor<6x5xf32>, %[[I:.*]]: tensor<3x2xi32>, %[[U:.*]]: tensor<3x2x1xf32>
//       CHECK:   %[[LOW:.*]] = stablehlo.constant dense<[0, -2147483648]> : tensor<2xi32>
//       CHECK:   %[[LOWS:.*]] = stablehlo.broadcast_in_dim %[[LOW]], dims = [1] : (tensor<2xi32>) -> tensor<3x2xi32>
//       CHECK:   %[[ABOVE:.*]] = stablehlo.compare GE, %[[I]], %[[LOWS]]
//       CHECK:   %[[HIGH:.*]] = stablehlo.constant dense<[4, 2147483647]> : tensor<2xi32>
//       CHECK:   %[[BELOW:.*]] = stablehlo.compare LE, %[[I]], %{{.*}}
//       CHECK:   %[[FITS:.*]] = stablehlo.and %[[ABOVE]], %[[BELOW]]
//       CHECK:   stablehlo.constant dense<[6, -2147483648]> : tensor<2xi32>
//       CHECK:   %[[J:.*]] = stablehlo.select %[[FITS]], %[[I]], %{{.*}}
//       CHECK:   "stablehlo.scatter"(%[[X]], %[[J]], %[[U]])
func.func @windows_outside(%x: tensor<6x5xf32>, %i: tensor<3x2xi32>, %u: tensor<3x2x1xf32>) -> tensor<6x5xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6x5xf32>, tensor<3x2xi32>, tensor<3x2x1xf32>) -> tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
}

// Where the program says that all fit, nothing is asked: a constant, one that is spread, what a clamp leaves.
// CHECK-LABEL: func.func @windows_inside
//   CHECK-NOT:   stablehlo.select
//       CHECK:   return
func.func @windows_inside(%x: tensor<6xf32>, %i: tensor<1xi32>, %u: tensor<2xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %c = stablehlo.constant dense<4> : tensor<i32>
  %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1xi32>
  %1 = "stablehlo.scatter"(%x, %0, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xi32>, tensor<2xf32>) -> tensor<6xf32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %j = stablehlo.clamp %z, %i, %c : (tensor<i32>, tensor<1xi32>, tensor<i32>) -> tensor<1xi32>
  %2 = "stablehlo.scatter"(%x, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xi32>, tensor<2xf32>) -> tensor<6xf32>
  return %1, %2 : tensor<6xf32>, tensor<6xf32>
}
