// RUN: shard-opt %s --split-input-file --verify-diagnostics
// What stages say of functions, values and meshes, and what is no such word.

// expected-error@+1 {{argument 0 has '"x"', expected a #spmd.sharding}}
func.func @other_attribute(%a: tensor<8xf32> {spmd.sharding = "x"}) {
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
// expected-error@+1 {{argument 0 has a sharding, but its type 'i32' has no dims}}
func.func @no_dims(%a: i32 {spmd.sharding = #spmd.sharding<@mesh, []>}) {
  return
}

// -----

func.func @factors(%a: tensor<8xf32>) {
  // expected-error@+1 {{'spmd.factors' is [1], expected a list of #spmd.dim_sharding}}
  %0 = stablehlo.add %a, %a {spmd.factors = [1]} : tensor<8xf32>
  return
}

// -----

func.func @local(%a: tensor<8xf32>) {
  // expected-error@+1 {{'spmd.local_view' is an attribute of functions}}
  %0 = stablehlo.add %a, %a {spmd.local_view} : tensor<8xf32>
  return
}

// -----

// expected-error@+1 {{'spmd.local_view' is 1 : i32, expected no value}}
func.func @local_value() attributes {spmd.local_view = 1 : i32} {
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
// expected-error@+1 {{unknown reduction 'mean', expected sum, product, min, max, and, or, xor}}
func.func @reduction(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}], partial={"x"=mean}>}) {
  return
}

// -----

func.func @padding(%a: tensor<2x6xf32>, %fill: tensor<f32>) {
  // expected-error@+1 {{expected wrap, edge, reflect or symmetric, got 'mirror'}}
  %0 = local.halo_exchange %a [<dim 0 along ["x"] : [0:2, 2:4] -> [-1:2, 1:4] mirror>] fill %fill : tensor<f32> on @mesh : tensor<2x6xf32> -> tensor<3x6xf32>
  return
}

// -----

func.func @negative_dim(%a: tensor<2x6xf32>) {
  // expected-error@+1 {{exchange has negative dim -1}}
  %0 = local.all_gather %a [<dim -1 along ["x"] : [0:2, 2:4] -> [0:4, 0:4]>] on @mesh : tensor<2x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @no_mesh(%a: tensor<4x6xf32>) {
  // expected-error@+1 {{names unknown mesh @nowhere}}
  %0 = local.all_reduce sum %a along ["x"] on @nowhere : tensor<4x6xf32>
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @no_axis(%a: tensor<4x6xf32>) {
  // expected-error@+1 {{names axis "z", but mesh @mesh is}}
  %0 = local.all_reduce sum %a along ["z"] on @mesh : tensor<4x6xf32>
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @axis_twice(%a: tensor<4x6xf32>) {
  // expected-error@+1 {{names axis "x" twice}}
  %0 = local.all_reduce sum %a along ["x", "x"] on @mesh : tensor<4x6xf32>
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @other_elements(%a: tensor<2x6xf32>) {
  // expected-error@+1 {{has input 'tensor<2x6xf32>' and result 'tensor<4x6xi32>', expected the same element type and number of dims}}
  %0 = local.all_gather %a [<dim 0 along ["x"] : [0:2, 2:4] -> [0:4, 0:4]>] on @mesh : tensor<2x6xf32> -> tensor<4x6xi32>
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @row_mesh(%indices: tensor<4x1xi32>) {
  // expected-error@+1 {{names unknown mesh @nowhere}}
  %0 = local.row_plan %indices vector 1 components [0] slices [1]
      rows [<dim 0 along ["x"] : [0:50, 50:100] -> [0:1, 0:1]>] batch [] on @nowhere : tensor<4x1xi32>
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @row_axis(%indices: tensor<4x1xi32>) {
  // expected-error@+1 {{names axis "z", but mesh @mesh is}}
  %0 = local.row_plan %indices vector 1 components [0] slices [1]
      rows [<dim 0 along ["z"] : [0:50, 50:100] -> [0:1, 0:1]>] batch [] on @mesh : tensor<4x1xi32>
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @row_order(%indices: tensor<4x2xi32>) {
  // expected-error@+1 {{lists addressed dim 1 at place 0, expected all of them in order}}
  %0 = local.row_plan %indices vector 1 components [0, 1] slices [1, 1]
      rows [<dim 1 along ["x"] : [0:50, 50:100] -> [0:1, 0:1]>, <dim 0 along [] : [0:50] -> [0:1]>] batch [] on @mesh : tensor<4x2xi32>
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @row_vectors(%indices: tensor<4x?xi32>) {
  // expected-error@+1 {{has index vectors in dim 1 of 'tensor<4x?xi32>', expected a static dim, or the number of dims}}
  %0 = local.row_plan %indices vector 1 components [0] slices [1]
      rows [<dim 0 along ["x"] : [0:50, 50:100] -> [0:1, 0:1]>] batch [] on @mesh : tensor<4x?xi32>
  return
}
