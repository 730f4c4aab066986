// Loops that carry nothing, made ops on all iterations, are what they were: cut along the iterations, unevenly and with
// an empty shard, along the rows' elements, and by nobody. Special numbers, the first index from the end, the counter.
// RUN: shard-run %s --check=interpreter --mesh=x=1 --seed=1
// RUN: shard-run %s --check=interpreter --seed=2 --sizes=0:0=5,0,6
// RUN: shard-run %s --check=interpreter --seed=3 --sizes=0:0=1,8,2 --sizes=1:1=0,3,1
// RUN: shard-opt %s --shardc-pipeline | FileCheck %s
// CHECK-NOT: scf.while
sdy.mesh @mesh = <["x"=3]>
func.func @main(%x: tensor<11x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %z: tensor<11x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<11x4xf32>, tensor<11x4xf32>, tensor<11xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %eleven = stablehlo.constant dense<11> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %special = stablehlo.constant dense<[0x7FC00000, 0x7F800000, 0x80000000, 1.0]> : tensor<4xf32>
  %empty = stablehlo.broadcast_in_dim %none, dims = [] : (tensor<f32>) -> tensor<11x4xf32>
  %line = stablehlo.broadcast_in_dim %none, dims = [] : (tensor<f32>) -> tensor<11xf32>
  %r:4 = stablehlo.while(%i = %zero, %a = %empty, %b = %empty, %l = %line) : tensor<i32>, tensor<11x4xf32>, tensor<11x4xf32>, tensor<11xf32>
  cond {
    %c = stablehlo.compare LT, %i, %eleven, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %back = stablehlo.subtract %ten, %i : tensor<i32>
    %xrow = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 4] : (tensor<11x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %zrow = stablehlo.dynamic_slice %z, %back, %zero, sizes = [1, 4] : (tensor<11x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %p = stablehlo.reshape %xrow : (tensor<1x4xf32>) -> tensor<4xf32>
    %q = stablehlo.reshape %zrow : (tensor<1x4xf32>) -> tensor<4xf32>
    %most = stablehlo.reduce(%p init: %lowest) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %positive = stablehlo.compare GT, %most, %none, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %products = stablehlo.multiply %q, %special : tensor<4xf32>
    %chosen = stablehlo.select %positive, %p, %products : tensor<i1>, tensor<4xf32>
    %flipped = stablehlo.reverse %q, dims = [0] : tensor<4xf32>
    %number = stablehlo.convert %back : (tensor<i32>) -> tensor<f32>
    %total = stablehlo.add %most, %number : tensor<f32>
    %chosenrow = stablehlo.reshape %chosen : (tensor<4xf32>) -> tensor<1x4xf32>
    %flippedrow = stablehlo.reshape %flipped : (tensor<4xf32>) -> tensor<1x4xf32>
    %totalrow = stablehlo.reshape %total : (tensor<f32>) -> tensor<1xf32>
    %seta = stablehlo.dynamic_update_slice %a, %chosenrow, %back, %zero : (tensor<11x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<11x4xf32>
    %setb = stablehlo.dynamic_update_slice %b, %flippedrow, %i, %zero : (tensor<11x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<11x4xf32>
    %setl = stablehlo.dynamic_update_slice %l, %totalrow, %i : (tensor<11xf32>, tensor<1xf32>, tensor<i32>) -> tensor<11xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %seta, %setb, %setl : tensor<i32>, tensor<11x4xf32>, tensor<11x4xf32>, tensor<11xf32>
  }
  return %r#1, %r#2, %r#3 : tensor<11x4xf32>, tensor<11x4xf32>, tensor<11xf32>
}
