// Updates of several parameters, what they need before and what is read after, and gradients packed into one buffer: kernels that are one
// launch. The host's kernels must agree, in any order of blocks; every access is looked at.
// RUN: shard-run %s --seed=3 --outputs=@%t.npz
// RUN: shard-run %s --seed=3 --device=emulated-cuda --check-kernels --expect=@%t.npz --rtol=1e-6 --atol=1e-6
// RUN: shard-run %s --seed=3 --device=emulated-cuda --kernel-schedule=random=7 --check-kernels --expect=@%t.npz --rtol=1e-6 --atol=1e-6
// RUN: shard-translate %s --target=cuda --emit=ptx -o - | FileCheck %s
// One launch for all updates, and one for what reads them.
// CHECK-COUNT-2: .visible .entry
//     CHECK-NOT: .visible .entry
func.func @main(%p: tensor<1000xf32> {jax.buffer_donor = true}, %q: tensor<7x9xf32> {jax.buffer_donor = true}, %r: tensor<3xf32>,
                %g: tensor<1000xf32>, %h: tensor<7x9xf32>, %k: tensor<3xf32>) -> (tensor<1000xf32>, tensor<7x9xf32>, tensor<3xf32>, tensor<7x9xf32>) {
  %rate = stablehlo.constant dense<1.0e-1> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<1000xf32>
  %1 = stablehlo.multiply %g, %0 : tensor<1000xf32>
  %2 = stablehlo.subtract %p, %1 : tensor<1000xf32>
  %3 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<7x9xf32>
  %4 = stablehlo.multiply %h, %3 : tensor<7x9xf32>
  %5 = stablehlo.subtract %q, %4 : tensor<7x9xf32>
  %6 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %7 = stablehlo.multiply %k, %6 : tensor<3xf32>
  %8 = stablehlo.subtract %r, %7 : tensor<3xf32>
  %9 = stablehlo.slice %2 [0:63] : (tensor<1000xf32>) -> tensor<63xf32>
  %10 = stablehlo.reshape %9 : (tensor<63xf32>) -> tensor<7x9xf32>
  %11 = stablehlo.add %5, %10 : tensor<7x9xf32>
  return %2, %5, %8, %11 : tensor<1000xf32>, tensor<7x9xf32>, tensor<3xf32>, tensor<7x9xf32>
}
