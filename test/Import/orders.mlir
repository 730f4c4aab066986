// RUN: shard-opt %s --spmd-import | FileCheck %s
// RUN: shard-opt %s --spmd-import --spmd-raise --spmd-propagate | FileCheck %s --check-prefix=DEALT

// Shardy's text says how blocks are dealt out by an attribute beside the sharding: of arguments, results, and constraints, there also as JAX's frontend
// attributes say it.
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[X:[^ ]*]]: tensor<16x4xf32> {{[^%]*}}spmd.sharding = #spmd.sharding<@mesh, [{"x" order zigzag}, {}]>
//  CHECK-SAME:   %[[Y:[^ ]*]]: tensor<16x4xf32>)
//  CHECK-SAME:   -> (tensor<16x4xf32> {{.*}}spmd.sharding = #spmd.sharding<@mesh, [{"x" order zigzag}, {}]>
//   CHECK-NOT:   spmd.order
//       CHECK:   spmd.constrain %[[Y]] <@mesh, [{"x" order zigzag}, {}]>
// DEALT-LABEL: func.func @main(
//       DEALT:   spmd.deal %
//       DEALT:   spmd.deal %
sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, spmd.order = "0=zigzag"}, %y: tensor<16x4xf32>)
    -> (tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, spmd.order = "0=zigzag"}) {
  %z = sdy.sharding_constraint %y <@mesh, [{"x"}, {}]> {mhlo.frontend_attributes = {spmd.order = "0=zigzag"}} : tensor<16x4xf32>
  %sum = stablehlo.add %x, %z : tensor<16x4xf32>
  return %sum : tensor<16x4xf32>
}
