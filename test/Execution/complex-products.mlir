// RUN: shard-run %s 2>&1 | FileCheck %s
// A product of two complex numbers has both parts right; products of many are
// fused as XLA fuses them. With t = 1 + 2^-12, t^2 is 1 + 2^-11 + 2^-24, and
// rounded 1 + 2^-11: what t^2 - round(t^2) leaves is 2^-24.
// CHECK: 3 of 3 modules passed

func.func @elementwise() {
  %t = stablehlo.constant dense<[(1.000244140625, 1.000244140625)]> : tensor<1xcomplex<f32>>
  %0 = stablehlo.multiply %t, %t : tensor<1xcomplex<f32>>
  check.expect_eq_const %0, dense<[(0.0, 2.0009765625)]> : tensor<1xcomplex<f32>>
  return
}

// -----

func.func @reduction() {
  %t = stablehlo.constant dense<(1.000244140625, 1.000244140625)> : tensor<2xcomplex<f32>>
  %one = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f32>>
  %0 = stablehlo.reduce(%t init: %one) applies stablehlo.multiply across dimensions = [0]
    : (tensor<2xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  check.expect_eq_const %0, dense<(5.9604644775390625e-08, 2.0009765625)> : tensor<complex<f32>>
  return
}

// -----

func.func @running() {
  %t = stablehlo.constant dense<(1.000244140625, 1.000244140625)> : tensor<2x3xcomplex<f32>>
  %one = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f32>>
  %0 = "stablehlo.reduce_window"(%t, %one) <{padding = dense<[[1, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %1 = stablehlo.multiply %a, %b : tensor<complex<f32>>
    stablehlo.return %1 : tensor<complex<f32>>
  }) : (tensor<2x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<2x3xcomplex<f32>>
  check.expect_eq_const %0, dense<[[(1.000244140625, 1.000244140625), (1.000244140625, 1.000244140625), (1.000244140625, 1.000244140625)],
    [(5.9604644775390625e-08, 2.0009765625), (5.9604644775390625e-08, 2.0009765625), (5.9604644775390625e-08, 2.0009765625)]]> : tensor<2x3xcomplex<f32>>
  return
}
