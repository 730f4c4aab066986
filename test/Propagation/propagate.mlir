// RUN: shard-opt %s --spmd-propagate --split-input-file | FileCheck %s

// A 3x3 convolution keeps its rows: no reshard, the halo is Partition's.
// CHECK: func.func @conv(
// CHECK-NOT: spmd.reshard
// CHECK: stablehlo.convolution
// CHECK-SAME: spmd.shardings = [#spmd.sharding<@mesh, [{}, {"x"}, {}, {}]>]
// CHECK: return
spmd.mesh @mesh = <["x"=4]>
func.func @conv(%image: tensor<1x32x32x3xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}, {}]>},
                %kernel: tensor<3x3x3x8xf32>) -> tensor<1x32x32x8xf32> {
  %0 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x32x32x3xf32>, tensor<3x3x3x8xf32>) -> tensor<1x32x32x8xf32>
  return %0 : tensor<1x32x32x8xf32>
}

// -----

// Pooling by two takes ceil(b / 2) of the boundaries, so that rows stay where they are.
// CHECK: func.func @pool(
// CHECK-SAME: -> (tensor<1x15x8x1xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x" sizes [6, 4, 5]}, {}, {}]>})
// CHECK-NOT: spmd.reshard
// CHECK: return
spmd.mesh @mesh = <["x"=3]>
func.func @pool(%image: tensor<1x30x16x1xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x" sizes [11, 9, 10]}, {}, {}]>})
    -> tensor<1x15x8x1xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%image, %low) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<1x30x16x1xf32>, tensor<f32>) -> tensor<1x15x8x1xf32>
  return %0 : tensor<1x15x8x1xf32>
}

// -----

// Upsampling by a broadcast and a reshape doubles the boundaries.
// CHECK: func.func @upsample(
// CHECK-SAME: -> (tensor<16x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [10, 6]}, {}]>})
// CHECK-NOT: spmd.reshard
// CHECK: return
spmd.mesh @mesh = <["x"=2]>
func.func @upsample(%a: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [5, 3]}, {}]>}) -> tensor<16x4xf32> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<8x4xf32>) -> tensor<8x2x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<8x2x4xf32>) -> tensor<16x4xf32>
  return %1 : tensor<16x4xf32>
}

// -----

// The contracted dim is cut: the result is summed over it, whole afterwards.
// CHECK: func.func @dot(
// CHECK-SAME: %[[W:[^:]*]]: tensor<16x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>})
// CHECK-SAME: -> (tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>})
// CHECK-NOT: spmd.reshard
// CHECK: stablehlo.dot_general
// CHECK-SAME: spmd.factors = [{{.*}}{"x"}{{.*}}]
// CHECK: return
spmd.mesh @mesh = <["x"=2]>
func.func @dot(%a: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>}, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// A stencil of shifted slices: all take the boundaries of the field.
// CHECK: func.func @stencil(
// CHECK-NOT: spmd.reshard
// CHECK: stablehlo.slice {{.*}} [2:32]
// CHECK-SAME: #spmd.sharding<@mesh, [{"x" sizes [10, 2, 11, 7]}]>
// CHECK: stablehlo.slice {{.*}} [0:30]
// CHECK-SAME: #spmd.sharding<@mesh, [{"x" sizes [10, 2, 11, 7]}]>
// CHECK: return
spmd.mesh @mesh = <["x"=4]>
func.func @stencil(%u: tensor<30xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [10, 2, 11, 7]}]>}) -> tensor<30xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.pad %u, %zero, low = [1], high = [1], interior = [0] : (tensor<30xf32>, tensor<f32>) -> tensor<32xf32>
  %above = stablehlo.slice %p [2:32] : (tensor<32xf32>) -> tensor<30xf32>
  %below = stablehlo.slice %p [0:30] : (tensor<32xf32>) -> tensor<30xf32>
  %0 = stablehlo.add %above, %below : tensor<30xf32>
  %1 = stablehlo.subtract %0, %u : tensor<30xf32>
  return %1 : tensor<30xf32>
}

// -----

// A roll by one: the row that comes around stays with the rank that has it.
// CHECK: func.func @roll(
// CHECK-NOT: spmd.reshard
// CHECK: stablehlo.slice {{.*}} [15:16]
// CHECK-SAME: #spmd.sharding<@mesh, [{"x" sizes [0, 0, 0, 1]}]>
// CHECK: return
spmd.mesh @mesh = <["x"=4]>
func.func @roll(%u: tensor<16xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<16xf32> {
  %last = stablehlo.slice %u [15:16] : (tensor<16xf32>) -> tensor<1xf32>
  %rest = stablehlo.slice %u [0:15] : (tensor<16xf32>) -> tensor<15xf32>
  %0 = stablehlo.concatenate %last, %rest, dim = 0 : (tensor<1xf32>, tensor<15xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// A constant that two uses want in two ways is made twice.
// CHECK: func.func @constants(
// CHECK-NOT: spmd.reshard
// CHECK-DAG: stablehlo.constant {{.*}}#spmd.sharding<@mesh, [{"x"}, {}]>
// CHECK-DAG: stablehlo.constant {{.*}}#spmd.sharding<@mesh, [{}, {"x"}]>
// CHECK-NOT: spmd.reshard
// CHECK: return
spmd.mesh @mesh = <["x"=2]>
func.func @constants(%a: tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                     %b: tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c = stablehlo.constant dense<1.0> : tensor<4x4xf32>
  %0 = stablehlo.add %a, %c : tensor<4x4xf32>
  %1 = stablehlo.add %b, %c : tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// An axis of one rank cuts nothing and moves nothing.
// CHECK: func.func @axisOfOne(
// CHECK-NOT: {"x"}
// CHECK-NOT: spmd.reshard
// CHECK: return
spmd.mesh @mesh = <["x"=1]>
func.func @axisOfOne(%a: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>})
    -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>}) {
  %0 = stablehlo.negate %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The lower priority number comes first.
// CHECK: func.func @priorities(
// CHECK-SAME: %[[C:[^:]*]]: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>})
spmd.mesh @mesh = <["x"=2]>
func.func @priorities(%a: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}p1, {}]>},
                      %b: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}p0]>},
                      %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.add %a, %c : tensor<8x8xf32>
  %1 = stablehlo.add %b, %c : tensor<8x8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
