// RUN: shard-run %s --check --rtol=0 --atol=0 --seed=1
// RUN: shard-run %s --check --rtol=0 --atol=0 --mesh=x=3 --seed=2
// RUN: shard-run %s --check --rtol=0 --atol=0 --mesh=x=7 --seed=3
// RUN: shard-run %s --check --rtol=0 --atol=0 --seed=4 --sizes=0:0=0,30,1,10 --sizes=1:0=20,0,0,1 --sizes=2:0=3,3,0,2
// Many ranks: rounds of a loop; blocks filled up, most of them from nothing; and all of one size.
// RUN: shard-run %s --check --rtol=0 --atol=0 --mesh=x=16 --seed=5 --sizes=0:0=0,30,1,1,0,0,0,0,0,0,0,0,0,0,0,9
// RUN: shard-run %s --check --rtol=0 --atol=0 --mesh=x=64 --seed=6
// RUN: sed s/41x/64x/g %s > %t.mlir
// RUN: shard-run %t.mlir --check --rtol=0 --atol=0 --mesh=x=16 --seed=7
// RUN: shard-run %t.mlir --check --rtol=0 --atol=0 --mesh=x=64 --seed=8
// And of a number that is no power of two: some have nobody to merge with in a round.
// RUN: shard-run %s --check --rtol=0 --atol=0 --mesh=x=11 --seed=9
// RUN: shard-run %s --check --rtol=0 --atol=0 --mesh=x=12 --seed=10 --sizes=0:0=0,30,1,1,0,0,0,0,0,0,0,9
// RUN: shard-run %s --verify-partition --mesh=x=12 2>&1 | FileCheck %s --check-prefix=VERIFIED --implicit-check-not="not verified"
// VERIFIED: the program on 12 ranks
// RUN: sed s/41x/96x/g %s > %t.mlir
// RUN: shard-run %t.mlir --check --rtol=0 --atol=0 --mesh=x=24 --seed=11
// RUN: shard-run %t.mlir --check --rtol=0 --atol=0 --mesh=x=33 --seed=12
// Sorts along a cut dim: by transposition where the other dim is long enough, by
// merges where there is none. Many elements are equal, so that their order shows.
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<41xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                %b: tensor<21x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %c: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<41xi32>, tensor<41xi32>, tensor<41xi32>, tensor<21x2xf32>, tensor<8x6xf32>, tensor<8x6xi32>, tensor<41xi32>) {
  %three = stablehlo.constant dense<7> : tensor<41xi32>
  %keys = stablehlo.remainder %a, %three : tensor<41xi32>
  %places = stablehlo.iota dim = 0 : tensor<41xi32>
  // Three operands, two keys, no places among them.
  %0:3 = "stablehlo.sort"(%keys, %a, %a) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>, %p: tensor<i32>, %q: tensor<i32>, %r: tensor<i32>, %s: tensor<i32>):
    %1 = stablehlo.compare LT, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<41xi32>, tensor<41xi32>, tensor<41xi32>) -> (tensor<41xi32>, tensor<41xi32>, tensor<41xi32>)
  // Greater or equal: equals come out backwards.
  %2:2 = "stablehlo.sort"(%keys, %places) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>, %p: tensor<i32>, %q: tensor<i32>):
    %1 = stablehlo.compare GE, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<41xi32>, tensor<41xi32>) -> (tensor<41xi32>, tensor<41xi32>)
  %3 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %1 = stablehlo.compare LT, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<41xi32>) -> tensor<41xi32>
  %4 = "stablehlo.sort"(%b) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<21x2xf32>) -> tensor<21x2xf32>
  %rows = stablehlo.iota dim = 0 : tensor<8x6xi32>
  %rounded = stablehlo.round_nearest_even %c : tensor<8x6xf32>
  %5:2 = "stablehlo.sort"(%rounded, %rows) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %p: tensor<i32>, %q: tensor<i32>):
    %1 = stablehlo.compare GT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<8x6xf32>, tensor<8x6xi32>) -> (tensor<8x6xf32>, tensor<8x6xi32>)
  return %0#1, %2#0, %2#1, %4, %5#0, %5#1, %3 : tensor<41xi32>, tensor<41xi32>, tensor<41xi32>, tensor<21x2xf32>, tensor<8x6xf32>, tensor<8x6xi32>, tensor<41xi32>
}
