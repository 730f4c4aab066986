// RUN: shard-run %s --seed=19906 --check --rtol=0 --atol=0
// A scatter of one row is a branch, which was built over a later result.
spmd.mesh @mesh = <["z"=2]>
func.func @main(%arg0: tensor<10xf32>,
                %arg1: tensor<i1>,
                %arg2: tensor<1x1xi32>,
                %arg3: tensor<1xf32>)
    -> (tensor<f32>,
        tensor<10xf32>,
        tensor<10xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"z"}]>}) {
  %z_0 = stablehlo.constant dense<0.25> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%arg0, %z_0) <{window_dimensions = array<i64: 1>, window_strides = array<i64: 1>, base_dilations = array<i64: 1>, window_dilations = array<i64: 1>, padding = dense<[[0, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%p_0: tensor<f32>, %q_0: tensor<f32>):
  %r_0 = stablehlo.maximum %p_0, %q_0 : tensor<f32>
  stablehlo.return %r_0 : tensor<f32>
  }) : (tensor<10xf32>, tensor<f32>) -> tensor<10xf32>
  %low_1 = stablehlo.constant dense<-1000.0> : tensor<f32>
  %1 = "stablehlo.if"(%arg1) ({
  %r_1 = stablehlo.reduce(%0 init: %low_1) applies stablehlo.maximum across dimensions = [0] : (tensor<10xf32>, tensor<f32>) -> tensor<f32>
  %m_1 = stablehlo.broadcast_in_dim %r_1, dims = [] : (tensor<f32>) -> tensor<10xf32>
  %h_1 = stablehlo.subtract %0, %m_1 : tensor<10xf32>
  stablehlo.return %h_1 : tensor<10xf32>
  }, {
  %k_1 = stablehlo.negate %0 : tensor<10xf32>
  stablehlo.return %k_1 : tensor<10xf32>
  }) : (tensor<i1>) -> tensor<10xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [0] x [0] : (tensor<10xf32>, tensor<10xf32>) -> tensor<f32>
  %3 = "stablehlo.scatter"(%0, %arg2, %arg3) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p_3: tensor<f32>, %q_3: tensor<f32>):
  %r_3 = stablehlo.add %p_3, %q_3 : tensor<f32>
  stablehlo.return %r_3 : tensor<f32>
  }) : (tensor<10xf32>, tensor<1x1xi32>, tensor<1xf32>) -> tensor<10xf32>
  return %2, %3, %0 : tensor<f32>, tensor<10xf32>, tensor<10xf32>
}
