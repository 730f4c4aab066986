// RUN: shard-opt %s --split-input-file --verify-diagnostics
spmd.mesh @mesh = <["x"=2]>
func.func @component(%indices: tensor<4x1xi32>) -> i64 {
  // expected-error@+1 {{takes component 1 for dim 0, but index vectors of 'tensor<4x1xi32>' have 1}}
  %0 = local.row_plan %indices vector 1 components [1] slices [1]
      rows [<dim 0 along ["x"] : [0:50, 50:100] -> [0:1, 0:1]>] batch [] on @mesh : tensor<4x1xi32>
  return %0 : i64
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @floats(%indices: tensor<4x1xf32>) -> i64 {
  // expected-error@+1 {{has indices of type 'tensor<4x1xf32>', expected integers}}
  %0 = local.row_plan %indices vector 1 components [0] slices [1]
      rows [<dim 0 along ["x"] : [0:50, 50:100] -> [0:1, 0:1]>] batch [] on @mesh : tensor<4x1xf32>
  return %0 : i64
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @entries(%indices: tensor<4x1xi32>) -> i64 {
  // expected-error@+1 {{has 3 intervals for dim 0 of the addressed dims, but there are 2 coordinates along its axes}}
  %0 = local.row_plan %indices vector 1 components [0] slices [1]
      rows [<dim 0 along ["x"] : [0:50, 50:100, 100:101] -> [0:1, 0:1, 0:1]>] batch [] on @mesh : tensor<4x1xi32>
  return %0 : i64
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @dims(%table: tensor<50x16xf32>, %indices: tensor<4x1xi32>) -> tensor<4xf32> {
  %plan = local.row_plan %indices vector 1 components [0] slices [1]
      rows [<dim 0 along ["x"] : [0:50, 50:100] -> [0:1, 0:1]>] batch [] on @mesh : tensor<4x1xi32>
  // expected-error@+1 {{expected 2 dims: those around, 1 of the plan's indices and 0 of its slices of more than one row}}
  %0 = local.gather_rows %plan of %table first 0 [<dim 0 along ["x"] : [0:50, 50:100] -> [0:50, 50:100]>]
      on @mesh : tensor<50x16xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @plan(%table: tensor<50x16xf32>, %plan: i64) -> tensor<4x16xf32> {
  // expected-error@+1 {{has a plan that no 'local.row_plan' makes}}
  %0 = local.gather_rows %plan of %table first 0 [] on @mesh : tensor<50x16xf32> -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @twice(%table: tensor<50x16xf32>, %indices: tensor<4x1xi32>) -> tensor<4x16xf32> {
  %plan = local.row_plan %indices vector 1 components [0] slices [1]
      rows [<dim 0 along ["x"] : [0:50, 50:100] -> [0:1, 0:1]>] batch [] on @mesh : tensor<4x1xi32>
  // expected-error@+1 {{lists dim 0 of the operand, which has 2 dims, each listed once at most}}
  %0 = local.gather_rows %plan of %table first 0
      [<dim 0 along ["x"] : [0:50, 50:100] -> [0:50, 50:100]>, <dim 0 along ["x"] : [0:50, 50:100] -> [0:50, 50:100]>]
      on @mesh : tensor<50x16xf32> -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
