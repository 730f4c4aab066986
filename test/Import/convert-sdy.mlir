// RUN: shard-opt %s --spmd-convert-sdy --split-input-file | FileCheck %s

// Arguments, results and names; what belongs to JAX alone is dropped.
//       CHECK: module {
//       CHECK: spmd.mesh @mesh = <["x"=2, "y"=4]>
//   CHECK-NOT: sdy
//       CHECK: func.func @main(
//  CHECK-SAME:   tensor<8x4xf32> {spmd.name = "image", spmd.sharding = #spmd.sharding<@mesh, [{"x", ?}p1, {}], replicated = {"y"}>}
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
//  CHECK-SAME:   %{{[^:]*}}: tensor<8xf32>)
sdy.mesh @a = <["x"=2]>
sdy.mesh @b = <["x"=2], device_ids=[1, 0]>
sdy.mesh @maximal = <[], device_ids=[0]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@b, [{"x"}]>},
                %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal, [{}]>}) -> tensor<8xf32> {
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
