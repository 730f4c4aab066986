// A branch in a loop hands on what was there before the loop, or another of the
// values that the loop carries: they were to share a buffer that is overwritten.
// RUN: shard-run %s --check --seed=1
// RUN: shard-run %s --check --seed=2 --mesh=x=3 --sizes=0:0=4,0,2
// RUN: %npz write %t.npz "out0=<f4:6:3" "out1=<f4:6:1" "out2=<f4:6:7"
// RUN: shard-run %s --input=6xf32=1 --input=6xf32=3 --expect=@%t.npz
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<6xf32>)
    -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %none = stablehlo.constant dense<7.0> : tensor<f32>
  %inf = stablehlo.broadcast_in_dim %none, dims = [] : (tensor<f32>) -> tensor<6xf32>
  %0:4 = stablehlo.while(%i = %zero, %x = %a, %y = %b, %z = %a) : tensor<i32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
  cond {
    %p = stablehlo.compare LT, %i, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %odd = stablehlo.and %i, %one : tensor<i32>
    %1:3 = "stablehlo.case"(%odd) ({
      stablehlo.return %y, %x, %inf : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
    }, {
      %s = stablehlo.add %z, %y : tensor<6xf32>
      stablehlo.return %y, %x, %s : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
    }) : (tensor<i32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>)
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %1#0, %1#1, %1#2 : tensor<i32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
  }
  return %0#1, %0#2, %0#3 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}
