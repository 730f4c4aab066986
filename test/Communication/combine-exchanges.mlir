// RUN: shard-opt %s --spmd-combine-exchanges --split-input-file | FileCheck %s
// RUN: shard-opt %s --spmd-combine-exchanges --spmd-verify-communication --split-input-file

spmd.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @same_twice(
//  CHECK-SAME:   %[[X:.*]]: tensor<4xf32>
//       CHECK:   %[[ALL:.*]] = local.all_gather %[[X]]
//  CHECK-SAME:     reason "first; second"
//   CHECK-NOT:   local.all_gather
//       CHECK:   return %[[ALL]], %[[ALL]]
func.func @same_twice(%x: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32>, tensor<8xf32>) attributes {spmd.local_view} {
  %0 = local.all_gather %x [<dim 0 along ["x"] : [0:4, 4:8] -> [0:8, 0:8]>] reason "first" on @mesh
      : tensor<4xf32> -> tensor<8xf32>
  %1 = local.all_gather %x [<dim 0 along ["x"] : [0:4, 4:8] -> [0:8, 0:8]>] reason "second" on @mesh
      : tensor<4xf32> -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// A sum and a maximum of one value are two reductions.
// CHECK-LABEL: func @not_the_same(
//       CHECK:   local.all_reduce sum
//       CHECK:   local.all_reduce max
func.func @not_the_same(%x: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>})
    -> (tensor<4xf32>, tensor<4xf32>) attributes {spmd.local_view} {
  %0 = local.all_reduce sum %x along ["x"] on @mesh : tensor<4xf32>
  %1 = local.all_reduce max %x along ["x"] on @mesh : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// Neither branch dominates the other.
// CHECK-LABEL: func @one_in_each_branch(
//       CHECK:   local.all_reduce
//       CHECK:   local.all_reduce
func.func @one_in_each_branch(
    %p: tensor<i1> {spmd.sharding = #spmd.sharding<@mesh, []>},
    %x: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32>
    attributes {spmd.local_view} {
  %0 = "stablehlo.if"(%p) ({
    %1 = local.all_reduce sum %x along ["x"] on @mesh : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    %1 = local.all_reduce sum %x along ["x"] on @mesh : tensor<4xf32>
    %2 = stablehlo.add %1, %1 : tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// The carried value that the loop yields unchanged, and the fill with it; what
// changes stays.
// CHECK-LABEL: func @out_of_a_loop(
//  CHECK-SAME:   %[[N:.*]]: tensor<i32> {{.*}}, %[[C:.*]]: tensor<4xf32> {{.*}}, %[[X:.*]]: tensor<4xf32>
//       CHECK:   %[[ZERO:.*]] = stablehlo.constant dense<0.0
//       CHECK:   %[[GROWN:.*]] = local.halo_exchange %[[C]] {{.*}} fill %[[ZERO]]
//       CHECK:   stablehlo.while
//       CHECK:   do {
//   CHECK-NOT:     fill
//       CHECK:     local.all_reduce
//       CHECK:     stablehlo.slice %[[GROWN]]
func.func @out_of_a_loop(
    %n: tensor<i32> {spmd.sharding = #spmd.sharding<@mesh, []>},
    %c: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>},
    %x: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32>
    attributes {spmd.local_view} {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %start = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %start, %coefficients = %c, %state = %x) : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  cond {
    %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %grown = local.halo_exchange %coefficients [<dim 0 along ["x"] : [0:4, 4:8] -> [-1:4, 3:8]>]
        fill %zero : tensor<f32> on @mesh : tensor<4xf32> -> tensor<5xf32>
    %sum = local.all_reduce sum %state along ["x"] on @mesh : tensor<4xf32>
    %below = stablehlo.slice %grown [0:4] : (tensor<5xf32>) -> tensor<4xf32>
    %next = stablehlo.add %sum, %below : tensor<4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %coefficients, %next : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#2 : tensor<4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// Out of both loops, then once with the one before them.
// CHECK-LABEL: func @out_of_nested_loops(
//       CHECK:   local.all_reduce
//   CHECK-NOT:   local.all_reduce
func.func @out_of_nested_loops(
    %n: index, %x: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32>
    attributes {spmd.local_view} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  %before = local.all_reduce sum %x along ["x"] on @mesh : tensor<4xf32>
  %r:2 = scf.for %i = %zero to %ten step %one iter_args(%a = %before, %same = %x) -> (tensor<4xf32>, tensor<4xf32>) {
    %s:2 = scf.for %j = %zero to %ten step %one iter_args(%b = %a, %again = %same) -> (tensor<4xf32>, tensor<4xf32>) {
      %sum = local.all_reduce sum %again along ["x"] on @mesh : tensor<4xf32>
      %next = arith.addf %b, %sum : tensor<4xf32>
      scf.yield %next, %again : tensor<4xf32>, tensor<4xf32>
    }
    scf.yield %s#0, %same : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// Values that change places in each iteration are not the same in all.
// CHECK-LABEL: func @swapped_stays(
//       CHECK:   scf.for
//       CHECK:     local.all_reduce
func.func @swapped_stays(
    %x: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>},
    %y: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32>
    attributes {spmd.local_view} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  %r:3 = scf.for %i = %zero to %ten step %one iter_args(%a = %x, %b = %y, %t = %x)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %sum = local.all_reduce sum %a along ["x"] on @mesh : tensor<4xf32>
    %next = arith.addf %t, %sum : tensor<4xf32>
    scf.yield %b, %a, %next : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#2 : tensor<4xf32>
}
