// Windows over rows that are cut, whose exchange brings the margins alone: beside the interpreter, on 1, 2 and 3 ranks, which own as
// much each, and on 2 by 2, where both dims are cut; a halo of one side; uneven cuts, whose last blocks overlap, and a rank with no rows;
// the same bits for threads.
// RUN: shard-run %s --check=interpreter --machine=generic,cache=8KB,shared_cache=64B,fork=1ns
// RUN: shard-run %s --check --check=interpreter --mesh=x=3,y=1 --machine=generic,cache=8KB,fork=1ns
// RUN: shard-run %s --check --check=interpreter --mesh=x=2,y=2 --machine=generic,cache=8KB,fork=1ns --threads=2
// RUN: shard-run %s --check=interpreter --mesh=x=2,y=1 --processes=2 --machine=generic,cache=8KB,fork=1ns
// RUN: shard-run %s --check=interpreter --mesh=x=3,y=1 --sizes=0:1=20,0,28 --sizes=2:2=19,0,29 --sizes=5:2=25,23,0 --machine=generic,cache=8KB,fork=1ns --threads=3
// RUN: shard-opt %s --shardc-pipeline=machine=generic,cache=8KB --mlir-print-ir-after=spmd-leave-blocks --mlir-print-ir-after=spmd-pad-blocks -o /dev/null 2>&1 | FileCheck %s

//   CHECK-LABEL: IR Dump After LeaveBlocksPass
//         CHECK: parts = [#local.part<
// CHECK-COUNT-3: memref.copy
//     CHECK-NOT: memref.copy
//   CHECK-LABEL: IR Dump After PadBlocksPass
// CHECK-COUNT-3: scf.for
sdy.mesh @mesh = <["x"=2, "y"=1]>
func.func @main(%last: tensor<2x48x6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {"y"}, {}]>}, %each: tensor<5x5x1x8xf32>,
                %image: tensor<3x4x48x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}, {}]>}, %window: tensor<6x4x3x3xf32>, %bias: tensor<6xf32>,
                %other: tensor<3x4x48x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}, {}]>})
    -> (tensor<2x48x6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {"y"}, {}]>},
        tensor<3x6x48x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}, {}]>},
        tensor<3x6x48x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}, {}]>}) {
  %none = stablehlo.constant dense<0.0> : tensor<3x6x48x12xf32>
  %0 = stablehlo.convolution(%last, %each) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[2, 2], [2, 2]]}
      {batch_group_count = 1 : i64, feature_group_count = 8 : i64} : (tensor<2x48x6x8xf32>, tensor<5x5x1x8xf32>) -> tensor<2x48x6x8xf32>
  %1 = stablehlo.convolution(%image, %window) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x4x48x12xf32>, tensor<6x4x3x3xf32>) -> tensor<3x6x48x12xf32>
  %2 = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<6xf32>) -> tensor<3x6x48x12xf32>
  %3 = stablehlo.add %1, %2 : tensor<3x6x48x12xf32>
  %4 = stablehlo.maximum %3, %none : tensor<3x6x48x12xf32>
  // Rows above alone.
  %5 = stablehlo.convolution(%other, %window) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[2, 0], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x4x48x12xf32>, tensor<6x4x3x3xf32>) -> tensor<3x6x48x12xf32>
  return %0, %4, %5 : tensor<2x48x6x8xf32>, tensor<3x6x48x12xf32>, tensor<3x6x48x12xf32>
}
