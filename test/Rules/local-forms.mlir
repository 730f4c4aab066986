// RUN: shard-opt %s --split-input-file --spmd-import --spmd-propagate --spmd-partition | FileCheck %s

// A cut dim arrives with its padding: only the other dim keeps it.
sdy.mesh @mesh = <["x"=2]>
func.func @main(%image: tensor<1x8x8x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}, %kernel: tensor<3x3x1x2xf32>) -> tensor<1x8x8x2xf32> {
  %0 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x1xf32>, tensor<3x3x1x2xf32>) -> tensor<1x8x8x2xf32>
  return %0 : tensor<1x8x8x2xf32>
}
// CHECK: %[[GROWN:.*]] = local.halo_exchange
// CHECK: stablehlo.convolution(%[[GROWN]], %{{.*}}pad = {{\[\[}}0, 0], [1, 1]]
// CHECK-SAME: (tensor<1x6x8x1xf32>, tensor<3x3x1x2xf32>) -> tensor<1x4x8x2xf32>

// -----

// Cut groups leave each rank fewer of them.
sdy.mesh @mesh = <["x"=2]>
func.func @main(%image: tensor<1x5x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}, %kernel: tensor<3x1x4xf32>) -> tensor<1x3x4xf32> {
  %0 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<1x5x4xf32>, tensor<3x1x4xf32>) -> tensor<1x3x4xf32>
  return %0 : tensor<1x3x4xf32>
}
// CHECK: stablehlo.convolution
// CHECK-SAME: feature_group_count = 2 : i64
// CHECK-SAME: (tensor<1x5x2xf32>, tensor<3x1x2xf32>) -> tensor<1x3x2xf32>

// -----

// Ranks start from zero; the initial value is added once, at the end.
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %init: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%a init: %init) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// CHECK: func.func @main(%[[A:.*]]: tensor<4xf32> {{.*}}, %[[INIT:.*]]: tensor<f32>
// CHECK: %[[ZERO:.*]] = stablehlo.constant dense<-0.000000e+00> : tensor<f32>
// CHECK: %[[PART:.*]] = stablehlo.reduce(%[[A]] init: %[[ZERO]])
// CHECK: %[[TOTAL:.*]] = local.all_reduce sum %[[PART]]
// CHECK: stablehlo.add %{{.*}}, %[[TOTAL]]

// -----

// A maximum may start from the initial value everywhere.
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %init: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%a init: %init) applies stablehlo.maximum across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// CHECK: func.func @main(%[[A:.*]]: tensor<4xf32> {{.*}}, %[[INIT:.*]]: tensor<f32>
// CHECK: %[[PART:.*]] = stablehlo.reduce(%[[A]] init: %[[INIT]])
// CHECK: %[[TOTAL:.*]] = local.all_reduce max %[[PART]]
// CHECK: return %[[TOTAL]]

// -----

// Many updates that are cut go into zeros; the input comes last. (Few of them
// are gathered: test/Partition/rows.mlir.)
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<6x5xf32>, %i: tensor<400x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %u: tensor<400x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<6x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6x5xf32>, tensor<400x1xi32>, tensor<400x5xf32>) -> tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
}
// CHECK: func.func @main(%[[A:.*]]: tensor<6x5xf32> {{.*}}, %[[I:.*]]: tensor<200x1xi32> {{.*}}, %[[U:.*]]: tensor<200x5xf32>
// CHECK: %[[ZEROS:.*]] = stablehlo.broadcast_in_dim
// CHECK: %[[PART:.*]] = "stablehlo.scatter"(%[[ZEROS]], %[[I]], %[[U]])
// CHECK: %[[TOTAL:.*]] = local.all_reduce sum %[[PART]]
// CHECK: stablehlo.add %[[A]], %[[TOTAL]]

// -----

// Counted in i32 and rounded once: bf16 holds no odd number above 256.
sdy.mesh @mesh = <["x"=2]>
func.func @main() -> (tensor<600xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.iota dim = 0 : tensor<600xbf16>
  return %0 : tensor<600xbf16>
}
// CHECK: %[[FIRST:.*]] = local.lookup [0, 300] along ["x"]
// CHECK: %[[COUNT:.*]] = stablehlo.iota dim = 0 : tensor<300xi32>
// CHECK: %[[INDEX:.*]] = stablehlo.add %[[COUNT]], %{{.*}} : tensor<300xi32>
// CHECK: stablehlo.convert %[[INDEX]] : (tensor<300xi32>) -> tensor<300xbf16>

// -----

// Each rank cuts its block of a constant from the whole.
sdy.mesh @mesh = <["x"=3]>
func.func @main() -> (tensor<5xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi32>
  return %0 : tensor<5xi32>
}
// CHECK-DAG: %[[ALL:.*]] = stablehlo.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi32>
// CHECK-DAG: %[[FIRST:.*]] = local.lookup [0, 2, 4] along ["x"]
// CHECK-DAG: %[[SIZE:.*]] = local.lookup [2, 2, 1] along ["x"]
// CHECK: tensor.extract_slice %[[ALL]][%[[FIRST]]] [%[[SIZE]]] [1] : tensor<5xi32> to tensor<?xi32>

// -----

// A split dim is cut along its major part; unknown sizes are grouped as in the whole.
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<20x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<5x4x2xf32> {
  %0 = stablehlo.reshape %a : (tensor<20x2xf32>) -> tensor<5x4x2xf32>
  return %0 : tensor<5x4x2xf32>
}
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] output_shape [%{{.*}}, 4, 2] : tensor<?x2xf32> into tensor<?x4x2xf32>
