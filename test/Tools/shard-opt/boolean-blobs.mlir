// RUN: shard-opt %s | FileCheck %s
// RUN: shard-opt %s | shard-opt | FileCheck %s
// Newer MLIR prints one byte a boolean, MLIR 22 reads one bit.

// CHECK-LABEL: func @bytes(
func.func @bytes() -> (tensor<3x4xi1>, tensor<16xi1>, tensor<8xi1>) {
  // CHECK: stablehlo.constant dense<{{\[}}[true, false, false, false], [false, true, false, false], [false, false, true, true]]> : tensor<3x4xi1>
  %0 = stablehlo.constant dense<"0x010000000001000000000101"> : tensor<3x4xi1>
  // Packed already.
  // CHECK: stablehlo.constant dense<[true, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false]> : tensor<16xi1>
  %1 = stablehlo.constant dense<"0x0102"> : tensor<16xi1>
  // CHECK: stablehlo.constant dense<true> : tensor<8xi1>
  %2 = stablehlo.constant dense<"0xFF"> : tensor<8xi1>
  return %0, %1, %2 : tensor<3x4xi1>, tensor<16xi1>, tensor<8xi1>
}
