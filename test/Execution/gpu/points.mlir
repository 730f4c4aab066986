// Work that is no product: several neighbours a thread, tiles that are transposed in shared memory, reductions that a warp
// shares, or the lanes of warps where results lie side by side, or several blocks where results are few. The host's kernels
// must agree; every access is looked at.
// RUN: shard-run %s --seed=3 --outputs=@%t.npz
// RUN: shard-run %s --seed=3 --device=emulated-cuda --check-kernels --expect=@%t.npz --rtol=1e-5 --atol=1e-3
// RUN: shard-run %s --seed=3 --device=emulated-cuda --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --rtol=1e-5 --atol=1e-3
// RUN: shard-run %s --seed=3 --device=emulated-cuda --kernel-schedule=random=11 --check-kernels --expect=@%t.npz --rtol=1e-5 --atol=1e-3
// RUN: shard-translate %s --target=cuda --emit=ptx -o - | FileCheck %s
// CHECK-DAG: ld.global.v4.b32
// CHECK-DAG: st.global.v4.b32
// CHECK-DAG: st.global.v2.b64
// CHECK-DAG: shfl.sync.bfly.b32
// CHECK-DAG: bar.sync
func.func @main(%x: tensor<70x96xf32>, %y: tensor<96xf32>, %d: tensor<10x6xf64>, %h: tensor<9x24xbf16>, %t: tensor<3x45x70xf32>,
                %c: tensor<300x40xf32>, %w: tensor<13x100xf32>, %l: tensor<20000xf32>)
    -> (tensor<70x96xf32>, tensor<10x6xf64>, tensor<9x24xbf16>, tensor<3x70x45xf32>, tensor<40xf32>, tensor<13xf32>, tensor<f32>, tensor<40xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<96xf32>) -> tensor<70x96xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<70x96xf32>
  %2 = stablehlo.multiply %d, %d : tensor<10x6xf64>
  %3 = stablehlo.negate %h : tensor<9x24xbf16>
  %4 = stablehlo.transpose %t, dims = [0, 2, 1] : (tensor<3x45x70xf32>) -> tensor<3x70x45xf32>
  %5 = stablehlo.reduce(%c init: %z) applies stablehlo.add across dimensions = [0] : (tensor<300x40xf32>, tensor<f32>) -> tensor<40xf32>
  %6 = stablehlo.reduce(%w init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<13x100xf32>, tensor<f32>) -> tensor<13xf32>
  %7 = stablehlo.reduce(%l init: %z) applies stablehlo.add across dimensions = [0] : (tensor<20000xf32>, tensor<f32>) -> tensor<f32>
  %8 = stablehlo.reduce(%c init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<300x40xf32>, tensor<f32>) -> tensor<40xf32>
  return %1, %2, %3, %4, %5, %6, %7, %8 : tensor<70x96xf32>, tensor<10x6xf64>, tensor<9x24xbf16>, tensor<3x70x45xf32>, tensor<40xf32>, tensor<13xf32>, tensor<f32>, tensor<40xf32>
}
