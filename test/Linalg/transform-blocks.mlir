// RUN: shard-opt %s --spmd-set-machine="machine=generic,cache=32KiB" --spmd-lower-to-linalg=block-transforms --split-input-file | FileCheck %s

// 40 real lines: sixteen at a time side by side, as 32 complex elements each,
// and eight that are left over. What lies between stages is of one block.
// CHECK-LABEL: func.func @lines
//       CHECK:   scf.for %{{.*}} = %c0{{.*}} to %c2
//       CHECK:     tensor.extract_slice {{.*}} : tensor<40x134x1xf32> to tensor<16x134x1xf32>
//       CHECK:     linalg.generic {{.*}} ins(%{{.*}} : tensor<16x134x1xf32>) outs(%{{.*}} : tensor<134x16x1xf32>)
//       CHECK:     linalg.generic {{.*}} outs({{.*}} : tensor<67x1x1x16xf32>, tensor<67x1x1x16xf32>)
//   CHECK-NOT:     linalg.generic {{.*}} tensor<40
//       CHECK:     tensor.insert_slice {{.*}} : tensor<16x68x1xcomplex<f32>> into tensor<40x68x1xcomplex<f32>>
//       CHECK:   tensor.extract_slice {{.*}} : tensor<40x134x1xf32> to tensor<8x134x1xf32>
func.func @lines(%x: tensor<40x134xf32>) -> tensor<40x68xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = RFFT, length = [134] : (tensor<40x134xf32>) -> tensor<40x68xcomplex<f32>>
  return %0 : tensor<40x68xcomplex<f32>>
}

// -----

// The first of two dims: pieces of the columns of one line, here twice 16 of 40, and 8.
// CHECK-LABEL: func.func @columns
//       CHECK:   scf.for %{{.*}} to %c3
//       CHECK:     scf.for %{{.*}} to %c2
//       CHECK:       tensor.extract_slice {{.*}} : tensor<3x67x40xf32> to tensor<1x67x16xf32>
//       CHECK:   scf.for %{{.*}} to %c3
//       CHECK:     tensor.extract_slice {{.*}} : tensor<3x67x40xf32> to tensor<1x67x8xf32>
func.func @columns(%x: tensor<3x67x78xf32>) -> tensor<3x67x40xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = RFFT, length = [67, 78] : (tensor<3x67x78xf32>) -> tensor<3x67x40xcomplex<f32>>
  return %0 : tensor<3x67x40xcomplex<f32>>
}

// -----

// Complex lines are the runtime's, dim by dim; the last one is scaled.
// CHECK-LABEL: func.func @complex
//  CHECK-SAME:   %[[X:.*]]: tensor<3x5x8xcomplex<f64>>
//       CHECK:   %[[ONE:.*]] = arith.constant 1.0
//       CHECK:   %[[FIRST:.*]] = kernel.lines fourier dim 1 backward ins(%[[X]], %{{.*}}, %{{.*}} : tensor<3x5x8xcomplex<f64>>, tensor<5xf64>, tensor<5xf64>) starts(%[[ONE]] : f64)
//       CHECK:   %[[SCALE:.*]] = arith.constant 2.5{{0*}}e-02
//       CHECK:   kernel.lines fourier dim 2 backward ins(%[[FIRST]], %{{.*}}, %{{.*}} : tensor<3x5x8xcomplex<f64>>, tensor<8xf64>, tensor<8xf64>) starts(%[[SCALE]] : f64)
func.func @complex(%x: tensor<3x5x8xcomplex<f64>>) -> tensor<3x5x8xcomplex<f64>> {
  %0 = stablehlo.fft %x, type = IFFT, length = [5, 8] : (tensor<3x5x8xcomplex<f64>>) -> tensor<3x5x8xcomplex<f64>>
  return %0 : tensor<3x5x8xcomplex<f64>>
}

// -----

// So are real ones that fit in a block, the last dim first, or last; the other side has half of its numbers and one more.
// CHECK-LABEL: func.func @real
//       CHECK:   %[[FIRST:.*]] = kernel.lines fourier dim 2 ins(%{{.*}} : tensor<2x4x9xf32>, tensor<9xf32>, tensor<9xf32>) starts({{.*}}) outs(%{{.*}} : tensor<2x4x5xcomplex<f32>>)
//       CHECK:   %[[SECOND:.*]] = kernel.lines fourier dim 1 ins(%[[FIRST]],
//       CHECK:   %[[THIRD:.*]] = kernel.lines fourier dim 1 backward ins(%[[SECOND]],
//       CHECK:   kernel.lines fourier dim 2 backward ins(%[[THIRD]], %{{.*}} : tensor<2x4x5xcomplex<f32>>, tensor<9xf32>, tensor<9xf32>) starts({{.*}}) outs(%{{.*}} : tensor<2x4x9xf32>)
func.func @real(%x: tensor<2x4x9xf32>) -> tensor<2x4x9xf32> {
  %0 = stablehlo.fft %x, type = RFFT, length = [4, 9] : (tensor<2x4x9xf32>) -> tensor<2x4x5xcomplex<f32>>
  %1 = stablehlo.fft %0, type = IRFFT, length = [4, 9] : (tensor<2x4x5xcomplex<f32>>) -> tensor<2x4x9xf32>
  return %1 : tensor<2x4x9xf32>
}

// -----

// Longer real lines are not.
// CHECK-LABEL: func.func @long
//   CHECK-NOT:   kernel.lines
func.func @long(%x: tensor<1x16384xf32>) -> tensor<1x8193xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = RFFT, length = [16384] : (tensor<1x16384xf32>) -> tensor<1x8193xcomplex<f32>>
  return %0 : tensor<1x8193xcomplex<f32>>
}

// -----

// A large prime is a product with a matrix.
// CHECK-LABEL: func.func @prime
//   CHECK-NOT:   kernel.lines
func.func @prime(%x: tensor<2x67xcomplex<f32>>) -> tensor<2x67xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [67] : (tensor<2x67xcomplex<f32>>) -> tensor<2x67xcomplex<f32>>
  return %0 : tensor<2x67xcomplex<f32>>
}
