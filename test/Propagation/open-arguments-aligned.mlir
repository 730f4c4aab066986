// Arguments whose sizes are left open lie as the first of those that they meet in an op, dim by dim; what meets nobody keeps its own.
// RUN: shard-opt --spmd-import=dynamic=all --spmd-propagate %s | FileCheck %s

// The second is added to the first. The third has as many rows, but another index runs over them: it meets the fourth.
// The fifth has another extent than all others.
// CHECK: %[[B:.*]] = spmd.reshard %arg1 {{.*}}by #spmd.formula<given [1, 0, 16]>}, {}]> -> {{.*}}by #spmd.formula<given [0, 0, 16]>
// CHECK: %[[V:.*]] = spmd.reshard %arg3 {{.*}}by #spmd.formula<given [3, 0, 16]>}, {}]> -> {{.*}}by #spmd.formula<given [2, 0, 16]>
// CHECK: stablehlo.add %arg0, %[[B]]
// CHECK: %[[W:.*]] = stablehlo.multiply %arg2, %[[V]]
// CHECK: spmd.reshard %[[W]] {{.*}} -> <@mesh, [{}, {}]>
// CHECK-NOT: spmd.reshard
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %w: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %v: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %u: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<16x16xf32>, tensor<12xf32>) {
  %sum = stablehlo.add %a, %b : tensor<16x4xf32>
  %both = stablehlo.multiply %w, %v : tensor<16x4xf32>
  %dot = stablehlo.dot_general %sum, %both, contracting_dims = [1] x [1] : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x16xf32>
  %twice = stablehlo.add %u, %u : tensor<12xf32>
  return %dot, %twice : tensor<16x16xf32>, tensor<12xf32>
}
