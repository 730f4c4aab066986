// Windows over padded operands whose sizes are bound later: blocks of rows of one image, of several images, and of rows of which there
// are fewer than a block has, or none. Beside the interpreter.
// RUN: shard-run %s --check=interpreter --dynamic=all --machine=generic,cache=8KB,shared_cache=64B,fork=1ns --threads=2
// RUN: shard-run %s --check=interpreter --dynamic=all --machine=generic,cache=8KB,shared_cache=64B,fork=1ns --mesh=x=3 --sizes=0:0=7,0,5 --sizes=2:0=0,47,1 --sizes=5:2=1,11,0
// RUN: shard-run %s --check=interpreter --dynamic=all --machine=generic,cache=8KB,shared_cache=64B,fork=1ns --mesh=x=3 --sizes=0:0=1,1,10 --sizes=2:0=2,45,1 --threads=3
// What other blocks than the last would have to hold has sizes that differ by rank, though these are known: it is not cut.
// RUN: shard-run %s --check=interpreter --machine=generic,cache=8KB,shared_cache=64B,fork=1ns --mesh=x=2 --sizes=5:2=5,7
// RUN: shard-opt %s --shardc-pipeline="machine=generic,cache=8KB dynamic=all" --mlir-print-ir-after=spmd-pad-blocks -o /dev/null 2>&1 | FileCheck %s

//   CHECK-LABEL: IR Dump After PadBlocksPass
//         CHECK: scf.for
//         CHECK: memref.alloc() {{.*}} : memref<8x2x8x7xf32>
//         CHECK: scf.for
//         CHECK: %[[LEFT:.*]] = arith.subi
//         CHECK: arith.minsi %{{.*}}, %[[LEFT]]
//     CHECK-NOT: scf.for
sdy.mesh @mesh = <["x"=2]>
func.func @main(%last: tensor<12x24x6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>}, %each: tensor<5x5x1x8xf32>,
                %image: tensor<48x2x6x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>}, %window: tensor<6x2x3x3xf32>, %bias: tensor<6xf32>,
                %columns: tensor<1x64x12x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}, {}]>},
                %taps: tensor<5x1x1x8xf32>)
    -> (tensor<12x24x6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>},
        tensor<48x6x6x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>},
        tensor<1x64x12x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}, {}]>}) {
  %none = stablehlo.constant dense<0.0> : tensor<48x6x6x5xf32>
  %0 = stablehlo.convolution(%last, %each) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[2, 2], [2, 2]]}
      {batch_group_count = 1 : i64, feature_group_count = 8 : i64} : (tensor<12x24x6x8xf32>, tensor<5x5x1x8xf32>) -> tensor<12x24x6x8xf32>
  %1 = stablehlo.convolution(%image, %window) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<48x2x6x5xf32>, tensor<6x2x3x3xf32>) -> tensor<48x6x6x5xf32>
  %2 = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<6xf32>) -> tensor<48x6x6x5xf32>
  %3 = stablehlo.add %1, %2 : tensor<48x6x6x5xf32>
  %4 = stablehlo.maximum %3, %none : tensor<48x6x6x5xf32>
  %5 = stablehlo.convolution(%columns, %taps) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[2, 2], [0, 0]]}
      {batch_group_count = 1 : i64, feature_group_count = 8 : i64} : (tensor<1x64x12x8xf32>, tensor<5x1x1x8xf32>) -> tensor<1x64x12x8xf32>
  return %0, %4, %5 : tensor<12x24x6x8xf32>, tensor<48x6x6x5xf32>, tensor<1x64x12x8xf32>
}
