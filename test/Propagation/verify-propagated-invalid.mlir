// RUN: shard-opt %s --spmd-verify-propagated --split-input-file --verify-diagnostics

spmd.mesh @mesh = <["x"=2]>
// expected-error @below {{argument 0 has no sharding}}
func.func @main(%a: tensor<8xf32>) {
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) {
  // expected-error @below {{operand 0 has #spmd.sharding<@mesh, [{"x"}]>: it is cut along "x" in dim 0, but is needed whole}}
  %0 = stablehlo.negate %a {spmd.factors = [#spmd<dim_sharding{}>], spmd.shardings = [#spmd.sharding<@mesh, [{}]>]} : tensor<8xf32>
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) {
  // expected-error @below {{result 0 has #spmd.sharding<@mesh, [{"x" sizes [3, 5]}]>: it is cut into [3, 5] in dim 0, but [4, 4] is needed}}
  %0 = stablehlo.negate %a {spmd.factors = [#spmd<dim_sharding{"x"}>],
                            spmd.shardings = [#spmd.sharding<@mesh, [{"x" sizes [3, 5]}]>]} : tensor<8xf32>
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @below {{is cut twice along "x"}}
  %0 = stablehlo.negate %a {spmd.factors = [#spmd<dim_sharding{"x"}>, #spmd<dim_sharding{"x"}>],
                            spmd.shardings = [#spmd.sharding<@mesh, [{"x"}, {}]>]} : tensor<8x8xf32>
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) {
  // expected-error @below {{is left after propagation}}
  %0 = spmd.constrain %a <@mesh, [{"x"}]> : tensor<8xf32>
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>}) {
  // expected-error @below {{operand 0 has #spmd.sharding<@mesh, [{"x"}]>: it is cut along "x" in dim 0, but is needed whole}}
  return %a : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) {
  // expected-error @below {{has 2 factor shardings, but its rule has 1}}
  %0 = stablehlo.negate %a {spmd.factors = [#spmd<dim_sharding{}>, #spmd<dim_sharding{}>], spmd.shardings = [#spmd.sharding<@mesh, [{}]>]} : tensor<8xf32>
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) {
  // expected-error @below {{has 'spmd.factors', but no sharding rule}}
  %0 = stablehlo.custom_call @f(%a) {spmd.factors = [#spmd<dim_sharding{}>], spmd.shardings = [#spmd.sharding<@mesh, [{}]>]} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}], partial = {"x" = sum}>}) {
  // expected-error @below {{is partial: #spmd.sharding<@mesh, [{}], partial = {"x" = sum}>; expected a reshard before}}
  %0 = stablehlo.negate %a {spmd.factors = [#spmd<dim_sharding{}>], spmd.shardings = [#spmd.sharding<@mesh, [{}]>]} : tensor<8xf32>
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @below {{operand 0 becomes a value without a sharding}}
  return %a : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @main() {
  // expected-error @below {{'local.lookup' op is left after propagation, expected only 'spmd', 'pairs'}}
  %0 = local.lookup [4, 3] along ["x"] on @mesh
  return
}
