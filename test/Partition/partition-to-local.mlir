// RUN: shard-opt %s --split-input-file --spmd-propagate --spmd-partition | FileCheck %s

// A 3x3 window needs one row from each neighbour; past the edge stand zeros, so
// that all ranks have the same shape.
spmd.mesh @mesh = <["x"=4]>
// CHECK-LABEL: func @one_row_each_side(
//  CHECK-SAME:   %[[IMAGE:.*]]: tensor<1x8x8x24xf32>
//       CHECK:   %[[GROWN:.*]] = local.halo_exchange %[[IMAGE]]
//  CHECK-SAME:     <dim 2 along ["x"] : [0:8, 8:16, 16:24, 24:32] -> [-1:9, 7:17, 15:25, 23:33]>
//  CHECK-SAME:     tensor<1x8x8x24xf32> -> tensor<1x8x10x24xf32>
//       CHECK:   stablehlo.convolution(%[[GROWN]],
//  CHECK-SAME:     pad = {{\[\[}}0, 0], [1, 1]]
//  CHECK-SAME:     -> tensor<1x8x8x24xf32>
//   CHECK-NOT:   local.all
func.func @one_row_each_side(%image: tensor<1x8x32x24xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {"x"}, {}]>},
                             %w: tensor<8x8x3x3xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {}, {}]>}) -> tensor<1x8x32x24xf32> {
  %0 = stablehlo.convolution(%image, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x32x24xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x32x24xf32>
  return %0 : tensor<1x8x32x24xf32>
}

// -----

// Uneven shards, one empty, one thinner than the halo: each rank has its own
// widths, and sizes come from a table.
spmd.mesh @mesh = <["x"=4]>
// CHECK-LABEL: func @uneven(
//  CHECK-SAME:   tensor<1x?x8xf32>
//       CHECK:   local.halo_exchange
//  CHECK-SAME:     [0:1, 1:1, 1:6, 6:10] -> [-2:3, -2:-2, -1:8, 4:12]
//  CHECK-SAME:     tensor<1x?x8xf32> -> tensor<1x?x8xf32>
func.func @uneven(%x: tensor<1x10x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x" sizes [1, 0, 5, 4]}, {}]>},
                  %w: tensor<5x8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {}]>}) -> tensor<1x10x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[2, 2]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x10x8xf32>, tensor<5x8x8xf32>) -> tensor<1x10x8xf32>
  return %0 : tensor<1x10x8xf32>
}

// -----

// Two dims over two axes: one exchange, corners in the same round.
spmd.mesh @mesh = <["i"=2, "j"=2]>
// CHECK-LABEL: func @corners(
//       CHECK:   local.halo_exchange
//  CHECK-SAME:     [<dim 1 along ["i"] : [0:8, 8:16] -> [-1:9, 7:17]>, <dim 2 along ["j"] : [0:6, 6:12] -> [-1:7, 5:13]>]
//   CHECK-NOT:   local.halo_exchange
func.func @corners(%x: tensor<1x16x12x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"i"}, {"j"}, {}]>},
                   %w: tensor<3x3x4x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {}, {}]>}) -> tensor<1x16x12x4xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x12x4xf32>, tensor<3x3x4x4xf32>) -> tensor<1x16x12x4xf32>
  return %0 : tensor<1x16x12x4xf32>
}

// -----

// Windows side by side on aligned shards: nothing moves, rows stay where they are.
spmd.mesh @mesh = <["x"=4]>
// CHECK-LABEL: func @pooling_stays(
//  CHECK-SAME:   tensor<1x8x6xf32>
//   CHECK-NOT:   local.{{halo|rebalance|all}}
//       CHECK:   -> tensor<1x4x3xf32>
func.func @pooling_stays(%x: tensor<1x32x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>}) -> tensor<1x16x3xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %low) <{window_dimensions = array<i64: 1, 2, 2>, window_strides = array<i64: 1, 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<1x32x6xf32>, tensor<f32>) -> tensor<1x16x3xf32>
  return %0 : tensor<1x16x3xf32>
}

// -----

// A transposed convolution: fill and neighbours' rows, spread apart in a phase
// of each rank's own.
spmd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func @dilated_phase(
//       CHECK:   local.halo_exchange
//       CHECK:   local.dilate %{{.*}} dim 1 by 2
//       CHECK:   stablehlo.convolution
//   CHECK-NOT:   lhs_dilate = [2
func.func @dilated_phase(%x: tensor<1x7x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x" sizes [4, 3]}, {}]>},
                         %w: tensor<3x4x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {}]>}) -> tensor<1x13x4xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]], lhs_dilate = [2]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x7x4xf32>, tensor<3x4x4xf32>) -> tensor<1x13x4xf32>
  return %0 : tensor<1x13x4xf32>
}

// -----

// A contracted dim that is cut: partial sums, combined once.
spmd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func @contracted(
//       CHECK:   %[[PART:.*]] = stablehlo.dot_general
//       CHECK:   local.all_reduce sum %[[PART]] along ["x"]
func.func @contracted(%a: tensor<4x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>},
                      %b: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// Where only a part of the sum is kept, each rank is sent just that.
spmd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func @scattered(
//       CHECK:   local.reduce_scatter sum %{{.*}} along ["x"] [<dim 0 along ["x"] : [0:4, 0:4] -> [0:2, 2:4]>]
//   CHECK-NOT:   local.all_reduce
func.func @scattered(%a: tensor<4x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>},
                     %b: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// A roll is two slices joined: one row moves to each neighbour.
spmd.mesh @mesh = <["x"=4]>
// CHECK-LABEL: func @roll(
//   CHECK-NOT:   local.all_gather
//       CHECK:   local.{{halo_exchange|rebalance}}
//   CHECK-NOT:   local.all_gather
//       CHECK:   return %{{.*}} : tensor<8x6xf32>
func.func @roll(%x: tensor<32x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<32x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.slice %x [31:32, 0:6] : (tensor<32x6xf32>) -> tensor<1x6xf32>
  %1 = stablehlo.slice %x [0:31, 0:6] : (tensor<32x6xf32>) -> tensor<31x6xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x6xf32>, tensor<31x6xf32>) -> tensor<32x6xf32>
  return %2 : tensor<32x6xf32>
}

// -----

// From one partition to another only the differences move; from one dim to
// another, all_to_all; from whole to cut, nothing.
spmd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func @reshards(
//       CHECK:   local.rebalance %{{.*}} [<dim 0 along ["x"] : [0:4, 4:8] -> [0:3, 3:8]>]
//       CHECK:   local.all_to_all
//       CHECK:   tensor.extract_slice
func.func @reshards(%a: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                    %b: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>})
    -> (tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [3, 5]}, {}]>},
        tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>},
        tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}) {
  return %a, %a, %b : tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>
}

// -----

// Padding between cut rows comes with the halo: no rank moves a row it need not.
spmd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func @stencil(
//   CHECK-NOT:   local.all_gather
//       CHECK:   return %{{.*}} : tensor<?x4xf32>
func.func @stencil(%x: tensor<7x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [3, 4]}, {}]>})
    -> (tensor<7x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [3, 4]}, {}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [1, 0], high = [1, 0], interior = [0, 0] : (tensor<7x4xf32>, tensor<f32>) -> tensor<9x4xf32>
  %1 = stablehlo.slice %0 [0:7, 0:4] : (tensor<9x4xf32>) -> tensor<7x4xf32>
  %2 = stablehlo.slice %0 [2:9, 0:4] : (tensor<9x4xf32>) -> tensor<7x4xf32>
  %3 = stablehlo.add %1, %2 : tensor<7x4xf32>
  return %3 : tensor<7x4xf32>
}
