// RUN: shard-run %s --seed=3 --check=interpreter --rtol=1e-6 2>&1 | FileCheck %s
// RUN: shard-run %s --seed=3 --mesh=x=2 --check=interpreter --rtol=1e-6 2>&1 | FileCheck %s
// Each of four features has three filters, and rows of the tile are filters.
// The weights lie against the lanes and are copied side by side; the copy had
// the first filter alone, which all three rows read. Found by
// shard-fuzz --reproducible --seed=60604, program 19.
// CHECK: output 0: f32 [3, 12, 3] as interpreter: {{bitwise equal|largest difference}}
// CHECK: output 1: f32 [5, 12, 3] as interpreter: {{bitwise equal|largest difference}}
spmd.mesh @mesh = <["x"=1]>
func.func @main(%image: tensor<3x4x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}, {}]>},
                %weights: tensor<12x1x4xf32>, %longer: tensor<3x8x4xf32>)
    -> (tensor<3x12x3xf32>, tensor<5x12x3xf32>) {
  %0 = stablehlo.convolution(%image, %weights) dim_numbers = [b, 0, f]x[o, i, 0]->[0, f, b],
    window = {stride = [1], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 4 : i64}
    : (tensor<3x4x4xf32>, tensor<12x1x4xf32>) -> tensor<3x12x3xf32>
  %1 = stablehlo.convolution(%longer, %weights) dim_numbers = [b, 0, f]x[o, i, 0]->[0, f, b],
    window = {stride = [1], pad = [[0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 4 : i64}
    : (tensor<3x8x4xf32>, tensor<12x1x4xf32>) -> tensor<5x12x3xf32>
  return %0, %1 : tensor<3x12x3xf32>, tensor<5x12x3xf32>
}
