// RUN: shard-opt %s --spmd-set-machine="machine=generic,cache=32KiB" --spmd-lower-to-linalg=block-transforms --split-input-file | FileCheck %s

// 40 real lines: sixteen at a time side by side, as 32 complex elements each,
// and eight that are left over. What lies between stages is of one block.
// CHECK-LABEL: func.func @lines
//       CHECK:   scf.for %{{.*}} = %c0{{.*}} to %c2
//       CHECK:     tensor.extract_slice {{.*}} : tensor<40x64x1xf32> to tensor<16x64x1xf32>
//       CHECK:     linalg.generic {{.*}} ins(%{{.*}} : tensor<16x64x1xf32>) outs(%{{.*}} : tensor<64x16x1xf32>)
//       CHECK:     linalg.generic {{.*}} outs({{.*}} : tensor<4x1x8x16xf32>, tensor<4x1x8x16xf32>)
//   CHECK-NOT:     linalg.generic {{.*}} tensor<40
//       CHECK:     tensor.insert_slice {{.*}} : tensor<16x33x1xcomplex<f32>> into tensor<40x33x1xcomplex<f32>>
//       CHECK:   tensor.extract_slice {{.*}} : tensor<40x64x1xf32> to tensor<8x64x1xf32>
func.func @lines(%x: tensor<40x64xf32>) -> tensor<40x33xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = RFFT, length = [64] : (tensor<40x64xf32>) -> tensor<40x33xcomplex<f32>>
  return %0 : tensor<40x33xcomplex<f32>>
}

// -----

// The first of two dims: pieces of the columns of one line, here twice 16 of 40, and 8.
// CHECK-LABEL: func.func @columns
//       CHECK:   scf.for %{{.*}} to %c3
//       CHECK:     scf.for %{{.*}} to %c2
//       CHECK:       tensor.extract_slice {{.*}} : tensor<3x64x40xf32> to tensor<1x64x16xf32>
//       CHECK:   scf.for %{{.*}} to %c3
//       CHECK:     tensor.extract_slice {{.*}} : tensor<3x64x40xf32> to tensor<1x64x8xf32>
func.func @columns(%x: tensor<3x64x78xf32>) -> tensor<3x64x40xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = RFFT, length = [64, 78] : (tensor<3x64x78xf32>) -> tensor<3x64x40xcomplex<f32>>
  return %0 : tensor<3x64x40xcomplex<f32>>
}

// -----

// Complex lines are the runtime's, dim by dim; the last one is scaled.
// CHECK-LABEL: func.func @complex
//  CHECK-SAME:   %[[X:.*]]: tensor<3x5x8xcomplex<f64>>
//       CHECK:   %[[ONE:.*]] = arith.constant 1.0
//       CHECK:   %[[FIRST:.*]] = spmd.lines fourier dim 1 backward ins(%[[X]], %{{.*}}, %{{.*}} : tensor<3x5x8xcomplex<f64>>, tensor<5xf64>, tensor<5xf64>) starts(%[[ONE]] : f64)
//       CHECK:   %[[SCALE:.*]] = arith.constant 2.5{{0*}}e-02
//       CHECK:   spmd.lines fourier dim 2 backward ins(%[[FIRST]], %{{.*}}, %{{.*}} : tensor<3x5x8xcomplex<f64>>, tensor<8xf64>, tensor<8xf64>) starts(%[[SCALE]] : f64)
func.func @complex(%x: tensor<3x5x8xcomplex<f64>>) -> tensor<3x5x8xcomplex<f64>> {
  %0 = stablehlo.fft %x, type = IFFT, length = [5, 8] : (tensor<3x5x8xcomplex<f64>>) -> tensor<3x5x8xcomplex<f64>>
  return %0 : tensor<3x5x8xcomplex<f64>>
}

// -----

// A large prime is a product with a matrix.
// CHECK-LABEL: func.func @prime
//   CHECK-NOT:   spmd.lines
func.func @prime(%x: tensor<2x67xcomplex<f32>>) -> tensor<2x67xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [67] : (tensor<2x67xcomplex<f32>>) -> tensor<2x67xcomplex<f32>>
  return %0 : tensor<2x67xcomplex<f32>>
}
