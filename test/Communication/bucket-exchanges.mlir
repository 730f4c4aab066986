// RUN: shard-opt %s --spmd-bucket-exchanges --split-input-file | FileCheck %s
// RUN: shard-opt %s --spmd-bucket-exchanges=member-limit=16 --split-input-file | FileCheck %s --check-prefix=SMALL
// RUN: shard-opt %s --spmd-bucket-exchanges --spmd-verify-communication --split-input-file

spmd.mesh @mesh = <["x"=2]>

// Two fields need the same halo: one behind the other. The third needs another one.
// CHECK-LABEL: func @fields(
//  CHECK-SAME:   %[[U:[^:]*]]: tensor<8x4xf32>, %[[V:[^:]*]]: tensor<8x4xf32>, %[[W:[^:]*]]: tensor<8x4xf32>
//       CHECK:   %[[OTHER:.*]] = local.halo_exchange %[[W]]
//       CHECK:   %[[A:.*]] = stablehlo.reshape %[[U]] : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
//       CHECK:   %[[B:.*]] = stablehlo.reshape %[[V]]
//       CHECK:   %[[C:.*]] = stablehlo.concatenate %[[A]], %[[B]], dim = 0
//       CHECK:   %[[H:.*]] = local.halo_exchange %[[C]] [<dim 1 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %{{.*}} reason "u; v"
//  CHECK-SAME:     tensor<2x8x4xf32> -> tensor<2x10x4xf32>
//       CHECK:   %[[FIRST:.*]] = stablehlo.slice %[[H]] [0:1, 0:10, 0:4]
//       CHECK:   %[[HU:.*]] = stablehlo.reshape %[[FIRST]]
//       CHECK:   %[[SECOND:.*]] = stablehlo.slice %[[H]] [1:2, 0:10, 0:4]
//       CHECK:   %[[HV:.*]] = stablehlo.reshape %[[SECOND]]
//       CHECK:   %[[N:.*]] = stablehlo.negate %[[HU]]
//       CHECK:   return %[[N]], %[[HV]], %[[OTHER]]
// SMALL-LABEL: func @fields(
// SMALL-COUNT-3: local.halo_exchange
func.func @fields(%u: tensor<8x4xf32>, %v: tensor<8x4xf32>, %w: tensor<8x4xf32>) -> (tensor<10x4xf32>, tensor<10x4xf32>, tensor<9x4xf32>)
    attributes {spmd.local_view} {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = local.halo_exchange %u [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %z : tensor<f32> reason "u" on @mesh
      : tensor<8x4xf32> -> tensor<10x4xf32>
  %1 = stablehlo.negate %0 : tensor<10x4xf32>
  %2 = local.halo_exchange %w [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:8, 7:16]>] fill %z : tensor<f32> on @mesh
      : tensor<8x4xf32> -> tensor<9x4xf32>
  %3 = local.halo_exchange %v [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %z : tensor<f32> reason "v" on @mesh
      : tensor<8x4xf32> -> tensor<10x4xf32>
  return %1, %3, %2 : tensor<10x4xf32>, tensor<10x4xf32>, tensor<9x4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// The second exchange is of what the first one receives.
// CHECK-LABEL: func @one_after_the_other(
// CHECK-COUNT-2: local.rebalance
func.func @one_after_the_other(%u: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {spmd.local_view} {
  %0 = local.rebalance %u [<dim 0 along ["x"] : [0:8, 8:16] -> [8:16, 0:8]>] on @mesh : tensor<8x4xf32> -> tensor<8x4xf32>
  %1 = local.rebalance %0 [<dim 0 along ["x"] : [0:8, 8:16] -> [8:16, 0:8]>] on @mesh : tensor<8x4xf32> -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// Weights of any shape are gathered together, and their gradients scattered.
// CHECK-LABEL: func @weights(
//  CHECK-SAME:   %[[W:[^:]*]]: tensor<2x3xf32>, %[[B:[^:]*]]: tensor<1xf32>, %[[GW:[^:]*]]: tensor<4x3xf32>, %[[GB:[^:]*]]: tensor<2xf32>
//       CHECK:   stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 1 : (tensor<1x6xf32>, tensor<1x1xf32>) -> tensor<1x7xf32>
//       CHECK:   %[[ALL:.*]] = local.all_gather %{{.*}} [<dim 0 along ["x"] : [0:1, 1:2] -> [0:2, 0:2]>] {{.*}} : tensor<1x7xf32> -> tensor<2x7xf32>
//       CHECK:   stablehlo.slice %[[ALL]] [0:2, 0:6]
//       CHECK:   stablehlo.reshape %{{.*}} : (tensor<2x6xf32>) -> tensor<4x3xf32>
//       CHECK:   stablehlo.slice %[[ALL]] [0:2, 6:7]
//       CHECK:   %[[PART:.*]] = local.reduce_scatter sum %{{.*}} along ["x"] [<dim 0 along ["x"] : [0:2, 0:2] -> [0:1, 1:2]>] {{.*}} : tensor<2x7xf32> -> tensor<1x7xf32>
//       CHECK:   stablehlo.slice %[[PART]] [0:1, 0:6]
//       CHECK:   stablehlo.reshape %{{.*}} : (tensor<1x6xf32>) -> tensor<2x3xf32>
func.func @weights(%w: tensor<2x3xf32>, %b: tensor<1xf32>, %gw: tensor<4x3xf32>, %gb: tensor<2xf32>)
    -> (tensor<4x3xf32>, tensor<2xf32>, tensor<2x3xf32>, tensor<1xf32>) attributes {spmd.local_view} {
  %0 = local.all_gather %w [<dim 0 along ["x"] : [0:2, 2:4] -> [0:4, 0:4]>] on @mesh : tensor<2x3xf32> -> tensor<4x3xf32>
  %1 = local.all_gather %b [<dim 0 along ["x"] : [0:1, 1:2] -> [0:2, 0:2]>] on @mesh : tensor<1xf32> -> tensor<2xf32>
  %2 = local.reduce_scatter sum %gw along ["x"] [<dim 0 along ["x"] : [0:4, 0:4] -> [0:2, 2:4]>] on @mesh : tensor<4x3xf32> -> tensor<2x3xf32>
  %3 = local.reduce_scatter sum %gb along ["x"] [<dim 0 along ["x"] : [0:2, 0:2] -> [0:1, 1:2]>] on @mesh : tensor<2xf32> -> tensor<1xf32>
  return %0, %1, %2, %3 : tensor<4x3xf32>, tensor<2xf32>, tensor<2x3xf32>, tensor<1xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// Two fields whose shards are bound later move by one table: whatever their size is, it is the same. The third is moved to where
// the others are, which takes nothing where all were bound alike, and it is on its own.
// CHECK-LABEL: func @open_sizes(
//  CHECK-SAME:   %[[U:[^:]*]]: tensor<?x4xf32> {{.*}}, %[[V:[^:]*]]: tensor<?x4xf32> {{.*}}, %[[W:[^:]*]]: tensor<?x4xf32>
//       CHECK:   %[[A:.*]] = tensor.expand_shape %[[U]] {{\[\[}}0, 1], [2]] output_shape [1, %{{.*}}, 4]
//       CHECK:   %[[B:.*]] = tensor.expand_shape %[[V]]
//       CHECK:   %[[C:.*]] = stablehlo.concatenate %[[A]], %[[B]], dim = 0 : (tensor<1x?x4xf32>, tensor<1x?x4xf32>) -> tensor<2x?x4xf32>
//       CHECK:   %[[H:.*]] = local.halo_exchange %[[C]] [<dim 1 along ["x"] : {{.*}}] fill {{.*}} : tensor<2x?x4xf32> -> tensor<2x?x4xf32>
//       CHECK:   %[[FIRST:.*]] = tensor.extract_slice %[[H]][0, 0, 0] [1, %{{.*}}, 4] [1, 1, 1]
//       CHECK:   %[[HU:.*]] = tensor.collapse_shape %[[FIRST]] {{\[\[}}0, 1], [2]]
//       CHECK:   %[[SECOND:.*]] = tensor.extract_slice %[[H]][1, 0, 0]
//       CHECK:   %[[HV:.*]] = tensor.collapse_shape %[[SECOND]]
//       CHECK:   local.halo_exchange %[[W]] {{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
//       CHECK:   local.halo_exchange %[[W]] {{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
//       CHECK:   return %[[HU]], %[[HV]]
func.func @open_sizes(
    %u: tensor<?x4xf32> {spmd.global_type = tensor<16x4xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [8, 8] by #spmd.formula<given [0, 0, 16]>}, {}]>},
    %v: tensor<?x4xf32> {spmd.global_type = tensor<16x4xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [8, 8] by #spmd.formula<given [0, 0, 16]>}, {}]>},
    %w: tensor<?x4xf32> {spmd.global_type = tensor<16x4xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [8, 8] by #spmd.formula<given [2, 0, 16]>}, {}]>})
    -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) attributes {spmd.local_view} {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = local.halo_exchange %u [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]
      by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<positions [-1, 1, 1] (#spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>, #spmd.formula<same [0, 3]>)>>] fill %z : tensor<f32> on @mesh
      : tensor<?x4xf32> -> tensor<?x4xf32>
  %1 = local.halo_exchange %v [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]
      by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<positions [-1, 1, 1] (#spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>, #spmd.formula<same [0, 3]>)>>] fill %z : tensor<f32> on @mesh
      : tensor<?x4xf32> -> tensor<?x4xf32>
  %2 = local.halo_exchange %w [<dim 0 along ["x"] : [0:8, 8:16] -> [0:8, 8:16]
      by #spmd.formula<shards [0] (#spmd.formula<given [2, 0, 16]>)> -> #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>>] reason "once" on @mesh
      : tensor<?x4xf32> -> tensor<?x4xf32>
  %3 = local.halo_exchange %w [<dim 0 along ["x"] : [0:8, 8:16] -> [0:8, 8:16]
      by #spmd.formula<shards [0] (#spmd.formula<given [2, 0, 16]>)> -> #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>>] reason "again" on @mesh
      : tensor<?x4xf32> -> tensor<?x4xf32>
  return %0, %1, %2, %3 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// Fields of no features: nothing is taken from what was moved.
// CHECK-LABEL: func @open_sizes_without_elements(
//       CHECK:   local.halo_exchange %{{.*}} : tensor<2x?x0xf32> -> tensor<2x?x0xf32>
//       CHECK:   tensor.empty(%{{.*}}) : tensor<1x?x0xf32>
//       CHECK:   tensor.empty(%{{.*}}) : tensor<1x?x0xf32>
//   CHECK-NOT:   tensor.extract_slice
//       CHECK:   return
func.func @open_sizes_without_elements(
    %u: tensor<?x0xf32> {spmd.global_type = tensor<16x0xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [8, 8] by #spmd.formula<given [0, 0, 16]>}, {}]>},
    %v: tensor<?x0xf32> {spmd.global_type = tensor<16x0xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [8, 8] by #spmd.formula<given [0, 0, 16]>}, {}]>},
    %w: tensor<?x0xf32> {spmd.global_type = tensor<16x0xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [8, 8] by #spmd.formula<given [2, 0, 16]>}, {}]>})
    -> (tensor<?x0xf32>, tensor<?x0xf32>, tensor<?x0xf32>, tensor<?x0xf32>) attributes {spmd.local_view} {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = local.halo_exchange %u [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]
      by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<positions [-1, 1, 1] (#spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>, #spmd.formula<same [0, 3]>)>>] fill %z : tensor<f32> on @mesh
      : tensor<?x0xf32> -> tensor<?x0xf32>
  %1 = local.halo_exchange %v [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]
      by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<positions [-1, 1, 1] (#spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>, #spmd.formula<same [0, 3]>)>>] fill %z : tensor<f32> on @mesh
      : tensor<?x0xf32> -> tensor<?x0xf32>
  %2 = local.halo_exchange %w [<dim 0 along ["x"] : [0:8, 8:16] -> [0:8, 8:16]
      by #spmd.formula<shards [0] (#spmd.formula<given [2, 0, 16]>)> -> #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>>] reason "once" on @mesh
      : tensor<?x0xf32> -> tensor<?x0xf32>
  %3 = local.halo_exchange %w [<dim 0 along ["x"] : [0:8, 8:16] -> [0:8, 8:16]
      by #spmd.formula<shards [0] (#spmd.formula<given [2, 0, 16]>)> -> #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>>] reason "again" on @mesh
      : tensor<?x0xf32> -> tensor<?x0xf32>
  return %0, %1, %2, %3 : tensor<?x0xf32>, tensor<?x0xf32>, tensor<?x0xf32>, tensor<?x0xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// Queries, keys and values of one length go to all heads' owners at once, though they arrive in shards of their own: queries are
// moved to where keys are, which takes nothing where both were bound alike. Values were on their way there from elsewhere.
// CHECK-LABEL: func @queries_and_keys(
//  CHECK-SAME:   %[[Q:[^:]*]]: tensor<?x4xf32> {{.*}}, %[[K:[^:]*]]: tensor<?x4xf32> {{.*}}, %[[V:[^:]*]]: tensor<?x4xf32>
//       CHECK:   %[[VK:.*]] = local.halo_exchange %[[V]]
//       CHECK:   %[[QK:.*]] = local.rebalance %[[Q]] [<dim 0 along ["x"] : [0:8, 8:16] -> [0:8, 8:16] by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<shards [0] (#spmd.formula<given [1, 0, 16]>)>>, <dim 1 along ["x"] : [0:4, 0:4] -> [0:4, 0:4]>]
//       CHECK:   stablehlo.concatenate
//       CHECK:   local.all_to_all {{.*}} [<dim 1 along ["x"] : [0:8, 8:16] -> [0:16, 0:16] by #spmd.formula<shards [0] (#spmd.formula<given [1, 0, 16]>)>
//   CHECK-NOT:   all_to_all
func.func @queries_and_keys(
    %q: tensor<?x4xf32> {spmd.global_type = tensor<16x4xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [8, 8] by #spmd.formula<given [0, 0, 16]>}, {}]>},
    %k: tensor<?x4xf32> {spmd.global_type = tensor<16x4xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [8, 8] by #spmd.formula<given [1, 0, 16]>}, {}]>},
    %v: tensor<?x4xf32> {spmd.global_type = tensor<16x4xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [8, 8] by #spmd.formula<given [2, 0, 16]>}, {}]>})
    -> (tensor<16x2xf32>, tensor<16x2xf32>, tensor<16x2xf32>) attributes {spmd.local_view} {
  %w = local.halo_exchange %v [<dim 0 along ["x"] : [0:8, 8:16] -> [0:8, 8:16] by #spmd.formula<shards [0] (#spmd.formula<given [2, 0, 16]>)> -> #spmd.formula<shards [0] (#spmd.formula<given [1, 0, 16]>)>>] on @mesh : tensor<?x4xf32> -> tensor<?x4xf32>
  %0 = local.all_to_all %q [<dim 0 along ["x"] : [0:8, 8:16] -> [0:16, 0:16] by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<same [0, 16]>>, <dim 1 along ["x"] : [0:4, 0:4] -> [0:2, 2:4]>] on @mesh : tensor<?x4xf32> -> tensor<16x2xf32>
  %1 = local.all_to_all %k [<dim 0 along ["x"] : [0:8, 8:16] -> [0:16, 0:16] by #spmd.formula<shards [0] (#spmd.formula<given [1, 0, 16]>)> -> #spmd.formula<same [0, 16]>>, <dim 1 along ["x"] : [0:4, 0:4] -> [0:2, 2:4]>] on @mesh : tensor<?x4xf32> -> tensor<16x2xf32>
  %2 = local.all_to_all %w [<dim 0 along ["x"] : [0:8, 8:16] -> [0:16, 0:16] by #spmd.formula<shards [0] (#spmd.formula<given [1, 0, 16]>)> -> #spmd.formula<same [0, 16]>>, <dim 1 along ["x"] : [0:4, 0:4] -> [0:2, 2:4]>] on @mesh : tensor<?x4xf32> -> tensor<16x2xf32>
  return %0, %1, %2 : tensor<16x2xf32>, tensor<16x2xf32>, tensor<16x2xf32>
}

// Their gradients come back at once, and go on to where each is wanted.
// CHECK-LABEL: func @back(
//       CHECK:   %[[ALL:.*]] = local.all_to_all {{.*}} [<dim 1 along ["x"] : [0:16, 0:16] -> [0:8, 8:16] by #spmd.formula<same [0, 16]> -> #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>
//       CHECK:   %[[TO:.*]] = local.rebalance %{{.*}} [<dim 0 along ["x"] : [0:8, 8:16] -> [0:8, 8:16] by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<shards [0] (#spmd.formula<given [1, 0, 16]>)>>, <dim 1
//   CHECK-NOT:   all_to_all
//       CHECK:   return %{{.*}}, %[[TO]]
func.func @back(%q: tensor<16x2xf32>, %k: tensor<16x2xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) attributes {spmd.local_view} {
  %0 = local.all_to_all %q [<dim 0 along ["x"] : [0:16, 0:16] -> [0:8, 8:16] by #spmd.formula<same [0, 16]> -> #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>>, <dim 1 along ["x"] : [0:2, 2:4] -> [0:4, 0:4]>] on @mesh : tensor<16x2xf32> -> tensor<?x4xf32>
  %1 = local.all_to_all %k [<dim 0 along ["x"] : [0:16, 0:16] -> [0:8, 8:16] by #spmd.formula<same [0, 16]> -> #spmd.formula<shards [0] (#spmd.formula<given [1, 0, 16]>)>>, <dim 1 along ["x"] : [0:2, 2:4] -> [0:4, 0:4]>] on @mesh : tensor<16x2xf32> -> tensor<?x4xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<?x4xf32>
}

// Windows at each element and at every second one reach as far for these sizes: what is around both is exchanged, and each takes
// its own of it.
// CHECK-LABEL: func @windows(
//       CHECK:   %[[ALL:.*]] = local.halo_exchange {{.*}} [<dim 1 along ["x"] : {{.*}} -> #spmd.formula<hull
//   CHECK-NOT:   halo_exchange
//       CHECK:   %[[FIRST:.*]] = local.lookup [0, 0] along ["x"] on @mesh by <offset (#spmd.formula<positions [-1, 1, 1]
//       CHECK:   tensor.extract_slice %{{.*}}[%[[FIRST]], 0]
//       CHECK:   %[[SECOND:.*]] = local.lookup [0, 0] along ["x"] on @mesh by <offset (#spmd.formula<positions [-1, 2, 1]
//       CHECK:   tensor.extract_slice %{{.*}}[%[[SECOND]], 0]
func.func @windows(
    %u: tensor<?x4xf32> {spmd.global_type = tensor<16x4xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [8, 8] by #spmd.formula<given [0, 0, 16]>}, {}]>},
    %v: tensor<?x4xf32> {spmd.global_type = tensor<16x4xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [8, 8] by #spmd.formula<given [0, 0, 16]>}, {}]>}) -> (tensor<?x4xf32>, tensor<?x4xf32>) attributes {spmd.local_view} {
  %each = local.halo_exchange %u [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:8, 7:16] by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<positions [-1, 1, 1] (#spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>, #spmd.formula<same [0, 2]>)> wrap>] on @mesh : tensor<?x4xf32> -> tensor<?x4xf32>
  %second = local.halo_exchange %v [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:8, 7:16] by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<positions [-1, 2, 1] (#spmd.formula<shards [0] (#spmd.formula<affine [1, 0, 2, 8] (#spmd.formula<given [0, 0, 16]>)>)>, #spmd.formula<same [0, 3]>)> wrap>] on @mesh : tensor<?x4xf32> -> tensor<?x4xf32>
  return %each, %second : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// A row of each value, whose number is bound later, is 1 + 4 + 6 elements: side by side in shards of the first they go at once.
// CHECK-LABEL: func.func @gather_open_rows(
//  CHECK-SAME:   %[[A:[^ :]*]]: tensor<?xf32>
//  CHECK-SAME:   %[[B:[^ :]*]]: tensor<?x4xf32>
//       CHECK:   %[[FIRST:.*]] = tensor.expand_shape %[[A]] {{.*}} : tensor<?xf32> into tensor<?x1xf32>
//       CHECK:   %[[SECOND:.*]] = local.rebalance %[[B]] [<dim 0 {{.*}} by #spmd.formula<shards [0] (#spmd.formula<given [1, 0, 16]>)> -> #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>>]
//       CHECK:   %[[THIRD:.*]] = tensor.collapse_shape %{{.*}} : tensor<?x2x3xf32> into tensor<?x6xf32>
//       CHECK:   %[[ROWS:.*]] = stablehlo.concatenate %[[FIRST]], %[[SECOND]], %[[THIRD]], dim = 1
//       CHECK:   %[[ALL:.*]] = local.all_gather %[[ROWS]] [<dim 0 along ["x"] : [0:8, 8:16] -> [0:16, 0:16] by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<same [0, 16]>>]
//   CHECK-NOT:   all_gather
//       CHECK:   stablehlo.slice %[[ALL]] [0:16, 0:1]
//       CHECK:   stablehlo.slice %[[ALL]] [0:16, 1:5]
//       CHECK:   %[[LAST:.*]] = stablehlo.slice %[[ALL]] [0:16, 5:11]
//       CHECK:   stablehlo.reshape %[[LAST]] : (tensor<16x6xf32>) -> tensor<16x2x3xf32>
spmd.mesh @mesh = <["x"=2]>
func.func @gather_open_rows(
    %a: tensor<?xf32> {spmd.global_type = tensor<16xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [8, 8] by #spmd.formula<given [0, 0, 16]>}]>},
    %b: tensor<?x4xf32> {spmd.global_type = tensor<16x4xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [8, 8] by #spmd.formula<given [1, 0, 16]>}, {}]>},
    %c: tensor<?x2x3xf32> {spmd.global_type = tensor<16x2x3xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [8, 8] by #spmd.formula<given [2, 0, 16]>}, {}, {}]>}) -> (tensor<16xf32>, tensor<16x4xf32>, tensor<16x2x3xf32>) attributes {spmd.local_view} {
  %0 = local.all_gather %a [<dim 0 along ["x"] : [0:8, 8:16] -> [0:16, 0:16] by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<same [0, 16]>>] on @mesh : tensor<?xf32> -> tensor<16xf32>
  %1 = local.all_gather %b [<dim 0 along ["x"] : [0:8, 8:16] -> [0:16, 0:16] by #spmd.formula<shards [0] (#spmd.formula<given [1, 0, 16]>)> -> #spmd.formula<same [0, 16]>>] on @mesh : tensor<?x4xf32> -> tensor<16x4xf32>
  %2 = local.all_gather %c [<dim 0 along ["x"] : [0:8, 8:16] -> [0:16, 0:16] by #spmd.formula<shards [0] (#spmd.formula<given [2, 0, 16]>)> -> #spmd.formula<same [0, 16]>>] on @mesh : tensor<?x2x3xf32> -> tensor<16x2x3xf32>
  return %0, %1, %2 : tensor<16xf32>, tensor<16x4xf32>, tensor<16x2x3xf32>
}

// -----

// So do sums of which each rank keeps its rows; what is kept in other shards is moved on.
// CHECK-LABEL: func.func @scatter_open_rows(
//       CHECK:   %[[ROWS:.*]] = stablehlo.concatenate {{.*}}, dim = 1 : (tensor<16x1xf32>, tensor<16x4xf32>, tensor<16x6xf32>) -> tensor<16x11xf32>
//       CHECK:   local.reduce_scatter sum %[[ROWS]] along ["x"] [<dim 0 along ["x"] : [0:16, 0:16] -> [0:8, 8:16] by #spmd.formula<same [0, 16]> -> #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>>]
//   CHECK-NOT:   reduce_scatter
//       CHECK:   local.rebalance {{.*}} by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<shards [0] (#spmd.formula<given [1, 0, 16]>)>>]
//       CHECK:   local.rebalance {{.*}} by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<shards [0] (#spmd.formula<given [2, 0, 16]>)>>]
spmd.mesh @mesh = <["x"=2]>
func.func @scatter_open_rows(
    %a: tensor<?xf32> {spmd.global_type = tensor<16xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [8, 8] by #spmd.formula<given [0, 0, 16]>}]>},
    %b: tensor<?x4xf32> {spmd.global_type = tensor<16x4xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [8, 8] by #spmd.formula<given [1, 0, 16]>}, {}]>},
    %c: tensor<?x2x3xf32> {spmd.global_type = tensor<16x2x3xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [8, 8] by #spmd.formula<given [2, 0, 16]>}, {}, {}]>},
    %x: tensor<16xf32>, %y: tensor<16x4xf32>, %z: tensor<16x2x3xf32>) -> (tensor<?xf32>, tensor<?x4xf32>, tensor<?x2x3xf32>) attributes {spmd.local_view} {
  %0 = local.reduce_scatter sum %x along ["x"] [<dim 0 along ["x"] : [0:16, 0:16] -> [0:8, 8:16] by #spmd.formula<same [0, 16]> -> #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>>] on @mesh : tensor<16xf32> -> tensor<?xf32>
  %1 = local.reduce_scatter sum %y along ["x"] [<dim 0 along ["x"] : [0:16, 0:16] -> [0:8, 8:16] by #spmd.formula<same [0, 16]> -> #spmd.formula<shards [0] (#spmd.formula<given [1, 0, 16]>)>>] on @mesh : tensor<16x4xf32> -> tensor<?x4xf32>
  %2 = local.reduce_scatter sum %z along ["x"] [<dim 0 along ["x"] : [0:16, 0:16] -> [0:8, 8:16] by #spmd.formula<same [0, 16]> -> #spmd.formula<shards [0] (#spmd.formula<given [2, 0, 16]>)>>] on @mesh : tensor<16x2x3xf32> -> tensor<?x2x3xf32>
  return %0, %1, %2 : tensor<?xf32>, tensor<?x4xf32>, tensor<?x2x3xf32>
}

// -----

// Of what every rank has, each takes its shards where it is: one behind the other they would be copied for nothing.
// CHECK-LABEL: func.func @shards_of_what_all_have(
//       CHECK:   local.halo_exchange %{{.*}} [<dim 0
//       CHECK:   local.halo_exchange %{{.*}} [<dim 0
//   CHECK-NOT:   stablehlo.concatenate
//       CHECK:   return
spmd.mesh @mesh = <["x"=2]>
func.func @shards_of_what_all_have(%a: tensor<16x4xf32>, %b: tensor<16x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) attributes {spmd.local_view} {
  %0 = local.halo_exchange %a [<dim 0 along ["x"] : [0:16, 0:16] -> [0:8, 8:16] by #spmd.formula<same [0, 16]> -> #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>>] on @mesh : tensor<16x4xf32> -> tensor<?x4xf32>
  %1 = local.halo_exchange %b [<dim 0 along ["x"] : [0:16, 0:16] -> [0:8, 8:16] by #spmd.formula<same [0, 16]> -> #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>>] on @mesh : tensor<16x4xf32> -> tensor<?x4xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<?x4xf32>
}
