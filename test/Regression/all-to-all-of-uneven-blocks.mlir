// RUN: shard-run %s --seed=431401 --check --rtol=0 --atol=0.000000e+00
// Parts of one dim change places between blocks that are cut unevenly along another axis.
spmd.mesh @mesh = <["row_axis"=2, "x"=4]>
func.func @main(%arg0: tensor<1x10x6xf64> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}, {}]>})
    -> (tensor<1x15x6xf64>) {
  %0 = spmd.manual(%arg0) in [#spmd.sharding<@mesh, [{?}, {"row_axis", ?}, {?}]>] out [#spmd.sharding<@mesh, [{?}, {"row_axis", ?}, {?}]>] along ["row_axis"] {
  ^bb0(%b_0: tensor<1x5x6xf64>):
  %r_0 = "stablehlo.all_to_all"(%b_0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 2 : i64, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, split_count = 2 : i64, split_dimension = 2 : i64}> : (tensor<1x5x6xf64>) -> tensor<1x5x6xf64>
  spmd.return %r_0 : tensor<1x5x6xf64>
  } : (tensor<1x10x6xf64>) -> tensor<1x10x6xf64>
  %z_1 = stablehlo.constant dense<-1.25> : tensor<f64>
  %1 = stablehlo.pad %0, %z_1, low = [0, 4, 0], high = [0, 1, 0], interior = [0, 0, 0] : (tensor<1x10x6xf64>, tensor<f64>) -> tensor<1x15x6xf64>
  return %1 : tensor<1x15x6xf64>
}
