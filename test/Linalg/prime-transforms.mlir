// RUN: shard-opt %s --spmd-lower-to-linalg --mlir-elide-elementsattrs-if-larger=16 --split-input-file | FileCheck %s

// A length with a large prime factor becomes two transforms of a power of two
// of at least twice the length, less one: what is held grows with the length,
// not with its square.
// CHECK-LABEL: func.func @large
//   CHECK-NOT:   tensor<10007x10007x
//       CHECK:   tensor.insert_slice {{.*}} into tensor<1x32768xf32>
//   CHECK-NOT:   tensor<10007x10007x
//       CHECK:   tensor.extract_slice {{.*}} : tensor<1x32768xf32> to tensor<1x10007xf32>
//   CHECK-NOT:   tensor<10007x10007x
//       CHECK:   return
func.func @large(%x: tensor<1x10007xcomplex<f32>>) -> tensor<1x10007xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [10007] : (tensor<1x10007xcomplex<f32>>) -> tensor<1x10007xcomplex<f32>>
  return %0 : tensor<1x10007xcomplex<f32>>
}

// -----

// A smaller one is a product with a matrix.
// CHECK-LABEL: func.func @small
//       CHECK:   tensor<101x101xf32>
func.func @small(%x: tensor<3x101xcomplex<f32>>) -> tensor<3x101xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [101] : (tensor<3x101xcomplex<f32>>) -> tensor<3x101xcomplex<f32>>
  return %0 : tensor<3x101xcomplex<f32>>
}
