// RUN: shard-translate %s --emit=llvmir --arch=x86-64-v4 -o - | FileCheck %s

// Loops that keep the CPU busy by themselves are not taken apart: that which copies to the panel, an element at a time, that over the sum,
// with a tile of nine rows by three vectors, and that which stores four vectors. Their iterations gain nothing from one another, and take
// LLVM several times as long. The first two are 17 iterations, the last is eight.
// CHECK-LABEL:    define {{.*}}@shardc_main
// CHECK-NOT:      masked.gather
// CHECK:          store float
// CHECK-NOT:      store float
// CHECK-COUNT-27: @llvm.fmuladd.v16f32(
// CHECK-NOT:      @llvm.fmuladd.v16f32(
// CHECK-COUNT-22: store <16 x float>
// CHECK-NOT:      store <16 x float>
// CHECK:          {{^}}}
func.func @main(%a: tensor<3996x17xf32>, %b: tensor<512xf32>, %c: tensor<40x17xf32>) -> (tensor<3996x40xf32>, tensor<512xf32>) {
  %0 = stablehlo.dot_general %a, %c, contracting_dims = [1] x [1] : (tensor<3996x17xf32>, tensor<40x17xf32>) -> tensor<3996x40xf32>
  %1 = stablehlo.add %b, %b : tensor<512xf32>
  return %0, %1 : tensor<3996x40xf32>, tensor<512xf32>
}
