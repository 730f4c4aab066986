// A loop whose length depends on data, in a loop that hands its results on in
// other places, whole and in part: they were to be written over one another.
// RUN: shard-run %s --mesh=x=3 --input=6x4xf32=0.5 --input=6x4xf32=1.5 --check
// RUN: %npz write %t.npz "out0=<f4:6x4:3.5" "out1=<f4:6x4:2" "out2=<f4:2x3x4:2"
// RUN: shard-run %s --mesh=x=1 --input=6x4xf32=0.5 --input=6x4xf32=1.5 --expect=@%t.npz
sdy.mesh @mesh = <["x"=3]>
func.func @main(
    %a: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %b: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<6x4xf32>, tensor<6x4xf32>, tensor<2x3x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %limit = stablehlo.constant dense<40.0> : tensor<f32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %c = stablehlo.reshape %a : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  %0:4 = stablehlo.while(%i = %zero, %x = %a, %y = %b, %z = %c)
      : tensor<i32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<2x3x4xf32>
  cond {
    %p = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1:2 = stablehlo.while(%u = %x, %v = %y) : tensor<6x4xf32>, tensor<6x4xf32>
    cond {
      %sum = stablehlo.reduce(%u init: %none) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x4xf32>, tensor<f32>) -> tensor<f32>
      %p = stablehlo.compare LT, %sum, %limit, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %w = stablehlo.add %u, %v : tensor<6x4xf32>
      %h = stablehlo.abs %v : tensor<6x4xf32>
      stablehlo.return %w, %h : tensor<6x4xf32>, tensor<6x4xf32>
    }
    %part = stablehlo.reshape %1#0 : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %1#1, %1#0, %part : tensor<i32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<2x3x4xf32>
  }
  return %0#1, %0#2, %0#3 : tensor<6x4xf32>, tensor<6x4xf32>, tensor<2x3x4xf32>
}
