// RUN: shard-opt %s --spmd-convert-foreign-shardings --split-input-file | FileCheck %s

// The mesh of fewest axes that makes all tiles; listed partitions and reshaped counts.
// CHECK-LABEL: sdy.mesh @mesh = <["axis0"=2, "axis1"=2]>
//       CHECK: func.func @main(
//  CHECK-SAME:   sdy.sharding = #sdy.sharding<@mesh, [{"axis1"}, {"axis0"}]>
//  CHECK-SAME:   sdy.sharding = #sdy.sharding<@mesh, [{"axis0"}, {}]>
//  CHECK-SAME:   -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis0", "axis1"}, {}]>})
//       CHECK:   sdy.sharding_constraint %{{.*}} <@mesh, [{?}, {"axis1"}]>
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%x: tensor<4x4xf32> {mhlo.sharding = "{devices=[2,2]0,2,1,3}"}, %y: tensor<4x4xf32> {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"}) -> (tensor<4x4xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"}) {
    %0 = stablehlo.add %x, %y : tensor<4x4xf32>
    %1 = stablehlo.custom_call @Sharding(%0) {backend_config = "unspecified_dims=[0]", mhlo.sharding = "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
}

// -----

// A call between two custom calls is a manual region, of the axes of manual tiles.
// CHECK-LABEL: sdy.mesh @mesh = <["axis0"=2, "axis1"=2]>
//       CHECK:   sdy.manual_computation(%{{.*}}) in_shardings=[<@mesh, [{"axis0", ?}]>] out_shardings=[<@mesh, [{"axis0", ?}]>] manual_axes={"axis0"} (%[[BLOCK:.*]]: tensor<4xf32>)
//       CHECK:     func.call @body(%[[BLOCK]])
//   CHECK-NOT:   custom_call
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @Sharding(%x) {backend_config = "unspecified_dims=[0]", mhlo.sharding = "{devices=[2,2]<=[4] last_tile_dim_replicate}"} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}"} : (tensor<8xf32>) -> tensor<4xf32>
    %2 = call @body(%1) : (tensor<4xf32>) -> tensor<4xf32>
    %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}"} : (tensor<4xf32>) -> tensor<4xf32>
    %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {backend_config = "unspecified_dims=[0]", mhlo.sharding = "{devices=[2,2]<=[4] last_tile_dim_replicate}"} : (tensor<4xf32>) -> tensor<8xf32>
    return %4 : tensor<8xf32>
  }
  func.func private @body(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// Values that are to be cut alike, whoever knows how; metadata; shardings of tuples; unknown says nothing.
// CHECK-LABEL: sdy.mesh @mesh = <["axis0"=2]>
//       CHECK: func.func @main(
//  CHECK-SAME:   sdy.sharding = #sdy.sharding<@mesh, [{"axis0"}, {}]>
//  CHECK-SAME:   sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>
//       CHECK:   %[[SINE:.*]] = stablehlo.sine
//       CHECK:   sdy.sharding_group %[[SINE]] group_id=4
//       CHECK:   %[[PINNED:.*]] = sdy.sharding_constraint %{{.*}} <@mesh, [{}, {"axis0"}]>
//       CHECK:   sdy.sharding_group %[[PINNED]] group_id=4
//       CHECK:   stablehlo.optimization_barrier
//  CHECK-SAME:     {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, [{}, {"axis0"}]>]>}
module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main(%x: tensor<4x4xf32> {mhlo.sharding = "{devices=[2,1]<=[2] metadata={op_name=\22a}b\22}}"}, %y: tensor<4x4xf32> {mhlo.sharding = "{unknown}"}) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    %0 = stablehlo.sine %x : tensor<4x4xf32>
    %1 = stablehlo.custom_call @Sharding(%0) {backend_config = "", has_side_effect = true, mhlo.sharding = "{unknown shard_as 4}"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.custom_call @Sharding(%y) {backend_config = "", has_side_effect = true, mhlo.sharding = "{devices=[1,2]<=[2] shard_like 4}"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %3:2 = stablehlo.optimization_barrier {mhlo.sharding = "{{replicated}, {devices=[1,2]<=[2]}}"} %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>
    return %3#0, %3#1 : tensor<4x4xf32>, tensor<4x4xf32>
  }
}

// -----

// Where the module does not say, there are as many partitions as tiles.
// CHECK-LABEL: sdy.mesh @mesh = <["axis0"=4]>
//       CHECK:   sdy.sharding_constraint %{{.*}} <@mesh, [{"axis0"}]>
module {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[4]<=[4]}"} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// Groups and barriers in strings.
// CHECK-LABEL: sdy.mesh @mesh = <["x"=2]>
//       CHECK: func.func @main(%[[X:.*]]: tensor<4xf32>)
//       CHECK:   sdy.sharding_group %[[X]] group_id=21
//       CHECK:   %[[A:.*]] = sdy.propagation_barrier %[[X]] allowed_direction=BACKWARD
//       CHECK:   sdy.propagation_barrier %[[A]] allowed_direction=FORWARD
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\\\22x\\\22=2]>}"}} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    stablehlo.custom_call @xla.sdy.ShardingGroup(%x) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "21 : i64"}} : (tensor<4xf32>) -> ()
    %0 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%x) {mhlo.frontend_attributes = {xla.sdy.allowed_direction = "2 : i64"}} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%0) {mhlo.frontend_attributes = {xla.sdy.allowed_direction = "FORWARD"}} : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
