// RUN: shard-opt %s --spmd-split-exchanges --spmd-verify-communication | FileCheck %s
// An exchange with work around it becomes two halves; one without stays whole.

spmd.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @work_before_the_reader(
//  CHECK-SAME:   %[[X:[a-z0-9]*]]: tensor<8x4xf32>
//       CHECK:   %[[T:.*]] = spmd.exchange_start %[[X]] : tensor<8x4xf32>
//       CHECK:   %[[Y:.*]] = stablehlo.tanh %[[X]]
//       CHECK:   %[[H:.*]] = spmd.exchange_wait %[[T]] of %[[X]] "halo_exchange" [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill
//       CHECK:   stablehlo.negate %[[H]]
func.func @work_before_the_reader(%x: tensor<8x4xf32>, %zero: tensor<f32>) -> (tensor<8x4xf32>, tensor<10x4xf32>) attributes {spmd.local_view} {
  %h = spmd.halo_exchange %x [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %zero : tensor<f32> on @mesh : tensor<8x4xf32> -> tensor<10x4xf32>
  %y = stablehlo.tanh %x : tensor<8x4xf32>
  %n = stablehlo.negate %h : tensor<10x4xf32>
  return %y, %n : tensor<8x4xf32>, tensor<10x4xf32>
}

// CHECK-LABEL: func @nothing_between(
//   CHECK-NOT:   spmd.exchange_start
//       CHECK:   spmd.halo_exchange
func.func @nothing_between(%x: tensor<8x4xf32>, %zero: tensor<f32>) -> tensor<10x4xf32> attributes {spmd.local_view} {
  %h = spmd.halo_exchange %x [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %zero : tensor<f32> on @mesh : tensor<8x4xf32> -> tensor<10x4xf32>
  %n = stablehlo.negate %h : tensor<10x4xf32>
  return %n : tensor<10x4xf32>
}
