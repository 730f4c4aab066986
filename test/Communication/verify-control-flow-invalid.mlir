// RUN: shard-opt %s --spmd-verify-control-flow --split-input-file --verify-diagnostics

spmd.mesh @mesh = <["x"=2, "y"=2]>

func.func @each_rank_stops_alone(
    // expected-note @+1 {{the difference along "x" comes from here}}
    %x: tensor<f32> {spmd.sharding = #spmd.sharding<@mesh, [], partial = {"x" = sum}>}) -> tensor<f32>
    attributes {spmd.local_view} {
  %limit = stablehlo.constant dense<1.0> : tensor<f32>
  %r = stablehlo.while(%state = %x) : tensor<f32>
  cond {
    // expected-note @+1 {{make this condition the same on all ranks, for example by an 'local.all_reduce' along "x", or move the communication out}}
    %more = stablehlo.compare GT, %state, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    // expected-error @+1 {{communicates along "x" inside 'stablehlo.while', whose condition may differ along "x": some ranks of a group would wait for others that never come}}
    %sum = local.all_reduce sum %state along ["x"] on @mesh : tensor<f32>
    %next = stablehlo.subtract %state, %sum : tensor<f32>
    stablehlo.return %next : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

spmd.mesh @mesh = <["x"=2, "y"=2]>

func.func @only_the_first_rank(
    %x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32>
    attributes {spmd.local_view} {
  %zero = arith.constant 0 : index
  // expected-note @+1 {{the difference along "x" comes from here}}
  %place = local.lookup [0, 1] along ["x"] on @mesh
  // expected-note @+1 {{make this condition the same on all ranks}}
  %first = arith.cmpi eq, %place, %zero : index
  %r = scf.if %first -> tensor<8xf32> {
    // expected-error @+1 {{communicates along "x" inside 'scf.if', whose condition may differ along "x"}}
    %sum = local.all_reduce sum %x along ["x", "y"] on @mesh : tensor<8xf32>
    scf.yield %sum : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2, "y"=2]>

func.func @only_where_a_binding_says(
    %x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32>
    attributes {spmd.local_view} {
  %zero = arith.constant 0 : index
  // expected-note @+1 {{the difference along "x" comes from here}}
  %place = local.lookup [4, 4] along ["x"] on @mesh by <size (#spmd.formula<shards [0] (#spmd.formula<given [0, 0, 8]>)>)>
  // expected-note @+1 {{make this condition the same on all ranks}}
  %first = arith.cmpi eq, %place, %zero : index
  %r = scf.if %first -> tensor<8xf32> {
    // expected-error @+1 {{communicates along "x" inside 'scf.if', whose condition may differ along "x"}}
    %sum = local.all_reduce sum %x along ["x", "y"] on @mesh : tensor<8xf32>
    scf.yield %sum : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// A rank's own trip count decides through a value that the loop carries.
func.func @trip_count_decides(
    %x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32>
    attributes {spmd.local_view} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %true = arith.constant true
  %false = arith.constant false
  // expected-note @+1 {{the difference along "x" comes from here}}
  %count = local.lookup [0, 1] along ["x"] on @mesh
  // expected-note @+1 {{make this condition the same on all ranks}}
  %any = scf.for %i = %zero to %count step %one iter_args(%a = %false) -> i1 {
    scf.yield %true : i1
  }
  %r = scf.if %any -> tensor<8xf32> {
    // expected-error @+1 {{communicates along "x" inside 'scf.if'}}
    %sum = local.all_reduce sum %x along ["x"] on @mesh : tensor<8xf32>
    scf.yield %sum : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

func.func @unknown_argument(
    // expected-note @+2 {{the difference along "x" comes from here: argument 0 has no 'spmd.sharding', so each rank may have its own}}
    // expected-note @+1 {{make this condition the same on all ranks}}
    %p: tensor<i1>,
    %x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32>
    attributes {spmd.local_view} {
  %r = "stablehlo.if"(%p) ({
    // expected-error @+1 {{communicates along "x" inside 'stablehlo.if'}}
    %sum = local.all_reduce sum %x along ["x"] on @mesh : tensor<8xf32>
    stablehlo.return %sum : tensor<8xf32>
  }, {
    stablehlo.return %x : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

func.func private @sum(%x: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32>
    attributes {spmd.local_view} {
  %0 = local.all_reduce sum %x along ["x"] on @mesh : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @call_on_one_rank(
    // expected-note @+2 {{the difference along "x" comes from here}}
    // expected-note @+1 {{make this condition the same on all ranks}}
    %p: tensor<i32> {spmd.sharding = #spmd.sharding<@mesh, [], partial = {"x" = max}>},
    %x: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32>
    attributes {spmd.local_view} {
  %r = "stablehlo.case"(%p) ({
    // expected-error @+1 {{communicates along "x" inside 'stablehlo.case'}}
    %0 = func.call @sum(%x) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %0 : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

func.func @in_no_order(%x: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>})
    attributes {spmd.local_view} {
  scf.forall (%i) in (2) {
    // expected-error @+1 {{communicates inside 'scf.forall', which does not say in what order ranks reach it; move it out}}
    %sum = local.all_reduce sum %x along ["x"] on @mesh : tensor<4xf32>
  }
  return
}

// -----

spmd.mesh @mesh = <["x"=2, "y"=2]>

func.func @size_that_differs(
    // expected-note @+1 {{the difference along "x" comes from here}}
    %rows: tensor<?x3xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [3, 2]}, {"y"}]>},
    %x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32>
    attributes {spmd.local_view} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %size = tensor.dim %rows, %c0 : tensor<?x3xf32>
  %many = arith.cmpi sgt, %size, %c2 : index
  // expected-note @+1 {{make this condition the same on all ranks}}
  %p = tensor.from_elements %many : tensor<i1>
  %r = "stablehlo.if"(%p) ({
    // expected-error @+1 {{communicates along "x" inside 'stablehlo.if'}}
    %sum = local.all_reduce sum %x along ["x"] on @mesh : tensor<8xf32>
    stablehlo.return %sum : tensor<8xf32>
  }, {
    stablehlo.return %x : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @other_block(%x: tensor<8x4xf32>, %p: tensor<i1>, %zero: tensor<f32>) -> tensor<10x4xf32> attributes {spmd.local_view} {
  %t = local.exchange_start %x : tensor<8x4xf32>
  %r = scf.execute_region -> tensor<10x4xf32> {
    // expected-error@+1 {{communicates inside 'scf.execute_region', which does not say in what order ranks reach it}}
    %h = local.exchange_wait %t of %x "halo_exchange" [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %zero : tensor<f32> on @mesh : tensor<8x4xf32> -> tensor<10x4xf32>
    scf.yield %h : tensor<10x4xf32>
  }
  return %r : tensor<10x4xf32>
}
