// RUN: shard-translate %s --emit=llvmir --arch=x86-64-v4 -o - | FileCheck %s

// Neither the loop that copies to the panel, an element at a time, nor that over the sum, with a tile of five rows by three vectors, is
// taken apart: their iterations gain nothing from one another, and take LLVM several times as long. Both are 17 iterations.
// CHECK-LABEL:    define {{.*}}@shardc_main
// CHECK-NOT:      masked.gather
// CHECK:          store float
// CHECK-NOT:      store float
// CHECK-COUNT-15: @llvm.fmuladd.v16f32(
// CHECK-NOT:      @llvm.fmuladd.v16f32(
// CHECK-COUNT-10: store <16 x float>
// CHECK:          {{^}}}
func.func @main(%a: tensor<40x17xf32>) -> tensor<40x40xf32> {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : (tensor<40x17xf32>, tensor<40x17xf32>) -> tensor<40x40xf32>
  return %0 : tensor<40x40xf32>
}
