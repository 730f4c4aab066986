// Branches in a loop hand on what the loop carries, swapped, or one tensor as several results, and later ops of the turn
// change some of them: they were to share buffers, "cannot avoid RaW conflict".
// RUN: shard-run %s --check --seed=1
// RUN: shard-run %s --check --seed=2 --mesh=x=3 --sizes=0:0=4,0,2
// From (1, 2): (3, 2), (12, 6), (18, 12), (48, 18).
// RUN: %npz write %t.npz "out0=<f4:6:48" "out1=<f4:6:18"
// RUN: shard-run %s --input=6xf32=1 --input=6xf32=2 --expect=@%t.npz
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<6xf32>)
    -> (tensor<6xf32>, tensor<6xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %x = %a, %y = %b) : tensor<i32>, tensor<6xf32>, tensor<6xf32>
  cond {
    %p = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    // (x, y), (x * y, x * y), (y, x), (x + y, x)
    %1:2 = "stablehlo.case"(%i) ({
      stablehlo.return %x, %y : tensor<6xf32>, tensor<6xf32>
    }, {
      %2 = stablehlo.multiply %x, %y : tensor<6xf32>
      stablehlo.return %2, %2 : tensor<6xf32>, tensor<6xf32>
    }, {
      stablehlo.return %y, %x : tensor<6xf32>, tensor<6xf32>
    }, {
      %2 = stablehlo.add %x, %y : tensor<6xf32>
      stablehlo.return %2, %x : tensor<6xf32>, tensor<6xf32>
    }) : (tensor<i32>) -> (tensor<6xf32>, tensor<6xf32>)
    // Twice: the first gains the second.
    %3:2 = stablehlo.while(%j = %zero, %u = %1#0) : tensor<i32>, tensor<6xf32>
    cond {
      %p = stablehlo.compare LT, %j, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %2 = stablehlo.add %u, %1#1 : tensor<6xf32>
      %k = stablehlo.add %j, %one : tensor<i32>
      stablehlo.return %k, %2 : tensor<i32>, tensor<6xf32>
    }
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %3#1, %1#1 : tensor<i32>, tensor<6xf32>, tensor<6xf32>
  }
  return %0#1, %0#2 : tensor<6xf32>, tensor<6xf32>
}
