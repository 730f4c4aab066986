// RUN: shard-translate %s --emit=llvmir --arch=x86-64-v3 -o - | FileCheck %s

// LLVM unrolls the innermost loop, of 36 moves; never the loops around it,
// which in a large program gave straight lines of thousands of moves.
// CHECK-LABEL: define {{.*}}@shardc_main
// CHECK-COUNT-36: = load <8 x float>
// CHECK-NOT: = load <8 x float>
func.func @main(%a: tensor<3600x36x2x8xf32>) -> tensor<3600x2x36x8xf32> {
  %0 = stablehlo.transpose %a, dims = [0, 2, 1, 3] : (tensor<3600x36x2x8xf32>) -> tensor<3600x2x36x8xf32>
  return %0 : tensor<3600x2x36x8xf32>
}
