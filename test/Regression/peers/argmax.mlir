// RUN: shard-run %s --check --rtol=0 --atol=0
// RUN: shard-run %s --check --rtol=0 --atol=0 --sizes=0:0=0,9,0,1
// RUN: shard-run %s --input=10xf32=0,3,1,7,2,7,5,7,1,0 | FileCheck %s
// Elsewhere (ShardTensor) the position was one in the shard. Of equal elements the first counts, on whichever rank.
// CHECK: i32 [] 3
spmd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<10xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<i32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %i = stablehlo.iota dim = 0 : tensor<10xi32>
  %0:2 = stablehlo.reduce(%a init: %low), (%i init: %zero) across dimensions = [0] : (tensor<10xf32>, tensor<10xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
   reducer(%p: tensor<f32>, %q: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
    %g = stablehlo.compare GT, %p, %q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %e = stablehlo.compare EQ, %p, %q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %l = stablehlo.compare LT, %j, %k, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %el = stablehlo.and %e, %l : tensor<i1>
    %take = stablehlo.or %g, %el : tensor<i1>
    %v = stablehlo.select %g, %p, %q : tensor<i1>, tensor<f32>
    %w = stablehlo.select %take, %j, %k : tensor<i1>, tensor<i32>
    stablehlo.return %v, %w : tensor<f32>, tensor<i32>
  }
  return %0#1 : tensor<i32>
}
