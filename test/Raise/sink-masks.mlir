// RUN: shard-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(spmd-sink-masks))" | FileCheck %s

// The mask is made in the loop, and in the one within; what else is carried stays in its order.
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[X:.*]]: tensor<8x8xf32>, %[[Y:.*]]: tensor<8x8xf32>)
//       CHECK:   %[[LOOP:.*]]:2 = stablehlo.while(%[[A:.*]] = %[[X]], %[[B:.*]] = %[[Y]]) : tensor<8x8xf32>, tensor<8x8xf32>
//       CHECK:   do {
//       CHECK:     stablehlo.iota dim = 0
//       CHECK:     %[[MASK:.*]] = stablehlo.compare GE
//       CHECK:     stablehlo.select %[[MASK]], %[[A]], %[[B]]
//       CHECK:     stablehlo.while(
//  CHECK-SAME:     ) : tensor<8x8xf32>
//       CHECK:   %[[OUTSIDE:.*]] = stablehlo.convert
//       CHECK:   return %[[LOOP]]#0, %[[LOOP]]#1, %[[OUTSIDE]]
func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %rows = stablehlo.iota dim = 0 : tensor<8x8xi32>
  %columns = stablehlo.iota dim = 1 : tensor<8x8xi32>
  %mask = stablehlo.compare GE, %rows, %columns : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
  %0:3 = stablehlo.while(%a = %x, %m = %mask, %b = %y) : tensor<8x8xf32>, tensor<8x8xi1>, tensor<8x8xf32>
  cond {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %flag = stablehlo.slice %m [0:1, 0:1] : (tensor<8x8xi1>) -> tensor<1x1xi1>
    %p = stablehlo.reshape %flag : (tensor<1x1xi1>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %s = stablehlo.select %m, %a, %b : tensor<8x8xi1>, tensor<8x8xf32>
    %1:2 = stablehlo.while(%c = %s, %n = %m) : tensor<8x8xf32>, tensor<8x8xi1>
    cond {
      %p = stablehlo.constant dense<false> : tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %t = stablehlo.select %n, %c, %b : tensor<8x8xi1>, tensor<8x8xf32>
      stablehlo.return %t, %n : tensor<8x8xf32>, tensor<8x8xi1>
    }
    stablehlo.return %1#0, %m, %a : tensor<8x8xf32>, tensor<8x8xi1>, tensor<8x8xf32>
  }
  %2 = stablehlo.convert %0#1 : (tensor<8x8xi1>) -> tensor<8x8xf32>
  return %0#0, %0#2, %2 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Tables that take arithmetic, data, and what the loop changes stay with it.
// CHECK-LABEL: func.func @dear(
//       CHECK:   stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x2xi32>
func.func @dear(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %rows = stablehlo.iota dim = 0 : tensor<8x8xf32>
  %table = stablehlo.sine %rows : tensor<8x8xf32>
  %data = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %0:3 = stablehlo.while(%a = %x, %t = %table, %d = %data) : tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x2xi32>
  cond {
    %p = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %s = stablehlo.add %a, %t : tensor<8x8xf32>
    stablehlo.return %s, %t, %d : tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x2xi32>
  }
  return %0#0 : tensor<8x8xf32>
}
