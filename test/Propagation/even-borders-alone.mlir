// RUN: shard-opt %s --spmd-even-borders --split-input-file | FileCheck %s
// The pass alone, on shardings that propagation would have left. What a caller sees is balanced where the number of shards
// divides the dim, else whole; a reshard is between this and what is inside.

spmd.mesh @mesh = <["x"=2, "y"=3]>
// 7 rows are no two equal shards: the dim is whole outside. 6 columns are three.
// CHECK-LABEL: func.func @argument
// CHECK-SAME: %[[X:.*]]: tensor<7x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"y"}]>}
// CHECK: %[[IN:.*]] = spmd.reshard %[[X]] <@mesh, [{}, {"y"}]> -> <@mesh, [{"x"}, {"y"}]> reason "argument 0 comes in equal shards"
// CHECK: stablehlo.negate %[[IN]]
func.func @argument(%x: tensor<7x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<7x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.negate %x {spmd.shardings = [#spmd.sharding<@mesh, [{}, {}]>]} : tensor<7x6xf32>
  return %0 : tensor<7x6xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
// What is even already stays, and so does a scalar.
// CHECK-LABEL: func.func @even
// CHECK-NOT: spmd.reshard
// CHECK: return
func.func @even(%x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}, %s: tensor<f32> {spmd.sharding = #spmd.sharding<@mesh, []>}) -> (tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}, tensor<f32> {spmd.sharding = #spmd.sharding<@mesh, []>}) {
  return %x, %s : tensor<8xf32>, tensor<f32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
// An argument without users comes in equal shards too, and nothing moves. No shard of an empty dim differs from the others.
// CHECK-LABEL: func.func @unused
// CHECK-SAME: %{{.*}}: tensor<7xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>}
// CHECK-SAME: %[[NONE:.*]]: tensor<0xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}
// CHECK-NOT: spmd.reshard
// CHECK: return %[[NONE]]
func.func @unused(%x: tensor<7xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}, %none: tensor<0xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> (tensor<0xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) {
  return %none : tensor<0xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @result
// CHECK-SAME: -> (tensor<7xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>})
// CHECK: %[[Y:.*]] = stablehlo.negate
// CHECK: %[[OUT:.*]] = spmd.reshard %[[Y]] <@mesh, [{"x"}]> -> <@mesh, [{}]> reason "result 0 leaves in equal shards"
// CHECK: return %[[OUT]]
func.func @result(%x: tensor<7xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>}) -> (tensor<7xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.negate %x {spmd.shardings = [#spmd.sharding<@mesh, [{"x"}]>]} : tensor<7xf32>
  return %0 : tensor<7xf32>
}
