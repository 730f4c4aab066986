// RUN: shard-opt %s --spmd-inline-calls --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// The location of an inlined op says who called.
// CHECK: stablehlo.negate {{.*}} loc(callsite("inner" at "model.py":7:0))
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("model.py":7:0)
  return %0 : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32> loc("inner")
  return %0 : tensor<4xf32>
}
