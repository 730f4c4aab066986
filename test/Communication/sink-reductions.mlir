// RUN: shard-opt %s --spmd-sink-reductions --split-input-file | FileCheck %s
// RUN: shard-opt %s --spmd-sink-reductions --spmd-verify-communication --split-input-file

spmd.mesh @mesh = <["x"=2]>

// The sum of two partial values is combined once.
// CHECK-LABEL: func @sum_of_two(
//  CHECK-SAME:   %[[A:.*]]: tensor<4x6xf32>, %[[B:.*]]: tensor<6x4xf32>
//       CHECK:   %[[T:.*]] = stablehlo.transpose %[[A]]
//       CHECK:   %[[S:.*]] = stablehlo.add %[[T]], %[[B]]
//       CHECK:   %[[R:.*]] = local.all_reduce sum %[[S]] along ["x"] reason "first; second"
//   CHECK-NOT:   all_reduce
//       CHECK:   return %[[R]]
func.func @sum_of_two(%a: tensor<4x6xf32>, %b: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {spmd.local_view} {
  %0 = local.all_reduce sum %a along ["x"] reason "first" on @mesh : tensor<4x6xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %2 = local.all_reduce sum %b along ["x"] reason "second" on @mesh : tensor<6x4xf32>
  %3 = stablehlo.add %1, %2 : tensor<6x4xf32>
  return %3 : tensor<6x4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// A maximum is not linear, a square neither, and who else reads it wants it whole.
// CHECK-LABEL: func @not_linear(
//       CHECK:   %[[M:.*]] = local.all_reduce max
//       CHECK:   %[[N:.*]] = local.all_reduce max
//       CHECK:   stablehlo.add %[[M]], %[[N]]
//       CHECK:   %[[S:.*]] = local.all_reduce sum
//       CHECK:   stablehlo.multiply %[[S]], %[[S]]
func.func @not_linear(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {spmd.local_view} {
  %0 = local.all_reduce max %a along ["x"] on @mesh : tensor<4xf32>
  %1 = local.all_reduce max %b along ["x"] on @mesh : tensor<4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4xf32>
  %3 = local.all_reduce sum %a along ["x"] on @mesh : tensor<4xf32>
  %4 = stablehlo.multiply %3, %3 : tensor<4xf32>
  %5 = local.all_reduce sum %b along ["x"] on @mesh : tensor<4xf32>
  %6 = stablehlo.add %4, %5 : tensor<4xf32>
  return %2, %6 : tensor<4xf32>, tensor<4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// A factor that differs by rank does not pass.
// CHECK-LABEL: func @factors(
//  CHECK-SAME:   %[[A:[^:]*]]: tensor<4xf32>, %[[B:[^:]*]]: tensor<4xf32>, %[[U:[^:]*]]: tensor<4xf32> {{.*}}%[[V:[^:]*]]: tensor<4xf32>
//       CHECK:   %[[SCALED:.*]] = stablehlo.multiply %[[A]], %[[U]]
//       CHECK:   %[[SUM:.*]] = stablehlo.add %[[SCALED]], %[[B]]
//       CHECK:   local.all_reduce sum %[[SUM]]
//       CHECK:   %[[R:.*]] = local.all_reduce sum %[[A]]
//       CHECK:   stablehlo.multiply %[[R]], %[[V]]
//       CHECK:   local.all_reduce sum %[[B]]
func.func @factors(%a: tensor<4xf32>, %b: tensor<4xf32>, %u: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>},
                   %v: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>})
    -> (tensor<4xf32>, tensor<4xf32>) attributes {spmd.local_view} {
  %0 = local.all_reduce sum %a along ["x"] on @mesh : tensor<4xf32>
  %1 = stablehlo.multiply %0, %u : tensor<4xf32>
  %2 = local.all_reduce sum %b along ["x"] on @mesh : tensor<4xf32>
  %3 = stablehlo.add %1, %2 : tensor<4xf32>
  %4 = local.all_reduce sum %a along ["x"] on @mesh : tensor<4xf32>
  %5 = stablehlo.multiply %4, %v : tensor<4xf32>
  %6 = local.all_reduce sum %b along ["x"] on @mesh : tensor<4xf32>
  %7 = stablehlo.add %5, %6 : tensor<4xf32>
  return %3, %7 : tensor<4xf32>, tensor<4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// The gradient of a weight that every iteration uses: one combination behind the loop; what it starts from is not partial.
// CHECK-LABEL: func @accumulator(
//       CHECK:   %[[ZERO:.*]] = stablehlo.constant dense<-0.000000e+00> : tensor<4xf32>
//       CHECK:   %[[LOOP:.*]]:2 = stablehlo.while(%{{.*}} = %{{.*}}, %[[ACC:.*]] = %[[ZERO]])
//   CHECK-NOT:   all_reduce
//       CHECK:   stablehlo.return
//       CHECK:   %[[R:.*]] = local.all_reduce sum %[[LOOP]]#1
//       CHECK:   %[[T:.*]] = stablehlo.add %{{.*}}, %[[R]]
//       CHECK:   return %[[T]]
func.func @accumulator(%start: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> attributes {spmd.local_view} {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<5> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %acc = %start) : tensor<i32>, tensor<4xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %g = local.all_reduce sum %x along ["x"] on @mesh : tensor<4xf32>
    %r = stablehlo.negate %g : tensor<4xf32>
    %next = stablehlo.add %acc, %r : tensor<4xf32>
    stablehlo.return %j, %next : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// The accumulator is read in the loop: it must be whole there.
// CHECK-LABEL: func @accumulator_in_use(
//       CHECK:   do {
//       CHECK:     local.all_reduce
func.func @accumulator_in_use(%start: tensor<4xf32>) -> tensor<4xf32> attributes {spmd.local_view} {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<5> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %acc = %start) : tensor<i32>, tensor<4xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %s = stablehlo.sine %acc : tensor<4xf32>
    %g = local.all_reduce sum %s along ["x"] on @mesh : tensor<4xf32>
    %next = stablehlo.add %acc, %g : tensor<4xf32>
    stablehlo.return %j, %next : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2, "y"=3]>

// Each rank keeps a part along x: it combines that part alone, and along y what both have. The decay of the weight is
// added to the part.
// CHECK-LABEL: func @scatter(
//  CHECK-SAME:   %[[G:[^:]*]]: tensor<4x6xf32>, %[[W:[^:]*]]: tensor<6x4xf32>
//       CHECK:   %[[AT:.*]] = local.lookup [0, 3]
//       CHECK:   %[[T:.*]] = stablehlo.transpose %[[G]]
//       CHECK:   %[[S:.*]] = local.reduce_scatter sum %[[T]] along ["x"] [<dim 0 along ["x"] : [0:6, 0:6] -> [0:3, 3:6]>]
//       CHECK:   %[[R:.*]] = local.all_reduce sum %[[S]] along ["y"]
//       CHECK:   %[[P:.*]] = tensor.extract_slice %[[W]][%[[AT]], 0] [3, 4] [1, 1]
//       CHECK:   %[[D:.*]] = stablehlo.add %[[R]], %[[P]]
//       CHECK:   return %[[D]]
func.func @scatter(%g: tensor<4x6xf32>, %w: tensor<6x4xf32>) -> tensor<3x4xf32> attributes {spmd.local_view} {
  %at = local.lookup [0, 3] along ["x"] on @mesh
  %0 = local.all_reduce sum %g along ["x", "y"] on @mesh : tensor<4x6xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %2 = stablehlo.add %1, %w : tensor<6x4xf32>
  %3 = tensor.extract_slice %2[%at, 0] [3, 4] [1, 1] : tensor<6x4xf32> to tensor<3x4xf32>
  return %3 : tensor<3x4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2, "y"=3]>

// Two kinds of part: the whole is needed.
// CHECK-LABEL: func @two_parts(
//       CHECK:   local.all_reduce sum
//   CHECK-NOT:   reduce_scatter
func.func @two_parts(%g: tensor<4x6xf32>) -> (tensor<2x6xf32>, tensor<4x3xf32>) attributes {spmd.local_view} {
  %row = local.lookup [0, 2] along ["x"] on @mesh
  %column = local.lookup [0, 3] along ["x"] on @mesh
  %0 = local.all_reduce sum %g along ["x"] on @mesh : tensor<4x6xf32>
  %1 = tensor.extract_slice %0[%row, 0] [2, 6] [1, 1] : tensor<4x6xf32> to tensor<2x6xf32>
  %2 = tensor.extract_slice %0[0, %column] [4, 3] [1, 1] : tensor<4x6xf32> to tensor<4x3xf32>
  return %1, %2 : tensor<2x6xf32>, tensor<4x3xf32>
}

// -----

spmd.mesh @mesh = <["x"=2, "y"=3]>

// Along x, then along y, of what has become smaller in between.
// CHECK-LABEL: func @one_after_the_other(
//       CHECK:   %[[SUM:.*]] = stablehlo.reduce(%{{.*}} init:
//       CHECK:   local.all_reduce sum %[[SUM]] along ["y", "x"]
//   CHECK-NOT:   all_reduce
func.func @one_after_the_other(%a: tensor<4x6xf32>) -> tensor<6xf32> attributes {spmd.local_view} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = local.all_reduce sum %a along ["x"] on @mesh : tensor<4x6xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
  %2 = local.all_reduce sum %1 along ["y"] on @mesh : tensor<6xf32>
  return %2 : tensor<6xf32>
}

// -----

spmd.mesh @mesh = <["x"=2, "y"=3]>

// What is the same on all ranks of the group is not combined with itself: a maximum is that, a sum k times that.
// CHECK-LABEL: func @the_same(
//  CHECK-SAME:   %[[U:.*]]: tensor<4xf32>
//       CHECK:   %[[TWICE:.*]] = stablehlo.constant dense<2.000000e+00>
//       CHECK:   %[[S:.*]] = stablehlo.multiply %[[U]], %[[TWICE]]
//       CHECK:   return %[[U]], %[[S]]
func.func @the_same(%u: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>}) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {spmd.local_view} {
  %0 = local.all_reduce max %u along ["x", "y"] on @mesh : tensor<4xf32>
  %1 = local.all_reduce sum %u along ["x"] on @mesh : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Shards of a sum that is the same on all ranks, of sizes that are bound later: each rank sums up its own alone.
// CHECK-LABEL: func.func @open_shards(
//  CHECK-SAME:   %[[X:[^:]*]]: tensor<4x16xf32>
//       CHECK:   %[[T:.*]] = stablehlo.transpose %[[X]]
//       CHECK:   %[[S:.*]] = local.reduce_scatter sum %[[T]] along ["x"] [<dim 0 along ["x"] : [0:16, 0:16] -> [0:8, 8:16] by #spmd.formula<same [0, 16]> -> #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>>]
//   CHECK-NOT:   all_reduce
//       CHECK:   return %[[S]]
spmd.mesh @mesh = <["x"=2]>
func.func @open_shards(%x: tensor<4x16xf32>, %y: tensor<?xf32> {spmd.global_type = tensor<16xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [8, 8] by #spmd.formula<given [0, 0, 16]>}]>}) -> tensor<?x4xf32> attributes {spmd.local_view} {
  %0 = local.all_reduce sum %x along ["x"] on @mesh : tensor<4x16xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x16xf32>) -> tensor<16x4xf32>
  %2 = local.halo_exchange %1 [<dim 0 along ["x"] : [0:16, 0:16] -> [0:8, 8:16] by #spmd.formula<same [0, 16]> -> #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>>] on @mesh : tensor<16x4xf32> -> tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}

// -----

// Of shards along another axis all are summed up along "x".
// CHECK-LABEL: func.func @open_shards_of_another_axis(
//       CHECK:   local.all_reduce sum
//       CHECK:   local.halo_exchange
spmd.mesh @mesh = <["x"=2, "y"=2]>
func.func @open_shards_of_another_axis(%x: tensor<16x4xf32>) -> tensor<?x4xf32> attributes {spmd.local_view} {
  %0 = local.all_reduce sum %x along ["x"] on @mesh : tensor<16x4xf32>
  %1 = local.halo_exchange %0 [<dim 0 along ["y"] : [0:16, 0:16] -> [0:8, 8:16] by #spmd.formula<same [0, 16]> -> #spmd.formula<shards [1] (#spmd.formula<given [0, 0, 16]>)>>] on @mesh : tensor<16x4xf32> -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// -----

// What each rank needs of it and its neighbours' is summed up more than once: all of it is.
// CHECK-LABEL: func.func @open_halo(
//       CHECK:   local.all_reduce sum
//       CHECK:   local.halo_exchange
#rows = #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>
spmd.mesh @mesh = <["x"=2]>
func.func @open_halo(%x: tensor<16x4xf32>, %z: tensor<f32>) -> tensor<?x4xf32> attributes {spmd.local_view} {
  %0 = local.all_reduce sum %x along ["x"] on @mesh : tensor<16x4xf32>
  %1 = local.halo_exchange %0 [<dim 0 along ["x"] : [0:16, 0:16] -> [-1:9, 7:17] by #spmd.formula<same [0, 16]> -> #spmd.formula<positions [-1, 1, 1] (#rows, #spmd.formula<same [0, 3]>)>>] fill %z : tensor<f32> on @mesh : tensor<16x4xf32> -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
