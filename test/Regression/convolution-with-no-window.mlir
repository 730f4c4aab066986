// RUN: shard-run %s --seed=1 --check=interpreter
// RUN: shard-run %s --seed=1 --check --mesh=x=3
// RUN: shard-opt %s --spmd-import --spmd-propagate --spmd-partition | FileCheck %s
// A window of no elements sums nothing, so results are zeros, as many as padding and strides give. A rank that has a part of them
// had as many as its padding gave, and memory as it found it for the others (programs 102 and 341 of `--empty`, seed 81002).
// CHECK: stablehlo.convolution({{.*}}stride = [3], pad = {{\[\[}}0, 3]]{{.*}} -> tensor<3x3x8xf32>
// CHECK: stablehlo.convolution({{.*}}stride = [2], pad = {{\[\[}}0, 2]]{{.*}} -> tensor<12x7x1xi8>
spmd.mesh @mesh = <["x"=2]>
func.func @main(%image: tensor<8x3x14xf32>, %window: tensor<0x3x14xf32>, %bytes: tensor<8x10x3xi8>, %none: tensor<0x12x8xi8>)
    -> (tensor<3x3x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}, {}]>},
        tensor<12x7x1xi8> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %0 = stablehlo.convolution(%image, %window) dim_numbers = [b, 0, f]x[0, o, i]->[0, f, b], window = {stride = [3], pad = [[0, 3]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x3x14xf32>, tensor<0x3x14xf32>) -> tensor<3x3x8xf32>
  %1 = stablehlo.convolution(%bytes, %none) dim_numbers = [f, 0, b]x[0, o, i]->[f, 0, b], window = {stride = [2], pad = [[0, 2]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 3 : i64, feature_group_count = 1 : i64} : (tensor<8x10x3xi8>, tensor<0x12x8xi8>) -> tensor<12x7x1xi8>
  return %0, %1 : tensor<3x3x8xf32>, tensor<12x7x1xi8>
}
