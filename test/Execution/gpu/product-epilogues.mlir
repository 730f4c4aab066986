// What stands around a product is done in its kernel: what its results begin with, bias, activation, residual, casts; also where the
// depth is cut among blocks, where others read the results too (@1), where what is added is an operand of the product (%x + %x * %s),
// where two products are added, and on sm_90a. Kernels for GPUs round each op of bf16, as --reproducible does on the CPU.
// RUN: shard-run %s --seed=4 --reproducible --outputs=@%t.npz
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=highest --check-kernels --expect=@%t.npz --atol=1e-4
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=highest --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --atol=1e-4
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=highest --arch=sm_80 --kernel-schedule=random=2 --check-kernels --expect=@%t.npz --atol=1e-4
// RUN: shard-opt %s --shardc-pipeline="target=cuda" | FileCheck %s
// Six products, no fill, and nothing before or behind a product: what adds the parts of one is in the launch of another.
// CHECK-COUNT-6: llvm.func @{{[a-z]+_[0-9]+}}(
// CHECK-NOT: llvm.func @{{[a-z]+_[0-9]+}}(
func.func @main(%x: tensor<72x72xbf16>, %w: tensor<72x88xbf16>, %b: tensor<88xf32>, %r: tensor<72x88xbf16>, %s: tensor<72x72xbf16>,
                %p: tensor<40x60xf32>, %q: tensor<60x48xf32>, %c: tensor<40xf32>, %deep: tensor<24x2048xf32>, %deeper: tensor<32x2048xf32>)
    -> (tensor<72x88xbf16>, tensor<40x48xf32>, tensor<40x48xf32>, tensor<24x32xf32>, tensor<72x72xbf16>, tensor<40x48xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<72x88xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<72x72xbf16>, tensor<72x88xbf16>) -> tensor<72x88xf32>
  %bias = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<88xf32>) -> tensor<72x88xf32>
  %1 = stablehlo.add %0, %bias : tensor<72x88xf32>
  %2 = stablehlo.maximum %1, %zero : tensor<72x88xf32>
  %3 = stablehlo.convert %2 : (tensor<72x88xf32>) -> tensor<72x88xbf16>
  %4 = stablehlo.add %3, %r : tensor<72x88xbf16>

  %5 = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0] : (tensor<40x60xf32>, tensor<60x48xf32>) -> tensor<40x48xf32>
  %rows = stablehlo.broadcast_in_dim %c, dims = [0] : (tensor<40xf32>) -> tensor<40x48xf32>
  %6 = stablehlo.multiply %5, %rows : tensor<40x48xf32>
  %7 = stablehlo.tanh %6 : tensor<40x48xf32>

  %8 = stablehlo.dot_general %deep, %deeper, contracting_dims = [1] x [1] : (tensor<24x2048xf32>, tensor<32x2048xf32>) -> tensor<24x32xf32>
  %9 = stablehlo.abs %8 : tensor<24x32xf32>

  %10 = stablehlo.dot_general %x, %s, contracting_dims = [1] x [0] : (tensor<72x72xbf16>, tensor<72x72xbf16>) -> tensor<72x72xbf16>
  %11 = stablehlo.add %x, %10 : tensor<72x72xbf16>

  %twice = stablehlo.add %p, %p : tensor<40x60xf32>
  %12 = stablehlo.dot_general %twice, %q, contracting_dims = [1] x [0] : (tensor<40x60xf32>, tensor<60x48xf32>) -> tensor<40x48xf32>
  %13 = stablehlo.negate %q : tensor<60x48xf32>
  %14 = stablehlo.dot_general %p, %13, contracting_dims = [1] x [0] : (tensor<40x60xf32>, tensor<60x48xf32>) -> tensor<40x48xf32>
  %15 = stablehlo.add %12, %14 : tensor<40x48xf32>
  return %4, %5, %7, %9, %11, %15 : tensor<72x88xbf16>, tensor<40x48xf32>, tensor<40x48xf32>, tensor<24x32xf32>, tensor<72x72xbf16>, tensor<40x48xf32>
}
