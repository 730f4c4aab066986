// RUN: %npz write %t.npz 'in0=<f4:4:1,2,3,4' 'out0=<f4:4:41,33,26,20'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 --mesh=x=3
// Padding holds the initial value 10 as well: element i sums 3 - i of them, the
// initial value itself and the elements up to i.
sdy.mesh @mesh = <["x"=1]>
func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  %c = stablehlo.constant dense<10.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %c) <{padding = dense<[[3, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 4>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
