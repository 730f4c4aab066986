// RUN: shard-run %s --machine=generic,cache=64KB,fork=1ns --check --check=interpreter
// RUN: shard-run %s --machine=generic,cache=64KB,fork=1ns --mesh=x=1 --threads=3 --check --check=interpreter
// RUN: shard-run %s --machine=generic,cache=64KB,fork=1ns --mesh=x=1 --arch=x86-64-v3 --check=interpreter
// RUN: shard-run %s --machine=generic,cache=64KB,fork=1ns --mesh=x=3 --sizes=0:0=2000,0,507 --check --check=interpreter
// RUN: shard-opt %s --shardc-pipeline="machine=generic,cache=64KB,fork=1ns" --mlir-print-ir-after=spmd-fuse-rows 2>&1 | FileCheck %s

// Rows of three and of five numbers, side by side in memory, are done in blocks as
// long ones are: softmax, and points divided by how far they are.
// CHECK: IR Dump After FuseRowsPass
// CHECK: scf.for
// CHECK: linalg.generic {{.*}}["parallel", "reduction"]
// CHECK: linalg.generic {{.*}}["parallel", "reduction"]
// CHECK: }
// CHECK: scf.for
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "reduction"]
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "parallel"]

sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<2507x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %points: tensor<5x499x5xf64>) -> (tensor<2507x3xf32>, tensor<5x499x5xf64>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %most = stablehlo.reduce(%x init: %lowest) applies stablehlo.maximum across dimensions = [1] : (tensor<2507x3xf32>, tensor<f32>) -> tensor<2507xf32>
  %mostOfRow = stablehlo.broadcast_in_dim %most, dims = [0] : (tensor<2507xf32>) -> tensor<2507x3xf32>
  %below = stablehlo.subtract %x, %mostOfRow : tensor<2507x3xf32>
  %power = stablehlo.exponential %below : tensor<2507x3xf32>
  %sum = stablehlo.reduce(%power init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2507x3xf32>, tensor<f32>) -> tensor<2507xf32>
  %sumOfRow = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<2507xf32>) -> tensor<2507x3xf32>
  %y = stablehlo.divide %power, %sumOfRow : tensor<2507x3xf32>
  %none = stablehlo.constant dense<0.0> : tensor<f64>
  %squares = stablehlo.multiply %points, %points : tensor<5x499x5xf64>
  %square = stablehlo.reduce(%squares init: %none) applies stablehlo.add across dimensions = [2] : (tensor<5x499x5xf64>, tensor<f64>) -> tensor<5x499xf64>
  %length = stablehlo.sqrt %square : tensor<5x499xf64>
  %ofRow = stablehlo.broadcast_in_dim %length, dims = [0, 1] : (tensor<5x499xf64>) -> tensor<5x499x5xf64>
  %unit = stablehlo.divide %points, %ofRow : tensor<5x499x5xf64>
  return %y, %unit : tensor<2507x3xf32>, tensor<5x499x5xf64>
}
