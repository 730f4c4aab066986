// RUN: shard-opt %s --spmd-inline-calls --split-input-file | FileCheck %s

// Calls of calls, also inside a loop, end up in @main.
//       CHECK: func.func @main(
//  CHECK-SAME:   %[[X:.*]]: tensor<4xf32>
//       CHECK:   %[[E:.*]] = stablehlo.exponential %[[X]]
//       CHECK:   %[[N:.*]] = stablehlo.negate %[[E]]
//       CHECK:   stablehlo.while(%[[I:.*]] = %[[N]])
//       CHECK:     stablehlo.exponential %[[I]]
//   CHECK-NOT:   call
//   CHECK-NOT: func.func
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @outer(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.while(%i = %0) : tensor<4xf32>
  cond {
    %p = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %2 = func.call @inner(%i) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}
func.func private @outer(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.negate %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.exponential %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK: {{^// -+$}}
// What a callee says of its arguments and results stays, as constraints.
//       CHECK: func.func @main(
//       CHECK:   %[[IN:.*]] = sdy.sharding_constraint %{{.*}} <@mesh, [{"x"}]>
//       CHECK:   %[[NEG:.*]] = stablehlo.negate %[[IN]]
//       CHECK:   %[[OUT:.*]] = sdy.sharding_constraint %[[NEG]] <@mesh, [{}]>
//       CHECK:   return %[[OUT]]
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @annotated(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @annotated(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK: {{^// -+$}}
// Named computations and composites are calls of another kind.
//       CHECK: func.func @main(
//       CHECK:   stablehlo.negate
//       CHECK:   stablehlo.exponential
//   CHECK-NOT:   named_computation
//   CHECK-NOT:   composite
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.named_computation<"block">(%x) (%y: tensor<4xf32>) {
    %1 = stablehlo.negate %y : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.composite "my.exp" %0 {decomposition = @exp} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.exponential %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
