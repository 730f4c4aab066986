// RUN: shard-run %s --check --rtol=0 --atol=0
// RUN: shard-opt %s --spmd-import --spmd-propagate --spmd-partition | FileCheck %s
// Elsewhere (jax 26946) a constraint on a dim that the axis does not divide was dropped without a word.
// CHECK: tensor<?xf32> {{.*}}spmd.global_type = tensor<7xf32>
spmd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<7xf32>) -> tensor<7xf32> {
  %0 = stablehlo.negate %a : tensor<7xf32>
  %1 = spmd.constrain %0 <@mesh, [{"x"}]> : tensor<7xf32>
  %2 = stablehlo.abs %1 : tensor<7xf32>
  return %2 : tensor<7xf32>
}
