// RUN: shard-opt %s --spmd-extend-import=step=before-calls | FileCheck %s
// RUN: shard-opt %s --spmd-extend-import=step=after-calls | FileCheck %s --check-prefix=LATER
// RUN: not shard-opt %s --spmd-extend-import=step=never 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// The dialect of conformance files reads its custom calls before any call is inlined, and at no later step.

// CHECK-LABEL: func.func @main
// CHECK: check.expect_eq %[[A:.*]], %[[A]] : tensor<2xf32>
// CHECK-NOT: stablehlo.custom_call
// LATER-LABEL: func.func @anything
// LATER: stablehlo.custom_call @check.expect_eq
// LATER-NOT: check.expect_eq %
// UNKNOWN: 'never'
func.func @anything() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  stablehlo.custom_call @check.expect_eq(%0, %0) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  return
}
