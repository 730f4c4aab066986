// RUN: shard-run %s --seed=5 --check --check=interpreter --atol=0 --rtol=0
// RUN: shard-run %s --seed=5 --sizes=0:0=3,0,1 --check --check=interpreter --atol=0 --rtol=0

// Each iteration replaces what it carries by what one of two branches builds in a
// loop: rows sorted by keys and then by themselves, in one order or the other; and
// such rows or zeros. Nobody reads what the iteration began with.
sdy.mesh @mesh = <["x"=3]>
func.func @main(%x: tensor<4x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %k: tensor<4x5xi32>, %which: tensor<i1>)
    -> (tensor<4x5xf32>, tensor<4x5xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<4x5xf32>
  %0:3 = stablehlo.while(%i = %zero, %y = %none, %z = %none) : tensor<i32>, tensor<4x5xf32>, tensor<4x5xf32>
  cond {
    %more = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %1 = "stablehlo.if"(%which) ({
      %2:2 = "stablehlo.sort"(%x, %k) <{dimension = 1 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
        %e = stablehlo.compare EQ, %c, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %f = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %g = stablehlo.compare LT, %c, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %h = stablehlo.select %e, %f, %g : tensor<i1>, tensor<i1>
        stablehlo.return %h : tensor<i1>
      }) : (tensor<4x5xf32>, tensor<4x5xi32>) -> (tensor<4x5xf32>, tensor<4x5xi32>)
      stablehlo.return %2#0 : tensor<4x5xf32>
    }, {
      %2:2 = "stablehlo.sort"(%x, %k) <{dimension = 1 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
        %e = stablehlo.compare EQ, %c, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %f = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %g = stablehlo.compare LT, %c, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %h = stablehlo.select %e, %f, %g : tensor<i1>, tensor<i1>
        stablehlo.return %h : tensor<i1>
      }) : (tensor<4x5xf32>, tensor<4x5xi32>) -> (tensor<4x5xf32>, tensor<4x5xi32>)
      stablehlo.return %2#0 : tensor<4x5xf32>
    }) : (tensor<i1>) -> tensor<4x5xf32>
    %3 = stablehlo.not %which : tensor<i1>
    %4 = "stablehlo.if"(%3) ({
      %5:2 = "stablehlo.sort"(%x, %k) <{dimension = 1 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
        %e = stablehlo.compare EQ, %c, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %f = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %g = stablehlo.compare LT, %c, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %h = stablehlo.select %e, %f, %g : tensor<i1>, tensor<i1>
        stablehlo.return %h : tensor<i1>
      }) : (tensor<4x5xf32>, tensor<4x5xi32>) -> (tensor<4x5xf32>, tensor<4x5xi32>)
      stablehlo.return %5#0 : tensor<4x5xf32>
    }, {
      stablehlo.return %none : tensor<4x5xf32>
    }) : (tensor<i1>) -> tensor<4x5xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %1, %4 : tensor<i32>, tensor<4x5xf32>, tensor<4x5xf32>
  }
  return %0#1, %0#2 : tensor<4x5xf32>, tensor<4x5xf32>
}
