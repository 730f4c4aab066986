// A condition that is reduced over a cut dim is the same on all ranks, whatever sizes a binding says: what is gathered for it does not differ along the
// axis. Found by a random program.
// RUN: shard-run %s --seed=444589 --check --rtol=0 --atol=0 --dynamic=all
spmd.mesh @mesh = <["data"=1, "x"=2]>
func.func @main(%arg0: tensor<1x1x1xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>})
    -> (tensor<1x1x1xf32>) {
  %zero_0 = stablehlo.constant dense<0> : tensor<i32>
  %one_0 = stablehlo.constant dense<1> : tensor<i32>
  %most_0 = stablehlo.constant dense<5> : tensor<i32>
  %two_0 = stablehlo.constant dense<2> : tensor<i32>
  %low_0 = stablehlo.constant dense<-1000.0> : tensor<f32>
  %limit_0 = stablehlo.constant dense<16.0> : tensor<f32>
  %w_0:2 = stablehlo.while(%i_0 = %zero_0, %x_0 = %arg0) : tensor<i32>, tensor<1x1x1xf32>
   cond {
  %m_0 = stablehlo.reduce(%x_0 init: %low_0) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<1x1x1xf32>, tensor<f32>) -> tensor<f32>
  %s_0 = stablehlo.compare LT, %m_0, %limit_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %l_0 = stablehlo.compare LT, %i_0, %most_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %c_0 = stablehlo.and %s_0, %l_0 : tensor<i1>
  stablehlo.return %c_0 : tensor<i1>
  } do {
  %v_0:2 = stablehlo.while(%k_0 = %zero_0, %y_0 = %x_0) : tensor<i32>, tensor<1x1x1xf32>
   cond {
  %e_0 = stablehlo.compare LT, %k_0, %two_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %e_0 : tensor<i1>
  } do {
  %o_0 = stablehlo.reverse %y_0, dims = [0] : tensor<1x1x1xf32>
  %q_0 = stablehlo.add %k_0, %one_0 : tensor<i32>
  %g_0 = stablehlo.minimum %o_0, %y_0 : tensor<1x1x1xf32>
  stablehlo.return %q_0, %g_0 : tensor<i32>, tensor<1x1x1xf32>
  }
  %d_0 = stablehlo.add %v_0#1, %v_0#1 : tensor<1x1x1xf32>
  %j_0 = stablehlo.add %i_0, %one_0 : tensor<i32>
  stablehlo.return %j_0, %d_0 : tensor<i32>, tensor<1x1x1xf32>
  }
  %0 = stablehlo.negate %w_0#1 : tensor<1x1x1xf32>
  return %0 : tensor<1x1x1xf32>
}
