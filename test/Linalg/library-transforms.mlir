// RUN: shard-opt %s --split-input-file --spmd-lower-to-linalg="many-threads=true libraries=auto" | FileCheck %s
// A library's transform is worth its call, a launch, where the passes over memory that it saves take longer: of 4,096 numbers two of
// 3.3 us, on the generic machine more than a launch of 1.5.
// CHECK-LABEL: func.func @main
// CHECK: kernel.library_call "transform"
func.func @main(%a: tensor<16x256xcomplex<f32>>) -> tensor<16x256xcomplex<f32>> {
  %0 = stablehlo.fft %a, type = FFT, length = [256] : (tensor<16x256xcomplex<f32>>) -> tensor<16x256xcomplex<f32>>
  return %0 : tensor<16x256xcomplex<f32>>
}

// -----

// The same where a launch takes 10 us.
// CHECK-LABEL: func.func @main
// CHECK-NOT: kernel.library_call
// CHECK: kernel.lines
module attributes {machine.target = #machine.figures<"generic", {launch = 1.0e-5 : f64}>} {
  func.func @main(%a: tensor<16x256xcomplex<f32>>) -> tensor<16x256xcomplex<f32>> {
    %0 = stablehlo.fft %a, type = FFT, length = [256] : (tensor<16x256xcomplex<f32>>) -> tensor<16x256xcomplex<f32>>
    return %0 : tensor<16x256xcomplex<f32>>
  }
}

// -----

// Lines of a prime number are convolutions: many passes.
// CHECK-LABEL: func.func @main
// CHECK: kernel.library_call "transform"
func.func @main(%a: tensor<16x257xcomplex<f32>>) -> tensor<16x257xcomplex<f32>> {
  %0 = stablehlo.fft %a, type = FFT, length = [257] : (tensor<16x257xcomplex<f32>>) -> tensor<16x257xcomplex<f32>>
  return %0 : tensor<16x257xcomplex<f32>>
}
