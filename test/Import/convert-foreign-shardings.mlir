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
