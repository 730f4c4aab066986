// RUN: shard-opt %s --spmd-propagate --split-input-file | FileCheck %s

// What a constraint asks for, and what is there: one reshard that says so.
// CHECK: func.func @constraint(
// CHECK: %[[R:.*]] = spmd.reshard %{{.*}} <@mesh, [{"x"}, {}]> -> <@mesh, [{}, {"x"}]>
// CHECK-SAME: reason "the value constrained here is cut along \22x\22 in dim 0, but is needed whole"
// CHECK-NOT: spmd.constrain
// CHECK: return %[[R]]
spmd.mesh @mesh = <["x"=2]>
func.func @constraint(%a: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  %0 = spmd.constrain %a <@mesh, [{}, {"x"}]> : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// A constraint reaches back to an argument that is free.
// CHECK: func.func @backwards(%{{.*}}: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>})
// CHECK-NOT: reshard
// CHECK: return
spmd.mesh @mesh = <["x"=2]>
func.func @backwards(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = spmd.constrain %0 <@mesh, [{"x"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// Two users that need the same layout share the move.
// CHECK: func.func @shared(
// CHECK: %[[R:.*]] = spmd.reshard
// CHECK-NOT: spmd.reshard
// CHECK: return %[[R]], %[[R]]
spmd.mesh @mesh = <["x"=2]>
func.func @shared(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>}, tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>}) {
  return %a, %a : tensor<8xf32>, tensor<8xf32>
}

// -----

// Two sets of explicit sizes in one addition: the first of two equal tensors stays.
// CHECK: func.func @sizes(
// CHECK-SAME: %[[A:[^:]*]]: tensor<10xf32>
// CHECK-SAME: %[[B:[^:]*]]: tensor<10xf32>
// CHECK: %[[R:.*]] = spmd.reshard %[[B]] <@mesh, [{"x" sizes [8, 2]}]> -> <@mesh, [{"x" sizes [3, 7]}]>
// CHECK-SAME: reason "operand 1 of 'stablehlo.add' is cut into [8, 2] in dim 0, but [3, 7] is needed"
// CHECK: stablehlo.add %[[A]], %[[R]]
spmd.mesh @mesh = <["x"=2]>
func.func @sizes(%a: tensor<10xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [3, 7]}]>},
                 %b: tensor<10xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [8, 2]}]>}) -> tensor<10xf32> {
  %0 = stablehlo.add %a, %b : tensor<10xf32>
  return %0 : tensor<10xf32>
}

// -----

// One operand of a contraction is whole in the contracted dim: it is cut, nothing is gathered.
// CHECK: func.func @contracted(
// CHECK: spmd.reshard %{{.*}} <@mesh, [{}, {}]> -> <@mesh, [{"x"}, {}]>
// CHECK-SAME: reason "operand 1 of 'stablehlo.dot_general' is whole in dim 0, but is needed cut along \22x\22"
// CHECK-NOT: spmd.reshard
// CHECK: stablehlo.dot_general
spmd.mesh @mesh = <["x"=2]>
func.func @contracted(%a: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>},
                      %w: tensor<16x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// One axis for rows of both operands: the smaller one is gathered.
// CHECK: func.func @oneAxisForBoth(
// CHECK: spmd.reshard %{{.*}} <@mesh, [{"x"}, {}]> -> <@mesh, [{}, {}]>
// CHECK-SAME: reason "operand 0 of 'stablehlo.dot_general' is cut along \22x\22 in dim 0, but is needed whole"
// CHECK-SAME: tensor<8x16xf32>
spmd.mesh @mesh = <["x"=2]>
func.func @oneAxisForBoth(%a: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                          %w: tensor<16x512xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x512xf32> {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x512xf32>) -> tensor<8x512xf32>
  return %0 : tensor<8x512xf32>
}

// -----

// A partial argument is combined where it is used.
// CHECK: func.func @partialArgument(
// CHECK: spmd.reshard %{{.*}} <@mesh, [{}], partial = {"x" = sum}> -> <@mesh, [{}]>
// CHECK-SAME: reason "operand 0 of 'stablehlo.negate' is still to be combined"
spmd.mesh @mesh = <["x"=2]>
func.func @partialArgument(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}], partial = {"x" = sum}>}) -> tensor<8xf32> {
  %0 = stablehlo.negate %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
