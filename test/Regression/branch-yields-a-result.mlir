// RUN: shard-run %s --seed=674042 --check --rtol=0 --atol=0.000000e+00
// On one rank, what a branch hands on from elsewhere lay in the output of the branch: the other branch was written over it before it was
// copied to an output of its own.
spmd.mesh @mesh = <["z"=2, "row_axis"=1]>
func.func @main(%arg0: tensor<10xf32>,
                %arg1: tensor<i1>)
    -> (tensor<10xf32>,
        tensor<10xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>}) {
  %0 = spmd.constrain %arg0 <@mesh, [{"z" sizes [6, 4]}]> : tensor<10xf32>
  %1 = stablehlo.negate %0 : tensor<10xf32>
  %low_2 = stablehlo.constant dense<-1000.0> : tensor<f32>
  %2 = "stablehlo.if"(%arg1) ({
  %r_2 = stablehlo.reduce(%arg0 init: %low_2) applies stablehlo.maximum across dimensions = [0] : (tensor<10xf32>, tensor<f32>) -> tensor<f32>
  %m_2 = stablehlo.broadcast_in_dim %r_2, dims = [] : (tensor<f32>) -> tensor<10xf32>
  %h_2 = stablehlo.subtract %arg0, %m_2 : tensor<10xf32>
  stablehlo.return %h_2 : tensor<10xf32>
  }, {
  %k_2 = stablehlo.negate %arg0 : tensor<10xf32>
  stablehlo.return %k_2 : tensor<10xf32>
  }) : (tensor<i1>) -> tensor<10xf32>
  return %2, %1 : tensor<10xf32>, tensor<10xf32>
}
