// RUN: shard-opt %s --spmd-convert-foreign-shardings --split-input-file --verify-diagnostics

module attributes {mhlo.num_partitions = 4 : i32} {
  // expected-error @below {{unsupported: mhlo.sharding "{devices=[2,2]0,1,3,2}": the order of its partitions is that of no mesh}}
  func.func @main(%x: tensor<4x4xf32> {mhlo.sharding = "{devices=[2,2]0,1,3,2}"}) {
    return
  }
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  // expected-error @below {{unsupported: mhlo.sharding "{devices=[2]<=[2]}": 2 tiles, but the program has 4 partitions}}
  func.func @main(%x: tensor<4xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) {
    return
  }
}

// -----

// expected-error @below {{unsupported: its mhlo.shardings are on no mesh of 6 partitions: one cuts them every 2, another every 3}}
module attributes {mhlo.num_partitions = 6 : i32} {
  func.func @main(%x: tensor<6xf32> {mhlo.sharding = "{devices=[2,3]<=[6] last_tile_dim_replicate}"}, %y: tensor<6xf32> {mhlo.sharding = "{devices=[3,2]<=[6] last_tile_dim_replicate}"}) {
    return
  }
}

// -----

// expected-error @below {{frontend attribute 'xla.sdy.meshes' is "{mesh = nothing}", which cannot be read}}
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = nothing}"}} {
  func.func @main(%x: tensor<6xf32>) {
    return
  }
}

// -----

module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main(%x: tensor<4xf32>) {
    // expected-error @below {{unsupported: @SPMDFullToShardShape of a value without @Sharding; its layout is not known}}
    %0 = stablehlo.custom_call @SPMDFullToShardShape(%x) {mhlo.sharding = "{manual}"} : (tensor<4xf32>) -> tensor<2xf32>
    call @body(%0) : (tensor<2xf32>) -> ()
    return
  }
  func.func private @body(%x: tensor<2xf32>) {
    return
  }
}

// -----

module attributes {mhlo.num_partitions = 2 : i32} {
  // expected-error @below {{unsupported: mhlo.sharding "{replicated shard_as x}": expected the number of a group after shard_as}}
  func.func @main(%x: tensor<4xf32> {mhlo.sharding = "{replicated shard_as x}"}) {
    return
  }
}

// -----

module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{has 2 shardings in 'mhlo.sharding' for 1 results}}
    %0 = stablehlo.sine %x {mhlo.sharding = "{{replicated}, {devices=[2]<=[2]}}"} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{}"}} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{@xla.sdy.PropagationBarrier has 'xla.sdy.allowed_direction' "sideways", expected NONE, FORWARD, BACKWARD or BOTH}}
    %0 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%x) {mhlo.frontend_attributes = {xla.sdy.allowed_direction = "sideways"}} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{has configuration "unspecified_dims=[0,rows]", expected numbers of dims}}
    %0 = stablehlo.custom_call @Sharding(%x) {backend_config = "unspecified_dims=[0,rows]", mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=2]>}"}} {
  // expected-error @below {{frontend attribute 'xla.sdy.sharding' is 7 : i64, expected one sharding}}
  func.func @main(%x: tensor<4xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "7"}}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{}"}} {
  func.func @main(%x: tensor<4xf32>) {
    // expected-error @below {{@xla.sdy.ShardingGroup expects a number as 'xla.sdy.sharding_group_id'}}
    stablehlo.custom_call @xla.sdy.ShardingGroup(%x) {has_side_effect = true, mhlo.frontend_attributes = {other = "1"}} : (tensor<4xf32>) -> ()
    return
  }
}

// -----

// expected-error @below {{frontend attribute 'xla.sdy.meshes' has 3 : i64 as 'mesh', expected a mesh such as #sdy.mesh}}
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = 3}"}} {
  func.func @main(%x: tensor<4xf32>) {
    return
  }
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  // expected-error @below {{unsupported: mhlo.sharding "{devices=[2,2]<=[4]}" on 'tensor<4xf32>', expected tiles for 1 dims}}
  func.func @main(%x: tensor<4xf32> {mhlo.sharding = "{devices=[2,2]<=[4]}"}) {
    return
  }
}

// -----

module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main(%x: tensor<4xf32>) {
    // expected-error @below {{unsupported: @Sharding expects one tensor and gives it back}}
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<4xf32>) -> tensor<2xf32>
    return
  }
}

// -----

module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=2]>}"}} {
  func.func @main(%x: tensor<4xf32>) {
    // expected-error @below {{unsupported: @Sharding expects one tensor and an xla.sdy.sharding}}
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>"}} : (tensor<4xf32>) -> tensor<2xf32>
    return
  }
}

// -----

module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=2]>}"}} {
  func.func @main(%x: tensor<4xf32>) -> tensor<2xf32> {
    // expected-error @below {{unsupported: a use of the result of @xla.sdy.ShardingGroup}}
    %0 = stablehlo.custom_call @xla.sdy.ShardingGroup(%x) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "1 : i64"}} : (tensor<4xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
