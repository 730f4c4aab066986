// RUN: shard-run %s --seed=7 --check=interpreter --rtol=0 --atol=0 2>&1 | FileCheck %s
// RUN: shard-run %s --seed=7 --sizes=0:1=3,5 --check=interpreter --rtol=0 --atol=0 2>&1 | FileCheck %s
// Windows are as large as the dim that is cut, and their indices are cut too:
// each rank scatters its windows into its block, which is smaller than they are.
// That was refused where updates cannot be sent, as of four bits. Found by shard-fuzz --interpreter=all --seed=73, program 121.
// CHECK: output 0: ui4 [2, 8, 12] as interpreter: bitwise equal
spmd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%input: tensor<2x8x12xui4> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>},
                %drawn: tensor<4x3xi32> {spmd.sharding = #spmd.sharding<@mesh, [{"y"}, {}]>},
                %updates: tensor<4x1x8x8xui4> {spmd.sharding = #spmd.sharding<@mesh, [{"y"}, {}, {}, {}]>})
    -> (tensor<2x8x12xui4> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %low = stablehlo.constant dense<-1> : tensor<4x3xi32>
  %high = stablehlo.constant dense<[[5, 1, 2], [5, 1, 2], [5, 1, 2], [5, 1, 2]]> : tensor<4x3xi32>
  %indices = stablehlo.clamp %low, %drawn, %high : tensor<4x3xi32>
  %0 = "stablehlo.scatter"(%input, %indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2, 3],
      scatter_dims_to_operand_dims = [2, 1, 0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<ui4>, %b: tensor<ui4>):
    %1 = stablehlo.maximum %a, %b : tensor<ui4>
    stablehlo.return %1 : tensor<ui4>
  }) : (tensor<2x8x12xui4>, tensor<4x3xi32>, tensor<4x1x8x8xui4>) -> tensor<2x8x12xui4>
  return %0 : tensor<2x8x12xui4>
}
