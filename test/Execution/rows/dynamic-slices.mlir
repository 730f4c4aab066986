// RUN: shard-run %s --seed=1 --check 2>&1 | FileCheck %s
// RUN: shard-run %s --seed=1 --check --mesh=x=3,y=1 2>&1 | FileCheck %s
// RUN: shard-run %s --seed=1 --check --mesh=x=3,y=2 --sizes=0:0=0,300,103 2>&1 | FileCheck %s
// Slices and updates that start inside, below and above what they are clamped to.
// Those of nearly all read a halo (an update of a constant, too), whether the other dim is as well, or is asked for.
// CHECK-COUNT-10: bitwise equal
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%t: tensor<403x33xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                %u: tensor<150x20xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<101x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}, tensor<1x33xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
        tensor<403x33xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<403x33xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<150x20xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<390x30xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
        tensor<390x30xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<390x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
        tensor<403x33xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<403x33xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %i = stablehlo.constant dense<250> : tensor<i32>
  %j = stablehlo.constant dense<4> : tensor<i32>
  %low = stablehlo.constant dense<-7> : tensor<i32>
  %high = stablehlo.constant dense<400> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %a = stablehlo.dynamic_slice %t, %i, %j, sizes = [101, 7] : (tensor<403x33xf32>, tensor<i32>, tensor<i32>) -> tensor<101x7xf32>
  %b = stablehlo.dynamic_slice %t, %high, %low, sizes = [1, 33] : (tensor<403x33xf32>, tensor<i32>, tensor<i32>) -> tensor<1x33xf32>
  %c = stablehlo.dynamic_update_slice %t, %u, %i, %j : (tensor<403x33xf32>, tensor<150x20xf32>, tensor<i32>, tensor<i32>) -> tensor<403x33xf32>
  %d = stablehlo.dynamic_update_slice %t, %u, %high, %low : (tensor<403x33xf32>, tensor<150x20xf32>, tensor<i32>, tensor<i32>) -> tensor<403x33xf32>
  %e = stablehlo.dynamic_slice %t, %low, %high, sizes = [150, 20] : (tensor<403x33xf32>, tensor<i32>, tensor<i32>) -> tensor<150x20xf32>
  %f = stablehlo.dynamic_slice %t, %five, %two, sizes = [390, 30] : (tensor<403x33xf32>, tensor<i32>, tensor<i32>) -> tensor<390x30xf32>
  %g = stablehlo.dynamic_slice %t, %high, %low, sizes = [390, 30] : (tensor<403x33xf32>, tensor<i32>, tensor<i32>) -> tensor<390x30xf32>
  %h = stablehlo.dynamic_slice %t, %five, %j, sizes = [390, 7] : (tensor<403x33xf32>, tensor<i32>, tensor<i32>) -> tensor<390x7xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<403x33xf32>
  %k = stablehlo.dynamic_update_slice %zeros, %f, %five, %two : (tensor<403x33xf32>, tensor<390x30xf32>, tensor<i32>, tensor<i32>) -> tensor<403x33xf32>
  %l = stablehlo.dynamic_update_slice %zeros, %g, %high, %low : (tensor<403x33xf32>, tensor<390x30xf32>, tensor<i32>, tensor<i32>) -> tensor<403x33xf32>
  return %a, %b, %c, %d, %e, %f, %g, %h, %k, %l : tensor<101x7xf32>, tensor<1x33xf32>, tensor<403x33xf32>, tensor<403x33xf32>, tensor<150x20xf32>, tensor<390x30xf32>, tensor<390x30xf32>, tensor<390x7xf32>, tensor<403x33xf32>, tensor<403x33xf32>
}
