// Few queries beside many keys, as when one token follows another: keys are turned by squares in registers, and what squares leave
// of keys (300 = 18 x 16 + 12) and of features (40 = 2 x 16 + 8, 13) by masks and element by element. Whole, and with keys in
// shards of which one is empty and one a few keys long.
// RUN: shard-opt %s --shardc-pipeline | FileCheck %s
// RUN: shard-run %s --check=interpreter --mesh=x=1 --threads=2
// RUN: shard-run %s --check=interpreter --mesh=x=3 --sizes=1:0=257,0,43 --sizes=2:0=257,0,43 --sizes=4:0=0,7,293 --sizes=5:0=0,7,293
// RUN: shard-run %s --check=interpreter --mesh=x=3 --dynamic=all --sizes=1:0=257,0,43 --sizes=2:0=257,0,43
// RUN: shard-run %s --check=interpreter --mesh=x=2 --reproducible
// A program of pairs, and not of products: its squares are there.
// CHECK: llvm.shufflevector
module {
  sdy.mesh @mesh = <["x"=3]>
  func.func public @main(
      %q: tensor<1x2x40xf32>, %k: tensor<300x2x40xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>},
      %v: tensor<300x2x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>},
      %qd: tensor<3x2x13xf64>, %kd: tensor<300x2x13xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>},
      %vd: tensor<300x2x5xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<2x1x24xf32>, tensor<2x3x5xf64>) {
    %z0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %low0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %s0 = stablehlo.dot_general %q, %k, batching_dims = [1] x [1], contracting_dims = [2] x [2] : (tensor<1x2x40xf32>, tensor<300x2x40xf32>) -> tensor<2x1x300xf32>
    %m0 = stablehlo.reduce(%s0 init: %low0) applies stablehlo.maximum across dimensions = [2] : (tensor<2x1x300xf32>, tensor<f32>) -> tensor<2x1xf32>
    %mb0 = stablehlo.broadcast_in_dim %m0, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x1x300xf32>
    %c0 = stablehlo.subtract %s0, %mb0 : tensor<2x1x300xf32>
    %x0 = stablehlo.exponential %c0 : tensor<2x1x300xf32>
    %l0 = stablehlo.reduce(%x0 init: %z0) applies stablehlo.add across dimensions = [2] : (tensor<2x1x300xf32>, tensor<f32>) -> tensor<2x1xf32>
    %lb0 = stablehlo.broadcast_in_dim %l0, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x1x300xf32>
    %w0 = stablehlo.divide %x0, %lb0 : tensor<2x1x300xf32>
    %o0 = stablehlo.dot_general %w0, %v, batching_dims = [0] x [1], contracting_dims = [2] x [0] : (tensor<2x1x300xf32>, tensor<300x2x24xf32>) -> tensor<2x1x24xf32>
    %z1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %low1 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %s1 = stablehlo.dot_general %qd, %kd, batching_dims = [1] x [1], contracting_dims = [2] x [2] : (tensor<3x2x13xf64>, tensor<300x2x13xf64>) -> tensor<2x3x300xf64>
    %m1 = stablehlo.reduce(%s1 init: %low1) applies stablehlo.maximum across dimensions = [2] : (tensor<2x3x300xf64>, tensor<f64>) -> tensor<2x3xf64>
    %mb1 = stablehlo.broadcast_in_dim %m1, dims = [0, 1] : (tensor<2x3xf64>) -> tensor<2x3x300xf64>
    %c1 = stablehlo.subtract %s1, %mb1 : tensor<2x3x300xf64>
    %x1 = stablehlo.exponential %c1 : tensor<2x3x300xf64>
    %l1 = stablehlo.reduce(%x1 init: %z1) applies stablehlo.add across dimensions = [2] : (tensor<2x3x300xf64>, tensor<f64>) -> tensor<2x3xf64>
    %lb1 = stablehlo.broadcast_in_dim %l1, dims = [0, 1] : (tensor<2x3xf64>) -> tensor<2x3x300xf64>
    %w1 = stablehlo.divide %x1, %lb1 : tensor<2x3x300xf64>
    %o1 = stablehlo.dot_general %w1, %vd, batching_dims = [0] x [1], contracting_dims = [2] x [0] : (tensor<2x3x300xf64>, tensor<300x2x5xf64>) -> tensor<2x3x5xf64>
    return %o0, %o1 : tensor<2x1x24xf32>, tensor<2x3x5xf64>
  }
}
