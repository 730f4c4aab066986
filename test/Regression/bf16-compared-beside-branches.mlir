// Numbers of bf16 that are compared in one block and widened in another: on processors
// without bf16, LLVM made them of f32 by a function that no C library here has, and
// the program could not be loaded (code 8). Expected values from mpmath.
// RUN: shard-run %s --arch=x86-64
// RUN: shard-run %s --arch=x86-64-v3
// RUN: shard-run %s --arch=native
func.func @main() {
  %x = stablehlo.constant dense<[-1.0, 0.5, 1.0, 4.0, -2.5]> : tensor<5xbf16>
  %y = stablehlo.optimization_barrier %x : tensor<5xbf16>
  %0 = chlo.digamma %y : tensor<5xbf16> -> tensor<5xbf16>
  %1 = stablehlo.constant dense<[0x7FC0, -1.9635100, -0.5772157, 1.2561177, 1.1031566]> : tensor<5xbf16>
  check.expect_almost_eq %0, %1 {tolerance = 0.005 : f64} : tensor<5xbf16>
  return
}
