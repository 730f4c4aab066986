// Whatever a comparison says, a sort keeps every element: sorted back by their positions, they are what they were. Of orders that
// are none: "less" of floats with NaN among several keys, stone-paper-scissors, and noise.
// RUN: shard-run %s --seed=3 --outputs=@%t.npz
// RUN: shard-run %s --seed=3 --device=emulated-cuda --check-kernels --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-run %s --seed=3 --device=emulated-cuda --kernel-schedule=random=2 --check-kernels --expect=@%t.npz --rtol=0 --atol=0
func.func @main(%x: tensor<2x4000xf32>) -> (tensor<2x4000xi32>, tensor<2x4000xf32>, tensor<2x4000xi32>, tensor<36000xi32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<2x4000xf32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<2x4000xf32>
  %below = stablehlo.compare LT, %x, %zero : (tensor<2x4000xf32>, tensor<2x4000xf32>) -> tensor<2x4000xi1>
  %some = stablehlo.select %below, %nan, %x : tensor<2x4000xi1>, tensor<2x4000xf32>
  %ten = stablehlo.constant dense<10.0> : tensor<2x4000xf32>
  %tens = stablehlo.multiply %some, %ten : tensor<2x4000xf32>
  %whole = stablehlo.floor %tens : tensor<2x4000xf32>
  %iota = stablehlo.iota dim = 1 : tensor<2x4000xi32>
  // By whole numbers, then by all digits: nothing comes before a NaN, nor after.
  %0:3 = "stablehlo.sort"(%whole, %some, %iota) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %e: tensor<f32>, %f: tensor<f32>, %g: tensor<i32>, %h: tensor<i32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %same = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %d = stablehlo.compare LT, %e, %f : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %both = stablehlo.and %same, %d : tensor<i1>
    %r = stablehlo.or %c, %both : tensor<i1>
    stablehlo.return %r : tensor<i1>
  }) : (tensor<2x4000xf32>, tensor<2x4000xf32>, tensor<2x4000xi32>) -> (tensor<2x4000xf32>, tensor<2x4000xf32>, tensor<2x4000xi32>)
  %1:2 = "stablehlo.sort"(%0#2, %0#1) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %e: tensor<f32>, %f: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<2x4000xi32>, tensor<2x4000xf32>) -> (tensor<2x4000xi32>, tensor<2x4000xf32>)
  // 1 before 2, 2 before 3, 3 before 1.
  %three = stablehlo.constant dense<3> : tensor<2x4000xi32>
  %square = stablehlo.multiply %iota, %iota : tensor<2x4000xi32>
  %hand = stablehlo.remainder %square, %three : tensor<2x4000xi32>
  %2:2 = "stablehlo.sort"(%hand, %iota) <{dimension = 1 : i64, is_stable = false}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %g: tensor<i32>, %h: tensor<i32>):
    %t = stablehlo.constant dense<3> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %sum = stablehlo.add %g, %h : tensor<i32>
    %turn = stablehlo.add %b, %sum : tensor<i32>
    %apart = stablehlo.subtract %turn, %a : tensor<i32>
    %rest = stablehlo.remainder %apart, %t : tensor<i32>
    %c = stablehlo.compare EQ, %rest, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<2x4000xi32>, tensor<2x4000xi32>) -> (tensor<2x4000xi32>, tensor<2x4000xi32>)
  %3 = "stablehlo.sort"(%2#1) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<2x4000xi32>) -> tensor<2x4000xi32>
  // A line that takes two steps to cut where it is merged: noise, and an order.
  %long = stablehlo.iota dim = 0 : tensor<36000xi32>
  %4 = "stablehlo.sort"(%long) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %p = stablehlo.constant dense<40503> : tensor<i32>
    %q = stablehlo.constant dense<30011> : tensor<i32>
    %bit = stablehlo.constant dense<64> : tensor<i32>
    %none = stablehlo.constant dense<0> : tensor<i32>
    %ap = stablehlo.multiply %a, %p : tensor<i32>
    %bq = stablehlo.multiply %b, %q : tensor<i32>
    %mixed = stablehlo.xor %ap, %bq : tensor<i32>
    %left = stablehlo.and %mixed, %bit : tensor<i32>
    %c = stablehlo.compare NE, %left, %none : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<36000xi32>) -> tensor<36000xi32>
  %5 = "stablehlo.sort"(%4) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<36000xi32>) -> tensor<36000xi32>
  return %1#0, %1#1, %3, %5 : tensor<2x4000xi32>, tensor<2x4000xf32>, tensor<2x4000xi32>, tensor<36000xi32>
}
