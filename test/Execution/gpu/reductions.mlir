// Long reductions: a block for each result, warps that shuffle, types that do not. The host's kernels must agree.
// RUN: shard-run %s --seed=3 --outputs=@%t.npz
// RUN: shard-run %s --seed=3 --device=emulated-cuda --check-kernels --expect=@%t.npz --atol=1e-3
// RUN: shard-run %s --seed=3 --device=emulated-cuda --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --atol=1e-3
// RUN: shard-run %s --seed=3 --device=emulated-cuda --kernel-schedule=random=11 --check-kernels --expect=@%t.npz --atol=1e-3
// RUN: shard-translate %s --target=cuda --emit=ptx -o - | FileCheck %s
// CHECK: shfl.sync.bfly.b32
// CHECK: st.shared.b32
// CHECK: bar.sync
func.func @main(%x: tensor<5x3000xf32>, %h: tensor<5x3000xf16>) -> (tensor<5xf32>, tensor<f32>, tensor<5xf16>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %hz = stablehlo.constant dense<0.0> : tensor<f16>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<5x3000xf32>, tensor<f32>) -> tensor<5xf32>
  %1 = stablehlo.reduce(%x init: %m) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<5x3000xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.reduce(%h init: %hz) applies stablehlo.maximum across dimensions = [1] : (tensor<5x3000xf16>, tensor<f16>) -> tensor<5xf16>
  return %0, %1, %2 : tensor<5xf32>, tensor<f32>, tensor<5xf16>
}
