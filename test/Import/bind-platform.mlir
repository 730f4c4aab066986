// RUN: shard-opt %s --split-input-file --spmd-bind-platform --verify-diagnostics | FileCheck %s

// As jax.export prints a program for several platforms: branches by the number, on the way to branches by another.
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[X:.*]]: tensor<3x2xf32> {jax.result = "x"})
//   CHECK-NOT:   stablehlo.case
//       CHECK:   %[[SUM:.*]] = stablehlo.add %[[X]], %[[X]]
//       CHECK:   return %[[SUM]]
func.func @main(%platform: tensor<i32> {jax.global_constant = "_platform_index", spmd.platform = 1 : i32},
                %x: tensor<3x2xf32> {jax.result = "x"}) -> tensor<3x2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %nine = stablehlo.constant dense<9> : tensor<i32>
  %0 = "stablehlo.case"(%platform) ({
    stablehlo.return %zero : tensor<i32>
  }, {
    stablehlo.return %nine : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  // No branch 9: the last one.
  %1 = "stablehlo.case"(%0) ({
    %2 = stablehlo.custom_call @known_elsewhere(%x) : (tensor<3x2xf32>) -> tensor<3x2xf32>
    stablehlo.return %2 : tensor<3x2xf32>
  }, {
    %2 = "stablehlo.case"(%platform) ({
      stablehlo.return %x : tensor<3x2xf32>
    }, {
      %3 = stablehlo.add %x, %x : tensor<3x2xf32>
      stablehlo.return %3 : tensor<3x2xf32>
    }) : (tensor<i32>) -> tensor<3x2xf32>
    stablehlo.return %2 : tensor<3x2xf32>
  }) : (tensor<i32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// -----

// The text does not name its platforms: the first one.
// CHECK-LABEL: func.func @main(
//       CHECK:   stablehlo.while
//       CHECK:     stablehlo.negate
//   CHECK-NOT:     stablehlo.abs
//       CHECK:   stablehlo.case
//  CHECK-NEXT:     stablehlo.abs
func.func @main(%platform: tensor<i32> {jax.global_constant = "_platform_index"}, %x: tensor<f32>, %which: tensor<i32>) -> tensor<f32> {
  %0 = stablehlo.while(%y = %x) : tensor<f32>
  cond {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %again = stablehlo.compare LT, %y, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %again : tensor<i1>
  } do {
    %1 = "stablehlo.case"(%platform) ({
      %2 = stablehlo.negate %y : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }, {
      %2 = stablehlo.abs %y : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<i32>) -> tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }
  %1 = "stablehlo.case"(%which) ({
    %2 = stablehlo.abs %0 : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }, {
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// expected-error @below {{argument 0 of @main is the number of a platform, but of type 'tensor<2xi32>'; expected tensor<i32>}}
func.func @main(%platform: tensor<2xi32> {jax.global_constant = "_platform_index"}) -> tensor<2xi32> {
  return %platform : tensor<2xi32>
}
