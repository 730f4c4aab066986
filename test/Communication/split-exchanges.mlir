// RUN: shard-opt %s --split-input-file --spmd-split-exchanges --spmd-verify-communication | FileCheck %s
// An exchange with work around it becomes two halves; one without stays whole.

spmd.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @work_before_the_reader(
//  CHECK-SAME:   %[[X:[a-z0-9]*]]: tensor<8x4xf32>
//       CHECK:   %[[T:.*]] = local.exchange_start %[[X]] : tensor<8x4xf32>
//       CHECK:   %[[Y:.*]] = stablehlo.tanh %[[X]]
//       CHECK:   %[[H:.*]] = local.exchange_wait %[[T]] of %[[X]] "halo_exchange" [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill
//       CHECK:   stablehlo.negate %[[H]]
func.func @work_before_the_reader(%x: tensor<8x4xf32>, %zero: tensor<f32>) -> (tensor<8x4xf32>, tensor<10x4xf32>) attributes {spmd.local_view} {
  %h = local.halo_exchange %x [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %zero : tensor<f32> on @mesh : tensor<8x4xf32> -> tensor<10x4xf32>
  %y = stablehlo.tanh %x : tensor<8x4xf32>
  %n = stablehlo.negate %h : tensor<10x4xf32>
  return %y, %n : tensor<8x4xf32>, tensor<10x4xf32>
}

// CHECK-LABEL: func @nothing_between(
//   CHECK-NOT:   local.exchange_start
//       CHECK:   local.halo_exchange
func.func @nothing_between(%x: tensor<8x4xf32>, %zero: tensor<f32>) -> tensor<10x4xf32> attributes {spmd.local_view} {
  %h = local.halo_exchange %x [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %zero : tensor<f32> on @mesh : tensor<8x4xf32> -> tensor<10x4xf32>
  %n = stablehlo.negate %h : tensor<10x4xf32>
  return %n : tensor<10x4xf32>
}

// -----

spmd.mesh @mesh = <["x"=6]>

// Of five only four are under way at once: the last one starts when the first is done with.
// CHECK-LABEL: func @one_after_another(
// CHECK-COUNT-4: local.exchange_start %arg1
//         CHECK: local.exchange_wait
//    CHECK-NEXT: local.exchange_start %arg1
// CHECK-COUNT-4: local.exchange_wait
func.func @one_after_another(%a: tensor<8x4xf32>, %b: tensor<4x4xf32>) -> tensor<8x4xf32> attributes {spmd.local_view} {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %b1 = local.rebalance %b [<dim 0 along ["x"] : [0:4, 4:8, 8:12, 12:16, 16:20, 20:24] -> [4:8, 8:12, 12:16, 16:20, 20:24, 0:4]>] on @mesh : tensor<4x4xf32> -> tensor<4x4xf32>
  %1 = stablehlo.dot_general %0, %b1, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %b2 = local.rebalance %b [<dim 0 along ["x"] : [0:4, 4:8, 8:12, 12:16, 16:20, 20:24] -> [8:12, 12:16, 16:20, 20:24, 0:4, 4:8]>] on @mesh : tensor<4x4xf32> -> tensor<4x4xf32>
  %2 = stablehlo.dot_general %1, %b2, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %b3 = local.rebalance %b [<dim 0 along ["x"] : [0:4, 4:8, 8:12, 12:16, 16:20, 20:24] -> [12:16, 16:20, 20:24, 0:4, 4:8, 8:12]>] on @mesh : tensor<4x4xf32> -> tensor<4x4xf32>
  %3 = stablehlo.dot_general %2, %b3, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %b4 = local.rebalance %b [<dim 0 along ["x"] : [0:4, 4:8, 8:12, 12:16, 16:20, 20:24] -> [16:20, 20:24, 0:4, 4:8, 8:12, 12:16]>] on @mesh : tensor<4x4xf32> -> tensor<4x4xf32>
  %4 = stablehlo.dot_general %3, %b4, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %b5 = local.rebalance %b [<dim 0 along ["x"] : [0:4, 4:8, 8:12, 12:16, 16:20, 20:24] -> [20:24, 0:4, 4:8, 8:12, 12:16, 16:20]>] on @mesh : tensor<4x4xf32> -> tensor<4x4xf32>
  %5 = stablehlo.dot_general %4, %b5, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %5 : tensor<8x4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// What the exchange alone needs is made when its operands are there, not where it was written; what others read as well stays.
// CHECK-LABEL: func @source_made_early(
//  CHECK-SAME:   %[[A:[a-z0-9]*]]: tensor<8x8xf32>
//       CHECK:   %[[P:.*]] = stablehlo.dot_general %[[A]], %[[A]]
//  CHECK-NEXT:   %[[N:.*]] = stablehlo.negate %[[P]]
//  CHECK-NEXT:   %[[S:.*]] = stablehlo.tanh %[[N]]
//  CHECK-NEXT:   %[[T:.*]] = local.exchange_start %[[S]]
//  CHECK-NEXT:   %[[Q:.*]] = stablehlo.dot_general %[[P]], %[[A]]
//  CHECK-NEXT:   %[[C:.*]] = stablehlo.cosine %[[Q]]
//  CHECK-NEXT:   %[[U:.*]] = local.exchange_start %[[C]]
//  CHECK-NEXT:   %[[H:.*]] = local.exchange_wait %[[T]] of %[[S]]
//  CHECK-NEXT:   stablehlo.sine %[[H]]
//  CHECK-NEXT:   local.exchange_wait %[[U]] of %[[C]]
func.func @source_made_early(%a: tensor<8x8xf32>, %zero: tensor<f32>) -> (tensor<10x8xf32>, tensor<10x8xf32>, tensor<8x8xf32>) attributes {spmd.local_view} {
  %p = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = stablehlo.dot_general %p, %a, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = stablehlo.negate %p : tensor<8x8xf32>
  %c = stablehlo.cosine %q : tensor<8x8xf32>
  %s = stablehlo.tanh %n : tensor<8x8xf32>
  %h = local.halo_exchange %s [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %zero : tensor<f32> on @mesh : tensor<8x8xf32> -> tensor<10x8xf32>
  %r = stablehlo.sine %h : tensor<10x8xf32>
  %g = local.halo_exchange %c [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %zero : tensor<f32> on @mesh : tensor<8x8xf32> -> tensor<10x8xf32>
  return %r, %g, %c : tensor<10x8xf32>, tensor<10x8xf32>, tensor<8x8xf32>
}
