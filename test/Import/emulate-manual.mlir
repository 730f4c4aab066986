// RUN: shard-opt %s --spmd-import="unsharded=true" --split-input-file | FileCheck %s

// Blocks, one for each rank of the region; what is equal in all lanes is there once.
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[X:[^:]*]]: tensor<4x6xf32>
//   CHECK-NOT:   {{spmd|local|pairs|kernel}}
//   CHECK-DAG:   %[[C:.*]] = stablehlo.constant dense<1.000000e+00>
//   CHECK-DAG:   %[[A:.*]] = stablehlo.slice %[[X]] [0:2, 0:6]
//   CHECK-DAG:   %[[B:.*]] = stablehlo.slice %[[X]] [2:4, 0:6]
//   CHECK-DAG:   %[[P:.*]] = stablehlo.add %[[A]], %[[C]]
//   CHECK-DAG:   %[[Q:.*]] = stablehlo.add %[[B]], %[[C]]
//       CHECK:   stablehlo.concatenate %[[Q]], %[[P]], dim = 0
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%y: tensor<2x6xf32>) {
    %c = stablehlo.constant dense<1.0> : tensor<2x6xf32>
    %1 = stablehlo.add %y, %c : tensor<2x6xf32>
    %2 = "stablehlo.collective_permute"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2x6xf32>) -> tensor<2x6xf32>
    sdy.return %2 : tensor<2x6xf32>
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// A loop that communicates runs in all lanes at once; each keeps what it had when its own condition fails.
// CHECK-LABEL: func.func @main(
//       CHECK:   %[[LOOP:.*]]:4 = stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
//       CHECK:     stablehlo.or
//       CHECK:   do {
// CHECK-COUNT-4:  stablehlo.select
//       CHECK:   stablehlo.concatenate %[[LOOP]]#1, %[[LOOP]]#3, dim = 0
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%y: tensor<2xf32>) {
    %i = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %n = stablehlo.constant dense<3> : tensor<i32>
    %1:2 = stablehlo.while(%k = %i, %v = %y) : tensor<i32>, tensor<2xf32>
    cond {
      %2 = stablehlo.compare LT, %k, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = "stablehlo.collective_permute"(%v) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
      %3 = stablehlo.add %k, %one : tensor<i32>
      stablehlo.return %3, %2 : tensor<i32>, tensor<2xf32>
    }
    sdy.return %1#1 : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
