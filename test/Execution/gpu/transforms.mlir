// Fourier transforms: short lines that share a block, one that fills it, lines that lie across memory, a line that is longer than a block
// holds, small odd factors, a prime that is a matrix, one that is a convolution; real ones, one element, none. Within a few ulps of the
// largest result of what the host computes in another order.
// RUN: shard-run %s --seed=3 --outputs=@%t.npz
// RUN: shard-run %s --seed=3 --device=emulated-cuda --check-kernels --expect=@%t.npz --rtol=1e-4 --atol=2e-3
// RUN: shard-run %s --seed=3 --device=emulated-cuda --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --rtol=1e-4 --atol=2e-3
// RUN: shard-run %s --seed=3 --device=emulated-cuda --kernel-schedule=random=5 --check-kernels --expect=@%t.npz --rtol=1e-4 --atol=2e-3
// RUN: shard-opt %s --spmd-lower-to-linalg=many-threads=true | FileCheck %s
// CHECK-COUNT-3: kernel.lines fourier dim 1
// CHECK: kernel.lines fourier dim 0
func.func @main(%a: tensor<5x60xcomplex<f32>>, %b: tensor<2x4096xcomplex<f32>>, %c: tensor<64x20xcomplex<f32>>, %d: tensor<1x8192xcomplex<f32>>,
                %e: tensor<3x34xcomplex<f32>>, %f: tensor<2x134xcomplex<f32>>, %g: tensor<3x90xf32>, %h: tensor<3x16xcomplex<f64>>,
                %i: tensor<3x1xcomplex<f32>>, %j: tensor<0x8xcomplex<f32>>, %k: tensor<4x30x36xcomplex<f32>>)
    -> (tensor<5x60xcomplex<f32>>, tensor<2x4096xcomplex<f32>>, tensor<64x20xcomplex<f32>>, tensor<1x8192xcomplex<f32>>, tensor<3x34xcomplex<f32>>,
        tensor<2x134xcomplex<f32>>, tensor<3x46xcomplex<f32>>, tensor<3x16xcomplex<f64>>, tensor<3x1xcomplex<f32>>, tensor<0x8xcomplex<f32>>,
        tensor<4x30x36xcomplex<f32>>, tensor<3x90xf32>) {
  %0 = stablehlo.fft %a, type = FFT, length = [60] : (tensor<5x60xcomplex<f32>>) -> tensor<5x60xcomplex<f32>>
  %1 = stablehlo.fft %b, type = IFFT, length = [4096] : (tensor<2x4096xcomplex<f32>>) -> tensor<2x4096xcomplex<f32>>
  %2 = stablehlo.fft %c, type = FFT, length = [64, 20] : (tensor<64x20xcomplex<f32>>) -> tensor<64x20xcomplex<f32>>
  %3 = stablehlo.fft %d, type = FFT, length = [8192] : (tensor<1x8192xcomplex<f32>>) -> tensor<1x8192xcomplex<f32>>
  %4 = stablehlo.fft %e, type = IFFT, length = [34] : (tensor<3x34xcomplex<f32>>) -> tensor<3x34xcomplex<f32>>
  %5 = stablehlo.fft %f, type = FFT, length = [134] : (tensor<2x134xcomplex<f32>>) -> tensor<2x134xcomplex<f32>>
  %6 = stablehlo.fft %g, type = RFFT, length = [90] : (tensor<3x90xf32>) -> tensor<3x46xcomplex<f32>>
  %7 = stablehlo.fft %h, type = FFT, length = [16] : (tensor<3x16xcomplex<f64>>) -> tensor<3x16xcomplex<f64>>
  %8 = stablehlo.fft %i, type = FFT, length = [1] : (tensor<3x1xcomplex<f32>>) -> tensor<3x1xcomplex<f32>>
  %9 = stablehlo.fft %j, type = FFT, length = [8] : (tensor<0x8xcomplex<f32>>) -> tensor<0x8xcomplex<f32>>
  %10 = stablehlo.fft %k, type = IFFT, length = [4, 30, 36] : (tensor<4x30x36xcomplex<f32>>) -> tensor<4x30x36xcomplex<f32>>
  %11 = stablehlo.fft %6, type = IRFFT, length = [90] : (tensor<3x46xcomplex<f32>>) -> tensor<3x90xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11
      : tensor<5x60xcomplex<f32>>, tensor<2x4096xcomplex<f32>>, tensor<64x20xcomplex<f32>>, tensor<1x8192xcomplex<f32>>, tensor<3x34xcomplex<f32>>,
        tensor<2x134xcomplex<f32>>, tensor<3x46xcomplex<f32>>, tensor<3x16xcomplex<f64>>, tensor<3x1xcomplex<f32>>, tensor<0x8xcomplex<f32>>,
        tensor<4x30x36xcomplex<f32>>, tensor<3x90xf32>
}
