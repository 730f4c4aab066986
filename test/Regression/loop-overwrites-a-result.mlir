// RUN: shard-run %s --seed=718431 --check --rtol=0 --atol=0
// A branch makes what a loop begins with, and that is a result as well. It was built in the buffer of the loop's result,
// which the loop then changed: tensors that begin inside of a branch were not looked at.
spmd.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4x1x4xf64>,
                %arg1: tensor<i1>)
    -> (tensor<4x1x4xf64> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {}]>},
        tensor<4x1x4xf64> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}, {}]>}) {
  %low_0 = stablehlo.constant dense<-1000.0> : tensor<f64>
  %0 = "stablehlo.if"(%arg1) ({
  %r_0 = stablehlo.reduce(%arg0 init: %low_0) applies stablehlo.maximum across dimensions = [0] : (tensor<4x1x4xf64>, tensor<f64>) -> tensor<1x4xf64>
  %m_0 = stablehlo.broadcast_in_dim %r_0, dims = [1, 2] : (tensor<1x4xf64>) -> tensor<4x1x4xf64>
  %h_0 = stablehlo.subtract %arg0, %m_0 : tensor<4x1x4xf64>
  stablehlo.return %h_0 : tensor<4x1x4xf64>
  }, {
  %k_0 = stablehlo.negate %arg0 : tensor<4x1x4xf64>
  stablehlo.return %k_0 : tensor<4x1x4xf64>
  }) : (tensor<i1>) -> tensor<4x1x4xf64>
  %zero_1 = stablehlo.constant dense<0> : tensor<i32>
  %one_1 = stablehlo.constant dense<1> : tensor<i32>
  %n_1 = stablehlo.constant dense<3> : tensor<i32>
  %half_1 = stablehlo.constant dense<0.5> : tensor<4x1x4xf64>
  %z_1 = stablehlo.constant dense<0.25> : tensor<f64>
  %low_1 = stablehlo.constant dense<-100.0> : tensor<f64>
  %w_1:3 = stablehlo.while(%i_1 = %zero_1, %x_1 = %0, %y_1 = %0) : tensor<i32>, tensor<4x1x4xf64>, tensor<4x1x4xf64>
   cond {
  %c_1 = stablehlo.compare LT, %i_1, %n_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %c_1 : tensor<i1>
  } do {
  %j_1 = stablehlo.add %i_1, %one_1 : tensor<i32>
  %m_1 = stablehlo.pad %x_1, %z_1, low = [-3, 0, 0], high = [3, 0, 0], interior = [0, 0, 0] : (tensor<4x1x4xf64>, tensor<f64>) -> tensor<4x1x4xf64>
  %h_1 = stablehlo.multiply %y_1, %half_1 : tensor<4x1x4xf64>
  %v_1 = stablehlo.add %h_1, %m_1 : tensor<4x1x4xf64>
  stablehlo.return %j_1, %y_1, %v_1 : tensor<i32>, tensor<4x1x4xf64>, tensor<4x1x4xf64>
  }
  %1:2 = stablehlo.optimization_barrier %w_1#1, %w_1#2 : tensor<4x1x4xf64>, tensor<4x1x4xf64>
  return %1#0, %0 : tensor<4x1x4xf64>, tensor<4x1x4xf64>
}
