// RUN: shard-opt %s --split-input-file --verify-diagnostics --spmd-partition-to-local

// expected-error@+1 {{module has no spmd.mesh; run --spmd-import, which adds an empty one}}
module {
  func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}

// -----

spmd.mesh @mesh = <["x"=2]>
// expected-error@+1 {{argument 0 has no sharding; run --spmd-propagate first}}
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
// expected-error@+1 {{unsupported: argument 0 has sizes known only when the program runs; give them with --sizes}}
func.func @main(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes dynamic}]>}) {
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) {
  // expected-error@+1 {{has 'spmd.factors' with 2 factors, but its sharding rule has 1}}
  %0 = stablehlo.negate %a {spmd.factors = [#spmd<dim_sharding{"x"}>, #spmd<dim_sharding{}>], spmd.shardings = [#spmd.sharding<@mesh, [{"x"}]>]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) {
  // expected-error@+1 {{cuts a factor along "z", which mesh @mesh has not}}
  %0 = stablehlo.negate %a {spmd.factors = [#spmd<dim_sharding{"z"}>], spmd.shardings = [#spmd.sharding<@mesh, [{"x"}]>]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>}) {
  // expected-error@+1 {{became 'tensor<4xf32>' on a rank, expected 'tensor<8xf32>'}}
  %0 = stablehlo.negate %a {spmd.factors = [#spmd<dim_sharding{"x"}>], spmd.shardings = [#spmd.sharding<@mesh, [{}]>]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
