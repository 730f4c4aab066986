// RUN: shard-run %s --seed=3 --check --rtol=0 --atol=0
// RUN: shard-run %s --input=1x1x1x1xf32=1 --input=1x1x1x1xf32=0 | FileCheck %s
// CHECK: 0.75
// What a loop carries was overwritten between the start and the wait of its exchange.
spmd.mesh @mesh = <["B"=2, "data"=1, "x"=2]>
func.func @main(%arg0: tensor<1x1x1x1xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"B"}, {}, {}, {}]>},
                %arg1: tensor<1x1x1x1xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x", "data"}, {}, {}, {}]>})
    -> (tensor<1x1x1x1xf32>) {
  %zero_0 = stablehlo.constant dense<0> : tensor<i32>
  %one_0 = stablehlo.constant dense<1> : tensor<i32>
  %n_0 = stablehlo.constant dense<4> : tensor<i32>
  %half_0 = stablehlo.constant dense<0.5> : tensor<1x1x1x1xf32>
  %z_0 = stablehlo.constant dense<0.25> : tensor<f32>
  %low_0 = stablehlo.constant dense<-100.0> : tensor<f32>
  %w_0:3 = stablehlo.while(%i_0 = %zero_0, %x_0 = %arg0, %y_0 = %arg1) : tensor<i32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>
   cond {
  %c_0 = stablehlo.compare LT, %i_0, %n_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %c_0 : tensor<i1>
  } do {
  %j_0 = stablehlo.add %i_0, %one_0 : tensor<i32>
  %m_0 = stablehlo.reverse %x_0, dims = [0] : tensor<1x1x1x1xf32>
  %h_0 = stablehlo.multiply %m_0, %half_0 : tensor<1x1x1x1xf32>
  %v_0 = stablehlo.add %h_0, %y_0 : tensor<1x1x1x1xf32>
  stablehlo.return %j_0, %y_0, %v_0 : tensor<i32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>
  }
  %0:2 = stablehlo.optimization_barrier %w_0#1, %w_0#2 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>
  return %0#0 : tensor<1x1x1x1xf32>
}
