// RUN: shard-run %s --check --rtol=0 --atol=0 --seed=1
// RUN: shard-run %s --check --rtol=0 --atol=0 --seed=2 --mesh=x=3
// RUN: shard-run %s --check --rtol=0 --atol=0 --seed=3 --sizes=0:0=2,58,0,4 --sizes=1:1=1,1,61,1
// RUN: shard-opt %s --spmd-import --spmd-raise --spmd-propagate --spmd-partition --spmd-communicate | FileCheck %s
// A sort of which slices read one end: each rank's candidates go to the rank that owns it, nothing is merged. Equals in
// their order, of two operands and of a batch of lines.
// CHECK-NOT: merges its block
// CHECK: picks from the candidates of all ranks
// CHECK-NOT: merges its block
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                %b: tensor<3x64xi8> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<5xi32>, tensor<3xf32>, tensor<3x4xi8>, tensor<2x2xi8>) {
  %places = stablehlo.iota dim = 0 : tensor<64xi32>
  %few = stablehlo.constant dense<2.0> : tensor<64xf32>
  %scaled = stablehlo.multiply %a, %few : tensor<64xf32>
  %keys = stablehlo.round_nearest_even %scaled : tensor<64xf32>
  %0:2 = "stablehlo.sort"(%keys, %places) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>, %p: tensor<i32>, %q: tensor<i32>):
      %less = stablehlo.compare LT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
  }) : (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
  %1 = stablehlo.slice %0#1 [0:5] : (tensor<64xi32>) -> tensor<5xi32>
  %2 = stablehlo.slice %0#0 [1:4] : (tensor<64xf32>) -> tensor<3xf32>
  %3 = "stablehlo.sort"(%b) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%x: tensor<i8>, %y: tensor<i8>):
      %less = stablehlo.compare GT, %x, %y, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
  }) : (tensor<3x64xi8>) -> tensor<3x64xi8>
  %4 = stablehlo.slice %3 [0:3, 60:64] : (tensor<3x64xi8>) -> tensor<3x4xi8>
  %5 = stablehlo.slice %3 [1:3, 58:62:2] : (tensor<3x64xi8>) -> tensor<2x2xi8>
  return %1, %2, %4, %5 : tensor<5xi32>, tensor<3xf32>, tensor<3x4xi8>, tensor<2x2xi8>
}
