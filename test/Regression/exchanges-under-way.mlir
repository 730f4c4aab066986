// RUN: shard-run %s --seed=808886 --check --rtol=0 --atol=0
// More exchanges were under way at once than the runtime allows: the start of one is put so early that it is beside others
// whose waits stand before it in the block.
spmd.mesh @mesh = <["y"=2, "x"=2, "batch"=2]>
func.func @main(%arg0: tensor<12x2x2xi8>,
                %arg1: tensor<2x2xf32>,
                %arg2: tensor<1x1xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>},
                %arg3: tensor<i32>,
                %arg4: tensor<12xui32> {spmd.sharding = #spmd.sharding<@mesh, [{"batch", "x"}]>},
                %arg5: tensor<1x1xi32> {spmd.sharding = #spmd.sharding<@mesh, [{"batch", "y", ?}, {}]>},
                %arg6: tensor<1xui32> {spmd.sharding = #spmd.sharding<@mesh, [{"y"}]>},
                %arg7: tensor<2x1xi32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"y"}]>},
                %arg8: tensor<2xui32> {spmd.sharding = #spmd.sharding<@mesh, [{"batch", "x" sizes [0, 0, 2, 0]}]>},
                %arg9: tensor<2x2xf32>)
    -> (tensor<25xf16>,
        tensor<2x2xf32>,
        tensor<6x1x1xi8> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {}]>},
        tensor<2x2xi1> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x", "batch", "y", ?}]>}) {
  %0 = spmd.constrain %arg0 <@mesh, [{"y" sizes [2, 10]}, {?}, {"batch", "x" sizes [0, 0, 0, 2]}]> : tensor<12x2x2xi8>
  %1 = stablehlo.slice %0 [4:10, 0:2:4, 1:2] : (tensor<12x2x2xi8>) -> tensor<6x1x1xi8>
  %2 = stablehlo.compare EQ, %arg9, %arg1, FLOAT : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
  %3 = stablehlo.dynamic_update_slice %arg9, %arg2, %arg3, %arg3 : (tensor<2x2xf32>, tensor<1x1xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
  %4 = "stablehlo.scatter"(%arg4, %arg5, %arg6) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p_4: tensor<ui32>, %q_4: tensor<ui32>):
  %r_4 = stablehlo.add %p_4, %q_4 : tensor<ui32>
  stablehlo.return %r_4 : tensor<ui32>
  }) : (tensor<12xui32>, tensor<1x1xi32>, tensor<1xui32>) -> tensor<12xui32>
  %5 = stablehlo.concatenate %4, %4, %arg6, dim = 0 : (tensor<12xui32>, tensor<12xui32>, tensor<1xui32>) -> tensor<25xui32>
  %6 = spmd.constrain %5 <@mesh, [{"batch", "x"}]> : tensor<25xui32>
  %7 = "stablehlo.scatter"(%6, %arg7, %arg8) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p_7: tensor<ui32>, %q_7: tensor<ui32>):
  %r_7 = stablehlo.maximum %p_7, %q_7 : tensor<ui32>
  stablehlo.return %r_7 : tensor<ui32>
  }) : (tensor<25xui32>, tensor<2x1xi32>, tensor<2xui32>) -> tensor<25xui32>
  %8 = stablehlo.convert %7 : (tensor<25xui32>) -> tensor<25xf16>
  return %8, %3, %1, %2 : tensor<25xf16>, tensor<2x2xf32>, tensor<6x1x1xi8>, tensor<2x2xi1>
}
