// RUN: shard-run %s --seed=419039 --check --rtol=0 --atol=0

// Each block stays where it is, and the middle one goes nowhere: along "B",
// along which the operand is cut, all ranks do the same.
spmd.mesh @mesh = <["row_axis"=3, "B"=2]>
func.func @main(%arg0: tensor<3x1xf32>,
                %arg1: tensor<2xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"B"}]>})
    -> (tensor<3x1x2xf32>) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [] x [] : (tensor<3x1xf32>, tensor<2xf32>) -> tensor<3x1x2xf32>
  %1 = spmd.manual(%0) in [#spmd.sharding<@mesh, [{"row_axis", ?}, {?}, {?}]>] out [#spmd.sharding<@mesh, [{"row_axis", ?}, {?}, {?}]>] along ["row_axis"] {
  ^bb0(%block: tensor<1x1x2xf32>):
    %sent = "stablehlo.collective_permute"(%block) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 0], [1, 1], [4, 4], [5, 5]]> : tensor<4x2xi64>}> : (tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
    spmd.return %sent : tensor<1x1x2xf32>
  } : (tensor<3x1x2xf32>) -> tensor<3x1x2xf32>
  return %1 : tensor<3x1x2xf32>
}
