// RUN: shard-run %s --seed=918725 --check --rtol=0 --atol=0.000000e+00
// Of two products added, one was rounded on some ranks and the other on others.
spmd.mesh @mesh = <["data"=4]>
func.func @main(%arg0: tensor<6xf32>,
                %arg1: tensor<1x6xf32>)
    -> (tensor<1x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"data"}]>}) {
  %a_0 = stablehlo.abs %arg0 : tensor<6xf32>
  %k_0 = stablehlo.constant dense<1.0> : tensor<6xf32>
  %s_0 = stablehlo.add %a_0, %k_0 : tensor<6xf32>
  %0 = stablehlo.log %s_0 : tensor<6xf32>
  %1 = stablehlo.reshape %0 : (tensor<6xf32>) -> tensor<1x6xf32>
  %c_2 = stablehlo.complex %1, %arg1 : tensor<1x6xcomplex<f32>>
  %d_2 = stablehlo.complex %arg1, %1 : tensor<1x6xcomplex<f32>>
  %m_2 = stablehlo.multiply %c_2, %d_2 : tensor<1x6xcomplex<f32>>
  %n_2 = stablehlo.add %m_2, %c_2 : tensor<1x6xcomplex<f32>>
  %2 = stablehlo.imag %n_2 : (tensor<1x6xcomplex<f32>>) -> tensor<1x6xf32>
  return %2 : tensor<1x6xf32>
}
