// RUN: shard-opt %s --spmd-propagate --split-input-file | FileCheck %s

// What a loop carries has one layout; it is taken on once, before the loop.
// CHECK: func.func @loop(
// CHECK: %[[IN:.*]] = spmd.reshard %{{.*}} <@mesh, [{}]> -> <@mesh, [{"x"}]>
// CHECK: stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %[[IN]])
// CHECK-SAME: spmd.shardings = [#spmd.sharding<@mesh, []>, #spmd.sharding<@mesh, [{"x"}]>]
// CHECK-NOT: spmd.reshard
// CHECK: return
spmd.mesh @mesh = <["x"=2]>
func.func @loop(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>},
                %b: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<8xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.add %x, %b : tensor<8xf32>
    stablehlo.return %next, %y : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}

// -----

// A value from outside is moved outside the loop, though only its body needs that.
// CHECK: func.func @captured(
// CHECK: spmd.reshard %{{.*}} <@mesh, [{"x" sizes [7, 1]}]> -> <@mesh, [{"x" sizes [2, 6]}]>
// CHECK: stablehlo.while
// CHECK-NOT: spmd.reshard
// CHECK: return
spmd.mesh @mesh = <["x"=2]>
func.func @captured(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [2, 6]}]>},
                    %b: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [7, 1]}]>}) -> tensor<8xf32> {
  %0 = stablehlo.while(%x = %a) : tensor<8xf32>
  cond {
    %p = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %y = stablehlo.add %x, %b : tensor<8xf32>
    stablehlo.return %y : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

// Branches yield what the result has.
// CHECK: func.func @branches(
// CHECK: "stablehlo.case"
// CHECK: %[[R:.*]] = spmd.reshard %{{.*}} <@mesh, [{}]> -> <@mesh, [{"x"}]> reason "the value yielded for result 0 of 'stablehlo.case' is whole in dim 0
// CHECK: spmd.shardings = [#spmd.sharding<@mesh, [{"x"}]>]
spmd.mesh @mesh = <["x"=2]>
func.func @branches(%i: tensor<i32>, %a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>},
                    %b: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>}) -> tensor<8xf32> {
  %0 = "stablehlo.case"(%i) ({
    %1 = stablehlo.negate %a : tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }, {
    %1 = spmd.constrain %b <@mesh, [{}]> : tensor<8xf32>
    %2 = stablehlo.negate %1 : tensor<8xf32>
    %3 = spmd.constrain %2 <@mesh, [{}]> : tensor<8xf32>
    stablehlo.return %3 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
