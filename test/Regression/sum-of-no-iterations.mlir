// A loop that adds what all ranks sum, combined once behind it: its initial value
// of -0 became +0 where the loop made no turn.
// RUN: shard-run %s --input=i32=0 --input=f32=-0 --input=4xf32=1 | FileCheck %s
// RUN: shard-run %s --input=i32=0 --input=f32=0 --input=4xf32=1 | FileCheck %s --check-prefix=PLUS
// RUN: shard-run %s --input=i32=3 --input=f32=-0 --input=4xf32=1 | FileCheck %s --check-prefix=SUM

// CHECK: output 0: f32 [] -inf
// PLUS: output 0: f32 [] inf
// 4 * (0 + 1 + 2), combined once.
// SUM: output 0: f32 [] 0.0833333

sdy.mesh @mesh = <["x"=2]>
func.func @main(%turns: tensor<i32>, %initial: tensor<f32>,
                %x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %minus = stablehlo.constant dense<0.0> : tensor<f32>
  %unit = stablehlo.constant dense<1.0> : tensor<f32>
  %r:2 = stablehlo.while(%i = %zero, %sum = %initial) : tensor<i32>, tensor<f32>
  cond {
    %go = stablehlo.compare LT, %i, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %scale = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
    %scales = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %terms = stablehlo.multiply %x, %scales : tensor<4xf32>
    %term = stablehlo.reduce(%terms init: %minus) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %next = stablehlo.add %sum, %term : tensor<f32>
    %i1 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %i1, %next : tensor<i32>, tensor<f32>
  }
  %inverse = stablehlo.divide %unit, %r#1 : tensor<f32>
  return %inverse : tensor<f32>
}
