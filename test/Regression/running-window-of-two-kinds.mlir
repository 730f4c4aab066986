// RUN: %npz write %t.npz 'in0=<i4:4:1,2,3,4' 'in1=<f4:4:1,5,2,3' 'out0=<i4:4:11,11,10,8' 'out1=<f4:4:5,5,3,3'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 --mesh=x=3
// A running sum from 1 beside a running maximum: element i sums the initial value, the elements from i on, and i of the padding,
// which holds the initial value as well. Ranks' totals would start from it once each.
sdy.mesh @mesh = <["x"=1]>
func.func @main(%x: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                %y: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xi32>, tensor<4xf32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %least = stablehlo.constant dense<-8.0> : tensor<f32>
  %0:2 = "stablehlo.reduce_window"(%x, %y, %one, %least) <{padding = dense<[[0, 3]]> : tensor<1x2xi64>, window_dimensions = array<i64: 4>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<f32>):
    %1 = stablehlo.add %a, %c : tensor<i32>
    %2 = stablehlo.maximum %b, %d : tensor<f32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<f32>
  }) : (tensor<4xi32>, tensor<4xf32>, tensor<i32>, tensor<f32>) -> (tensor<4xi32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xi32>, tensor<4xf32>
}
