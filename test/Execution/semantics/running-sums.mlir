// Terms of a running sum that are each less than half a unit in its last place are not lost, and no factor's roundings add up, however many they are:
// the sums of 2^24 and ones rounded once, within a unit of that where ranks have parts of them. Forwards along the last dim, backwards along another one.
// RUN: %npz write %t.npz 'in0=<f4:8:16777216,1,1,1,1,1,1,1' \
// RUN:   'in1=<f4:8x2:1,2,1,2,1,2,1,2,1,2,1,2,1,2,16777216,33554432' \
// RUN:   'out0=<f4:8:16777216,16777216,16777218,16777220,16777220,16777220,16777222,16777224' \
// RUN:   'out1=<f4:8x2:16777224,33554448,16777222,33554444,16777220,33554440,16777220,33554440,16777220,33554440,16777218,33554436,16777216,33554432,16777216,33554432'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 --mesh=x=1
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=1.2e-7 --atol=0
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=1.2e-7 --atol=0 --mesh=x=5
sdy.mesh @mesh = <["x"=3]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                %y: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8xf32>, tensor<8x2xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[7, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 8>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = "stablehlo.reduce_window"(%y, %zero) <{padding = dense<[[0, 7], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 8, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8x2xf32>, tensor<f32>) -> tensor<8x2xf32>
  return %0, %1 : tensor<8xf32>, tensor<8x2xf32>
}
