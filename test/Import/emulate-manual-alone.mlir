// RUN: shard-opt %s --spmd-emulate-manual --split-input-file | FileCheck %s
// The pass alone: a rank does what the ranks of a manual region do, for each of its coordinates.

#rows = #spmd.sharding<@mesh, [{"x"} ]>
#whole = #spmd.sharding<@mesh, [{} ]>
spmd.mesh @mesh = <["x"=3]>
// A sum over all ranks is a sum of the three blocks, once.
// CHECK-LABEL: func.func @sum
// CHECK-SAME: (%[[X:.*]]: tensor<6xf32>)
// CHECK-DAG: %[[A:.*]] = stablehlo.slice %[[X]] [0:2]
// CHECK-DAG: %[[B:.*]] = stablehlo.slice %[[X]] [2:4]
// CHECK-DAG: %[[C:.*]] = stablehlo.slice %[[X]] [4:6]
// CHECK: %[[AB:.*]] = stablehlo.add %[[A]], %[[B]]
// CHECK: %[[ABC:.*]] = stablehlo.add %[[AB]], %[[C]]
// CHECK-NOT: stablehlo.add
// CHECK-NOT: spmd.manual
// CHECK: return %[[ABC]]
func.func @sum(%x: tensor<6xf32>) -> tensor<2xf32> {
  %0 = spmd.manual(%x) in [#rows] out [#whole] along ["x"] {
  ^bb0(%block: tensor<2xf32>):
    %1 = "stablehlo.all_reduce"(%block) <{replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %2 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    spmd.return %1 : tensor<2xf32>
  } : (tensor<6xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

#rows = #spmd.sharding<@mesh, [{"x"} ]>
spmd.mesh @mesh = <["x"=2]>
// Who receives nothing has zeros.
// CHECK-LABEL: func.func @shift
// CHECK-SAME: (%[[X:.*]]: tensor<8xf32>)
// CHECK-DAG: %[[FIRST:.*]] = stablehlo.slice %[[X]] [0:4]
// CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant {{.*}}dense<0.000000e+00> : tensor<4xf32>
// CHECK: %[[BOTH:.*]] = stablehlo.concatenate %[[ZERO]], %[[FIRST]], dim = 0
// CHECK: return %[[BOTH]]
func.func @shift(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = spmd.manual(%x) in [#rows] out [#rows] along ["x"] {
  ^bb0(%block: tensor<4xf32>):
    %1 = "stablehlo.collective_permute"(%block) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    spmd.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
