// RUN: shard-opt %s --spmd-convert-sdy --split-input-file | FileCheck %s

// Arguments, results and names; what belongs to JAX alone is dropped.
//       CHECK: module {
//       CHECK: spmd.mesh @mesh = <["x"=2, "y"=4]>
//   CHECK-NOT: sdy
//       CHECK: func.func @main(
//  CHECK-SAME:   tensor<8x4xf32> {spmd.donated = 0 : i64, spmd.name = "image", spmd.sharding = #spmd.sharding<@mesh, [{"x", ?}p1, {}], replicated = {"y"}>}
//  CHECK-SAME:   -> (tensor<8x4xf32> {spmd.name = "result[0]", spmd.sharding = #spmd.sharding<@mesh, [{?}, {"y"}]>})
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {}], replicated={"y"}>,
                                       tf.aliasing_output = 0 : i32} loc("image"))
      -> (tensor<8x4xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}]>}) {
    return %x : tensor<8x4xf32>
  }
  sdy.mesh @mesh = <["x"=2, "y"=4]>
}

// -----

// CHECK: {{^// -+$}}
// A constraint that says what is there already, one on a scalar, and one twice over go.
//       CHECK: func.func @main(
//  CHECK-SAME:   %[[X:[^:]*]]: tensor<8xf32>
//       CHECK:   %[[Y:.*]] = stablehlo.negate %[[X]]
//       CHECK:   %[[C:.*]] = spmd.constrain %[[Y]] <@mesh, [{}]>
//   CHECK-NOT:   constrain
//       CHECK:   return %[[C]]
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %s: tensor<f32>) -> (tensor<8xf32>, tensor<f32>) {
  %0 = sdy.sharding_constraint %x <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.sharding_constraint %s <@mesh, []> : tensor<f32>
  %2 = stablehlo.negate %0 : tensor<8xf32>
  %3 = sdy.sharding_constraint %2 <@mesh, [{}]> : tensor<8xf32>
  %4 = sdy.sharding_constraint %3 <@mesh, [{}]> : tensor<8xf32>
  return %4, %1 : tensor<8xf32>, tensor<f32>
}

// -----

// CHECK: {{^// -+$}}
// Shardings on ops are constraints on their results; so are Shardy's collectives.
//       CHECK: func.func @main(
//       CHECK:   %[[Y:.*]] = stablehlo.negate
//       CHECK:   %[[C:.*]] = spmd.constrain %[[Y]] <@mesh, [{"x"}]>
//       CHECK:   %[[G:.*]] = spmd.constrain %[[C]] <@mesh, [{}]>
//       CHECK:   return %[[G]]
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  %1 = sdy.all_gather [{"x"}] %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// CHECK: {{^// -+$}}
// Parts of an axis become axes, everywhere; ranks keep their numbers.
//       CHECK: module
//       CHECK: spmd.mesh @mesh = <["x.0"=2, "x.1"=4, "y"=2]>
//       CHECK: func.func @main(
//  CHECK-SAME:   #spmd.sharding<@mesh, [{"x.0"}, {"x.1"}]>
//  CHECK-SAME:   -> (tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x.0", "x.1", "y"}, {}]>})
sdy.mesh @mesh = <["x"=8, "y"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {"x":(2)4}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) {
  return %x : tensor<8x8xf32>
}

// -----

// CHECK: {{^// -+$}}
// Equal meshes are one; those of one device say nothing.
//       CHECK: module
//       CHECK: spmd.mesh @a = <["x"=2]>
//   CHECK-NOT: spmd.mesh
//       CHECK: func.func @main(
//  CHECK-SAME:   tensor<8xf32> {spmd.sharding = #spmd.sharding<@a, [{"x"}]>}
//  CHECK-SAME:   %{{[^:]*}}: tensor<8xf32>,
sdy.mesh @a = <["x"=2]>
sdy.mesh @b = <["x"=2], device_ids=[1, 0]>
sdy.mesh @maximal = <[], device_ids=[0]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@b, [{"x"}]>},
                %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal, [{}]>},
                %z: tensor<8xf32> {sdy.sharding = #sdy.sharding<@a, [{}]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// CHECK: {{^// -+$}}
// Without any mesh: one of one rank.
//       CHECK: module
//       CHECK: spmd.mesh @mesh = <[]>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// CHECK: {{^// -+$}}
// What the user wrote in spmd's own words stays, sizes and all.
//       CHECK: module
//       CHECK: spmd.mesh @rows = <["x"=3]>
//       CHECK: #spmd.sharding<@rows, [{"x" sizes [5, 0, 3]}]>
spmd.mesh @rows = <["x"=3]>
func.func @main(%x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@rows, [{"x" sizes [5, 0, 3]}]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// CHECK: {{^// -+$}}
// Values of a group, and barriers, become constraints that ask for nothing.
//       CHECK: func.func @main(
//  CHECK-SAME:   %[[X:[^:]*]]: tensor<8xf32>
//       CHECK:   %[[A:.*]] = spmd.constrain %[[X]] <@mesh, [{?}]> {spmd.group = 3 : i64}
//       CHECK:   %[[N:.*]] = stablehlo.negate %[[A]]
//       CHECK:   %[[B:.*]] = spmd.constrain %[[N]] <@mesh, [{?}]> {spmd.group = 3 : i64}
//       CHECK:   %[[F:.*]] = spmd.constrain %[[B]] <@mesh, [{?}]> {spmd.direction = #spmd.direction<forward>}
//       CHECK:   %[[W:.*]] = spmd.constrain %[[F]] <@mesh, [{?}]> {spmd.direction = #spmd.direction<backward>}
//       CHECK:   %[[LAST:.*]] = spmd.constrain %[[W]] <@mesh, [{?}]> {spmd.direction = #spmd.direction<none>}
//       CHECK:   return %[[LAST]]
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<8xf32>, %s: tensor<f32>) -> (tensor<8xf32>, tensor<f32>) {
  sdy.sharding_group %x group_id=3 : tensor<8xf32>
  sdy.sharding_group %s group_id=4 : tensor<f32>
  %0 = stablehlo.negate %x : tensor<8xf32>
  sdy.sharding_group %0 group_id=3 : tensor<8xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=FORWARD : tensor<8xf32>
  %2 = sdy.propagation_barrier %1 allowed_direction=BACKWARD : tensor<8xf32>
  %3 = sdy.propagation_barrier %2 allowed_direction=NONE : tensor<8xf32>
  %4 = sdy.propagation_barrier %3 allowed_direction=BOTH : tensor<8xf32>
  return %4, %s : tensor<8xf32>, tensor<f32>
}

// -----

// CHECK: {{^// -+$}}
// A value's uses are of its group wherever the group is named: behind them, here in a region and in none.
//       CHECK: func.func @main(
//  CHECK-SAME:   %[[X:[^:]*]]: tensor<8xf32>
//       CHECK:   %[[A:.*]] = spmd.constrain %[[X]] <@mesh, [{?}]> {spmd.group = 0 : i64}
//       CHECK:   %[[P:.*]] = stablehlo.multiply %[[A]], %[[A]]
//       CHECK:   %[[B:.*]] = spmd.constrain %[[P]] <@mesh, [{?}]> {spmd.group = 0 : i64}
//       CHECK:   "stablehlo.if"
//       CHECK:     stablehlo.return %[[A]]
//       CHECK:     stablehlo.negate %[[A]]
//       CHECK:   stablehlo.add %{{.*}}, %[[B]]
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<8xf32>, %p: tensor<i1>) -> tensor<8xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<8xf32>
  %1 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<8xf32>
  }, {
    %3 = stablehlo.negate %x : tensor<8xf32>
    stablehlo.return %3 : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  %2 = stablehlo.add %1, %0 : tensor<8xf32>
  sdy.sharding_group %x group_id=0 : tensor<8xf32>
  sdy.sharding_group %0 group_id=0 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// CHECK: {{^// -+$}}
// Meshes of as many devices are one, of the axes that make all of them. What nobody names does not count.
//       CHECK: module
//       CHECK: spmd.mesh @a = <["x.0"=2, "x.1"=2, "x.2"=2, "one"=1]>
//       CHECK: func.func @main(
//  CHECK-SAME:   #spmd.sharding<@a, [{"x.0", "x.1", "x.2"}, {"one"}]>
//  CHECK-SAME:   #spmd.sharding<@a, [{"x.1", "x.2"}, {"x.0"}]>
//  CHECK-SAME:   #spmd.sharding<@a, [{"x.2"}, {"x.0", "x.1"}]>
sdy.mesh @unused = <["z"=3]>
sdy.mesh @a = <["x"=8, "one"=1]>
sdy.mesh @b = <["p"=2, "q"=4]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {"one"}]>},
                %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@b, [{"q"}, {"p"}]>},
                %z: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<mesh<["m"=4, "n"=2]>, [{"n"}, {"m"}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

// CHECK: {{^// -+$}}
// Ranks are positions in the mesh. What a program says of devices is said of positions.
//       CHECK: spmd.mesh @mesh = <["x"=2, "y"=2]>
//       CHECK: func.func @main(
//       CHECK:   source_target_pairs = dense<{{\[\[}}2, 1], [0, 3]]>
//       CHECK:   replica_groups = dense<{{\[\[}}2, 0], [1, 3]]>
//       CHECK:   %[[RANK:.*]] = stablehlo.partition_id
//       CHECK:   %[[TABLE:.*]] = stablehlo.constant dense<[2, 1, 0, 3]> : tensor<4xui32>
//       CHECK:   %[[ENTRY:.*]] = stablehlo.dynamic_slice %[[TABLE]], %[[RANK]], sizes = [1]
//       CHECK:   %[[DEVICE:.*]] = stablehlo.reshape %[[ENTRY]] : (tensor<1xui32>) -> tensor<ui32>
//       CHECK:   stablehlo.convert %[[DEVICE]]
sdy.mesh @mesh = <["x"=2, "y"=2], device_ids=[2, 1, 0, 3]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x", "y"} (%y: tensor<2xf32>) {
    %1 = "stablehlo.collective_permute"(%y) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
    %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %6 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %6 : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    %3 = stablehlo.partition_id : tensor<ui32>
    %4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<f32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %7 = stablehlo.add %2, %5 : tensor<2xf32>
    sdy.return %7 : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// What a program for one device says (as one that was exported for it) cuts nothing.
// CHECK-LABEL: spmd.mesh @one = <["i"=2]>
//       CHECK:   #spmd.sharding<@one, [{"i"}]>
//       CHECK:   spmd.constrain %{{.*}} <@one, [{}]>
sdy.mesh @one = <["i"=1]>
sdy.mesh @all = <["i"=2]>
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@all, [{"i"}]>}) -> tensor<4xf32> {
  %0 = sdy.sharding_constraint %a <@one, [{"i"}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
