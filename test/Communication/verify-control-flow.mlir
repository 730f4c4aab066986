// RUN: shard-opt %s --spmd-verify-control-flow --split-input-file | FileCheck %s
// Programs in which no rank waits for another that never comes.

spmd.mesh @mesh = <["x"=2, "y"=2]>

// The trip count is the same everywhere, whatever the shards hold.
// CHECK-LABEL: func @counted_loop
func.func @counted_loop(
    %n: tensor<i32> {spmd.sharding = #spmd.sharding<@mesh, []>},
    %x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32>
    attributes {spmd.local_view} {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %start = stablehlo.constant dense<0> : tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r:2 = stablehlo.while(%i = %start, %state = %x) : tensor<i32>, tensor<8xf32>
  cond {
    %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %grown = local.halo_exchange %state [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>]
        fill %zero : tensor<f32> on @mesh : tensor<8xf32> -> tensor<10xf32>
    %next = stablehlo.slice %grown [0:8] : (tensor<10xf32>) -> tensor<8xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next : tensor<i32>, tensor<8xf32>
  }
  return %r#1 : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2, "y"=2]>

// The residual of each rank is combined first, so that all stop together.
// CHECK-LABEL: func @reduced_condition
func.func @reduced_condition(
    %x: tensor<f32> {spmd.sharding = #spmd.sharding<@mesh, [], partial = {"x" = sum, "y" = sum}>}) -> tensor<f32>
    attributes {spmd.local_view} {
  %r = stablehlo.while(%state = %x) : tensor<f32>
  cond {
    %limit = stablehlo.constant dense<1.0> : tensor<f32>
    %residual = local.all_reduce max %state along ["x", "y"] on @mesh : tensor<f32>
    %more = stablehlo.compare GT, %residual, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %residual = local.all_reduce max %state along ["x", "y"] on @mesh : tensor<f32>
    %next = stablehlo.divide %state, %residual : tensor<f32>
    stablehlo.return %next : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

spmd.mesh @mesh = <["x"=2, "y"=2]>

// Ranks part ways along "y", and communicate along "x" alone.
// CHECK-LABEL: func @branch_along_another_axis
func.func @branch_along_another_axis(
    %x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32>
    attributes {spmd.local_view} {
  %zero = arith.constant 0 : index
  %row = local.lookup [0, 1] along ["y"] on @mesh
  %first = arith.cmpi eq, %row, %zero : index
  %r = scf.if %first -> tensor<8xf32> {
    %sum = local.all_reduce sum %x along ["x"] on @mesh : tensor<8xf32>
    scf.yield %sum : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2, "y"=2]>

// Gathered along "x", the condition no longer differs along it.
// CHECK-LABEL: func @gathered_condition
func.func @gathered_condition(
    %flags: tensor<1xi1> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>},
    %x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32>
    attributes {spmd.local_view} {
  %all = local.all_gather %flags [<dim 0 along ["x"] : [0:1, 1:2] -> [0:2, 0:2]>] on @mesh
      : tensor<1xi1> -> tensor<2xi1>
  %one = stablehlo.slice %all [1:2] : (tensor<2xi1>) -> tensor<1xi1>
  %p = stablehlo.reshape %one : (tensor<1xi1>) -> tensor<i1>
  %r = "stablehlo.if"(%p) ({
    %sum = local.all_reduce sum %x along ["x"] on @mesh : tensor<8xf32>
    stablehlo.return %sum : tensor<8xf32>
  }, {
    stablehlo.return %x : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2, "y"=2]>

// Elements differ along "y", the number of rows does not.
// CHECK-LABEL: func @size_of_cut_rows
func.func @size_of_cut_rows(
    %rows: tensor<?x3xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [3, 2]}, {"y"}]>},
    %y: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32>
    attributes {spmd.local_view} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %more = stablehlo.add %rows, %rows : tensor<?x3xf32>
  %size = tensor.dim %more, %c0 : tensor<?x3xf32>
  %many = arith.cmpi sgt, %size, %c2 : index
  %p = tensor.from_elements %many : tensor<i1>
  %r = "stablehlo.if"(%p) ({
    %sum = local.all_reduce sum %y along ["y"] on @mesh : tensor<8xf32>
    stablehlo.return %sum : tensor<8xf32>
  }, {
    stablehlo.return %y : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2, "y"=2]>

// The same of sizes that are left open.
// CHECK-LABEL: func @open_size_of_cut_rows
func.func @open_size_of_cut_rows(
    %rows: tensor<?x3xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {"y"}]>},
    %y: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32>
    attributes {spmd.local_view} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %more = stablehlo.add %rows, %rows : tensor<?x3xf32>
  %size = tensor.dim %more, %c0 : tensor<?x3xf32>
  %many = arith.cmpi sgt, %size, %c2 : index
  %p = tensor.from_elements %many : tensor<i1>
  %r = "stablehlo.if"(%p) ({
    %sum = local.all_reduce sum %y along ["y"] on @mesh : tensor<8xf32>
    stablehlo.return %sum : tensor<8xf32>
  }, {
    stablehlo.return %y : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @call_everywhere
func.func @call_everywhere(%x: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32>
    attributes {spmd.local_view} {
  %0 = call @sum(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @sum(%x: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32>
    attributes {spmd.local_view} {
  %0 = local.all_reduce sum %x along ["x"] on @mesh : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2, "y"=2]>

// The sum that the condition comes from travels beside rows that differ along
// "x". What is the same along "x" is known before they travel together.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(spmd-verify-control-flow,func.func(spmd-bucket-reductions),spmd-verify-communication)' | FileCheck %s --check-prefix=TOGETHER
// TOGETHER-LABEL: func @condition_beside_rows
// TOGETHER: stablehlo.concatenate
// TOGETHER: local.all_reduce sum %{{.*}} along ["y"]
// TOGETHER: "stablehlo.if"
// CHECK-LABEL: func @condition_beside_rows
func.func @condition_beside_rows(
    %part: tensor<f32> {spmd.sharding = #spmd.sharding<@mesh, [], partial = {"y" = sum}>},
    %rows: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}], partial = {"y" = sum}>}) -> tensor<4xf32>
    attributes {spmd.local_view} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %all = local.all_reduce sum %part along ["y"] on @mesh : tensor<f32>
  %whole = local.all_reduce sum %rows along ["y"] on @mesh : tensor<4xf32>
  %p = stablehlo.compare GT, %all, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %r = "stablehlo.if"(%p) ({
    %sum = local.all_reduce sum %whole along ["x"] on @mesh : tensor<4xf32>
    stablehlo.return %sum : tensor<4xf32>
  }, {
    stablehlo.return %whole : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
