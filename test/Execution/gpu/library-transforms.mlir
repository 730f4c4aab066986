// RUN: shard-run %s --device=emulated-cuda --outputs=@%t.npz
// RUN: env FAKE_LIBRARY_LOG=1 SHARDRT_CUFFT_LIBRARY=%shardc_build/lib/ShardRuntimeTestFakeLibraries.so shard-run %s --device=emulated-cuda --kernels=library --expect=@%t.npz --rtol=1e-5 --atol=1e-5 2> %t.log
// RUN: FileCheck %s --implicit-check-not="fake library: {{[^d]}}" < %t.log
// RUN: env FAKE_LIBRARY_LOG=1 FAKE_LIBRARY_REFUSE=1 SHARDRT_CUFFT_LIBRARY=%shardc_build/lib/ShardRuntimeTestFakeLibraries.so shard-run %s --device=emulated-cuda --kernels=library --expect=@%t.npz --rtol=0 --atol=0
// Fourier transforms by a stand-in for cuFFT, in batches, of real and of complex lines, of one to three dims; and by our
// kernels where it takes none. Its transforms to real lines overwrite their input: it is used once more.
// CHECK: did transform forward of 20 batch 12 f32
// CHECK: did transform inverse of 4x20 batch 3 f32
// CHECK: did transform r2c of 12 batch 5 f32
// CHECK: did transform c2r of 12 batch 5 f32
// CHECK: did transform inverse of 2x6x10 batch 1 f64
// CHECK: did transform r2c of 6x10 batch 2 f64

func.func @main(%a: tensor<3x4x20xcomplex<f32>>, %b: tensor<5x12xf32>, %c: tensor<5x7xcomplex<f32>>, %d: tensor<2x6x10xcomplex<f64>>, %e: tensor<2x6x10xf64>)
    -> (tensor<3x4x20xcomplex<f32>>, tensor<3x4x20xcomplex<f32>>, tensor<5x7xcomplex<f32>>, tensor<5x12xf32>, tensor<5x7xf32>, tensor<2x6x10xcomplex<f64>>, tensor<2x6x6xcomplex<f64>>) {
  %0 = stablehlo.fft %a, type = FFT, length = [20] : (tensor<3x4x20xcomplex<f32>>) -> tensor<3x4x20xcomplex<f32>>
  %1 = stablehlo.fft %a, type = IFFT, length = [4, 20] : (tensor<3x4x20xcomplex<f32>>) -> tensor<3x4x20xcomplex<f32>>
  %2 = stablehlo.fft %b, type = RFFT, length = [12] : (tensor<5x12xf32>) -> tensor<5x7xcomplex<f32>>
  %3 = stablehlo.fft %c, type = IRFFT, length = [12] : (tensor<5x7xcomplex<f32>>) -> tensor<5x12xf32>
  %again = stablehlo.imag %c : (tensor<5x7xcomplex<f32>>) -> tensor<5x7xf32>
  %4 = stablehlo.fft %d, type = IFFT, length = [2, 6, 10] : (tensor<2x6x10xcomplex<f64>>) -> tensor<2x6x10xcomplex<f64>>
  %5 = stablehlo.fft %e, type = RFFT, length = [6, 10] : (tensor<2x6x10xf64>) -> tensor<2x6x6xcomplex<f64>>
  return %0, %1, %2, %3, %again, %4, %5 : tensor<3x4x20xcomplex<f32>>, tensor<3x4x20xcomplex<f32>>, tensor<5x7xcomplex<f32>>, tensor<5x12xf32>, tensor<5x7xf32>, tensor<2x6x10xcomplex<f64>>, tensor<2x6x6xcomplex<f64>>
}
