// Sorts and selections: short lines that share a block, a tile, tiles that are merged in rounds, tiles that keep what is wanted;
// stable, of several operands, along any dim, of nothing and of one element. The host's kernels must agree to the bit.
// RUN: shard-run %s --seed=3 --range=-50,50 --outputs=@%t.npz
// RUN: shard-run %s --seed=3 --range=-50,50 --device=emulated-cuda --check-kernels --expect=@%t.npz
// RUN: shard-run %s --seed=3 --range=-50,50 --device=emulated-cuda --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz
// RUN: shard-run %s --seed=3 --range=-50,50 --device=emulated-cuda --kernel-schedule=random=5 --check-kernels --expect=@%t.npz
// RUN: shard-opt %s --shardc-pipeline="target=cuda" | FileCheck %s
// CHECK-NOT: llvm.call @shardrt_read
// CHECK-NOT: llvm.func @serial_
func.func @main(%x: tensor<5x1000xf32>, %y: tensor<2x2500xf32>, %z: tensor<70x6xf32>, %d: tensor<300x7xf64>, %h: tensor<3000xbf16>,
                %one: tensor<3x1xf32>, %none: tensor<4x0xf32>, %k: tensor<2x5000xf32>)
    -> (tensor<5x1000xf32>, tensor<2x2500xi32>, tensor<2x2500xi32>, tensor<2x2500xf64>, tensor<70x6xf32>, tensor<70x6xi1>, tensor<300x7xf64>,
        tensor<3000xbf16>, tensor<3x1xf32>, tensor<4x0xf32>, tensor<2x10xf32>, tensor<2x10xi32>, tensor<2x700xi32>, tensor<2x700xi32>,
        tensor<70x2xf32>, tensor<70x2xi32>, tensor<1500xf32>) {
  // NaN, and zeros of both signs, in total order.
  %zero = stablehlo.constant dense<0.0> : tensor<5x1000xf32>
  %root = stablehlo.sqrt %x : tensor<5x1000xf32>
  %round = stablehlo.round_nearest_even %root : tensor<5x1000xf32>
  %small = stablehlo.multiply %x, %zero : tensor<5x1000xf32>
  %iota5 = stablehlo.iota dim = 1 : tensor<5x1000xi32>
  %two5 = stablehlo.constant dense<2> : tensor<5x1000xi32>
  %rest5 = stablehlo.remainder %iota5, %two5 : tensor<5x1000xi32>
  %zero5 = stablehlo.constant dense<0> : tensor<5x1000xi32>
  %odds = stablehlo.compare EQ, %rest5, %zero5 : (tensor<5x1000xi32>, tensor<5x1000xi32>) -> tensor<5x1000xi1>
  %odd = stablehlo.select %odds, %round, %small : tensor<5x1000xi1>, tensor<5x1000xf32>
  %0 = "stablehlo.sort"(%odd) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<5x1000xf32>) -> tensor<5x1000xf32>
  // Many equals: their order is that of the second operand, which the order does not look at; nor at the third.
  %int = stablehlo.convert %y : (tensor<2x2500xf32>) -> tensor<2x2500xi32>
  %iota = stablehlo.iota dim = 1 : tensor<2x2500xi32>
  %wide = stablehlo.convert %y : (tensor<2x2500xf32>) -> tensor<2x2500xf64>
  %1:3 = "stablehlo.sort"(%int, %iota, %wide) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %e: tensor<i32>, %f: tensor<i32>, %g: tensor<f64>, %i: tensor<f64>):
    %c = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<2x2500xi32>, tensor<2x2500xi32>, tensor<2x2500xf64>) -> (tensor<2x2500xi32>, tensor<2x2500xi32>, tensor<2x2500xf64>)
  // Two keys, the first of one bit.
  %zeros = stablehlo.constant dense<0.0> : tensor<70x6xf32>
  %sign = stablehlo.compare LT, %z, %zeros : (tensor<70x6xf32>, tensor<70x6xf32>) -> tensor<70x6xi1>
  %2:2 = "stablehlo.sort"(%z, %sign) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %e: tensor<i1>, %f: tensor<i1>):
    %less = stablehlo.compare LT, %e, %f : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %same = stablehlo.compare EQ, %e, %f : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %both = stablehlo.and %same, %c : tensor<i1>
    %r = stablehlo.or %less, %both : tensor<i1>
    stablehlo.return %r : tensor<i1>
  }) : (tensor<70x6xf32>, tensor<70x6xi1>) -> (tensor<70x6xf32>, tensor<70x6xi1>)
  %3 = "stablehlo.sort"(%d) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<300x7xf64>) -> tensor<300x7xf64>
  %4 = "stablehlo.sort"(%h) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %c = stablehlo.compare GT, %a, %b : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<3000xbf16>) -> tensor<3000xbf16>
  %5 = "stablehlo.sort"(%one) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %6 = "stablehlo.sort"(%none) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4x0xf32>) -> tensor<4x0xf32>
  // Few of a long line, many of it, of short lines; ties by lower index.
  %whole = stablehlo.round_nearest_even %k : tensor<2x5000xf32>
  %7:2 = chlo.top_k(%whole, k = 10) : tensor<2x5000xf32> -> (tensor<2x10xf32>, tensor<2x10xi32>)
  %ints = stablehlo.convert %k : (tensor<2x5000xf32>) -> tensor<2x5000xi32>
  %8:2 = chlo.top_k(%ints, k = 700) : tensor<2x5000xi32> -> (tensor<2x700xi32>, tensor<2x700xi32>)
  %9:2 = chlo.top_k(%z, k = 2) : tensor<70x6xf32> -> (tensor<70x2xf32>, tensor<70x2xi32>)
  // Half of a line is NaN.
  %flat = stablehlo.reshape %k : (tensor<2x5000xf32>) -> tensor<10000xf32>
  %piece = stablehlo.slice %flat [0:1500] : (tensor<10000xf32>) -> tensor<1500xf32>
  %nans = stablehlo.sqrt %piece : tensor<1500xf32>
  %10 = "stablehlo.sort"(%nans) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<1500xf32>) -> tensor<1500xf32>
  return %0, %1#0, %1#1, %1#2, %2#0, %2#1, %3, %4, %5, %6, %7#0, %7#1, %8#0, %8#1, %9#0, %9#1, %10
      : tensor<5x1000xf32>, tensor<2x2500xi32>, tensor<2x2500xi32>, tensor<2x2500xf64>, tensor<70x6xf32>, tensor<70x6xi1>, tensor<300x7xf64>,
        tensor<3000xbf16>, tensor<3x1xf32>, tensor<4x0xf32>, tensor<2x10xf32>, tensor<2x10xi32>, tensor<2x700xi32>, tensor<2x700xi32>,
        tensor<70x2xf32>, tensor<70x2xi32>, tensor<1500xf32>
}
