// RUN: shard-opt %s --spmd-propagate | FileCheck %s
// Where a few rows lie says nothing about the many that they are put beside (each level of an associative scan does that).

// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg1: tensor<15x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [3, 4, 4, 4]}, {}]>}
// CHECK: stablehlo.concatenate {{.*}}spmd.shardings = [#spmd.sharding<@mesh, [{"x"}, {}]>]
spmd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<32x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<15x6xf32>) -> tensor<16x6xf32> {
  %row = stablehlo.slice %a [0:1, 0:6] : (tensor<32x6xf32>) -> tensor<1x6xf32>
  %all = stablehlo.concatenate %row, %b, dim = 0 : (tensor<1x6xf32>, tensor<15x6xf32>) -> tensor<16x6xf32>
  return %all : tensor<16x6xf32>
}
