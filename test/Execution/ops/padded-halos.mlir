// RUN: shard-run %s --check --check=interpreter
// RUN: shard-run %s --ranks=3 --sizes=0:2=4,0,7 --sizes=1:1=1,6,4 --check --check=interpreter
// RUN: shard-run %s --processes=3 --sizes=0:2=4,0,7 --sizes=1:1=1,6,4 --check
// RUN: shard-run %s --ranks=4 --threads=2 --check
// RUN: shard-run %s --ranks=3 --dynamic=all --check
// RUN: shard-opt %s --shardc-pipeline --mlir-print-ir-after=spmd-pad-in-exchanges -o /dev/null 2>&1 | FileCheck %s

// Windows over rows that are cut and columns that are not: the exchange writes
// rows with the zeros (or the least numbers) beside them.
// CHECK: IR Dump After PadInExchangesPass
// CHECK-COUNT-3: along [] :
// CHECK-NOT: memref.copy
// CHECK: return
sdy.mesh @mesh = <["x"=2]>
func.func public @main(
    %a: tensor<2x3x11x13xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}, {}]>},
    %b: tensor<1x11x6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>},
    %w: tensor<5x3x3x3xf32>, %v: tensor<5x3x1x4xf32>) -> (tensor<2x5x11x13xf32>, tensor<1x11x6x4xf32>, tensor<2x3x11x13xf32>) {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x11x13xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x11x13xf32>
  %1 = stablehlo.convolution(%b, %v) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[2, 2], [0, 2]]}
      {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<1x11x6x4xf32>, tensor<5x3x1x4xf32>) -> tensor<1x11x6x4xf32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %2 = "stablehlo.reduce_window"(%a, %least) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %m = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {window_dimensions = array<i64: 1, 1, 3, 3>, padding = dense<[[0, 0], [0, 0], [1, 1], [1, 1]]> : tensor<4x2xi64>}
      : (tensor<2x3x11x13xf32>, tensor<f32>) -> tensor<2x3x11x13xf32>
  return %0, %1, %2 : tensor<2x5x11x13xf32>, tensor<1x11x6x4xf32>, tensor<2x3x11x13xf32>
}
