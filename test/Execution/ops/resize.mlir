// RUN: shard-run %s --check --check=interpreter
// RUN: shard-run %s --ranks=3 --sizes=0:1=3,0,5 --check --check=interpreter
// RUN: shard-run %s --mesh=x=1 --threads=2 --check --check=interpreter
// RUN: shard-opt %s --shardc-pipeline --mlir-print-ir-after=spmd-split-bands -o /dev/null 2>&1 | FileCheck %s

// Rows and columns between those of an image, by weights that follow from
// positions, as jax.image.resize writes it: on the left and on the right of a
// product, by blocks with the rows or columns that have a weight.
// CHECK: IR Dump After SplitBandsPass
// CHECK: stablehlo.dot_general {{.*}} (tensor<[[H:[0-9]+]]x32xf32>, tensor<2x4x[[H]]x101xf32>) -> tensor<32x2x4x101xf32>
// CHECK: stablehlo.dot_general {{.*}} -> tensor<110x2x4x32xf32>
// CHECK-NOT: tensor<64x110xf32>, tensor<2x4x64x101xf32>

sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<2x8x64x101xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}) -> tensor<110x2x8x150xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %high = stablehlo.constant dense<0.58> : tensor<110xf32>
  %wide = stablehlo.constant dense<0.67> : tensor<150xf32>

  %i = stablehlo.iota dim = 0 : tensor<64xf32>
  %rows = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<64xf32>) -> tensor<64x110xf32>
  %j = stablehlo.iota dim = 0 : tensor<110xf32>
  %at = stablehlo.multiply %j, %high : tensor<110xf32>
  %places = stablehlo.broadcast_in_dim %at, dims = [1] : (tensor<110xf32>) -> tensor<64x110xf32>
  %d = stablehlo.subtract %rows, %places : tensor<64x110xf32>
  %far = stablehlo.abs %d : tensor<64x110xf32>
  %ones = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<64x110xf32>
  %near = stablehlo.subtract %ones, %far : tensor<64x110xf32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<64x110xf32>
  %v = stablehlo.maximum %near, %zeros : tensor<64x110xf32>
  %sum = stablehlo.reduce(%v init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64x110xf32>, tensor<f32>) -> tensor<110xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [1] : (tensor<110xf32>) -> tensor<64x110xf32>
  %w = stablehlo.divide %v, %sums : tensor<64x110xf32>
  %y = stablehlo.dot_general %w, %x, contracting_dims = [0] x [2] : (tensor<64x110xf32>, tensor<2x8x64x101xf32>) -> tensor<110x2x8x101xf32>

  %k = stablehlo.iota dim = 0 : tensor<101x150xf32>
  %l = stablehlo.iota dim = 0 : tensor<150xf32>
  %to = stablehlo.multiply %l, %wide : tensor<150xf32>
  %columns = stablehlo.broadcast_in_dim %to, dims = [1] : (tensor<150xf32>) -> tensor<101x150xf32>
  %e = stablehlo.subtract %k, %columns : tensor<101x150xf32>
  %off = stablehlo.abs %e : tensor<101x150xf32>
  %limit = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<101x150xf32>
  %in = stablehlo.compare LT, %off, %limit, FLOAT : (tensor<101x150xf32>, tensor<101x150xf32>) -> tensor<101x150xi1>
  %weight = stablehlo.subtract %limit, %off : tensor<101x150xf32>
  %none = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<101x150xf32>
  %u = stablehlo.select %in, %weight, %none : tensor<101x150xi1>, tensor<101x150xf32>
  %z = stablehlo.dot_general %y, %u, contracting_dims = [3] x [0] : (tensor<110x2x8x101xf32>, tensor<101x150xf32>) -> tensor<110x2x8x150xf32>
  return %z : tensor<110x2x8x150xf32>
}
