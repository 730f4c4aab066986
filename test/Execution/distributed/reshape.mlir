// RUN: shard-run %s --check --rtol=0 --atol=0 --seed=1
// RUN: shard-run %s --check --rtol=0 --atol=0 --mesh=x=3,y=2 --seed=2
// RUN: shard-run %s --check --rtol=0 --atol=0 --seed=3 --sizes=0:1=0,5,3,0 --sizes=1:1=7,0,1,0
// RUN: shard-opt %s --spmd-import --spmd-propagate --spmd-partition | FileCheck %s
// A minor part that is cut makes way for the major one, or stays where the major is
// of one element: nothing is gathered.
// CHECK-NOT: all_gather
sdy.mesh @mesh = <["x"=4, "y"=1]>
func.func @main(%a: tensor<4x8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>},
                %b: tensor<1x8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {"y"}]>},
                %c: tensor<12x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<32x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<72xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
        tensor<4x8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %0 = stablehlo.reshape %a : (tensor<4x8x3xf32>) -> tensor<32x3xf32>
  %1 = stablehlo.reshape %b : (tensor<1x8x6xf32>) -> tensor<8x6xf32>
  %2 = stablehlo.reshape %c : (tensor<12x6xf32>) -> tensor<72xf32>
  %3 = stablehlo.multiply %0, %0 : tensor<32x3xf32>
  %4 = stablehlo.reshape %3 : (tensor<32x3xf32>) -> tensor<4x8x3xf32>
  return %0, %1, %2, %4 : tensor<32x3xf32>, tensor<8x6xf32>, tensor<72xf32>, tensor<4x8x3xf32>
}
