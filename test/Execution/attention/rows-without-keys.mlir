// RUN: shard-run %s --check 2>&1 | FileCheck %s
// RUN: shard-run %s --check --sizes=0:0=3,0,1,4 --sizes=1:0=0,5,3,0 2>&1 | FileCheck %s
// RUN: shard-opt %s --spmd-import --spmd-raise | FileCheck %s --check-prefix=RAISED

// Probabilities are chosen by the mask once more after they have been divided: the first three queries, which see no key, give zero, and no NaN, and so do
// their gradients.
// CHECK: as unsharded
// CHECK: as unsharded
// RAISED: pairs.all_pairs softmax
// RAISED: pairs.attention_backward
sdy.mesh @mesh = <["x"=4]>
func.func @main(%q: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %k: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %v: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %g: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : tensor<8x8xf32>
  %none = stablehlo.constant dense<0xFF800000> : tensor<8x8xf32>
  %three = stablehlo.constant dense<3> : tensor<8x8xi32>
  %rows = stablehlo.iota dim = 0 : tensor<8x8xi32>
  %columns = stablehlo.iota dim = 1 : tensor<8x8xi32>
  %shifted = stablehlo.add %columns, %three : tensor<8x8xi32>
  %keep = stablehlo.compare GE, %rows, %shifted : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %masked = stablehlo.select %keep, %s, %none : tensor<8x8xi1>, tensor<8x8xf32>
  %m = stablehlo.reduce(%masked init: %lowest) applies stablehlo.maximum across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  %d = stablehlo.subtract %masked, %mb : tensor<8x8xf32>
  %e = stablehlo.exponential %d : tensor<8x8xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  %p = stablehlo.divide %e, %lb : tensor<8x8xf32>
  %chosen = stablehlo.select %keep, %p, %zeros : tensor<8x8xi1>, tensor<8x8xf32>
  %o = stablehlo.dot_general %chosen, %v, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %dv = stablehlo.dot_general %chosen, %g, contracting_dims = [0] x [0] : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %o, %dv : tensor<8x4xf32>, tensor<8x4xf32>
}
