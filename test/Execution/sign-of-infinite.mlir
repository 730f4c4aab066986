// RUN: shard-run %s
// Both parts are divided by the length, as XLA and NumPy have it: what is finite becomes zero.
func.func @main() {
  %z = stablehlo.constant dense<[(0xFF800000, 0.0), (0x7F800000, -1.0), (2.0, 0xFF800000), (3.0, -4.0), (0.0, 0.0)]> : tensor<5xcomplex<f32>>
  %held = stablehlo.optimization_barrier %z : tensor<5xcomplex<f32>>
  %sign = stablehlo.sign %held : tensor<5xcomplex<f32>>
  %re = stablehlo.real %sign : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
  %im = stablehlo.imag %sign : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
  check.expect_almost_eq_const %re, dense<[0x7FC00000, 0x7FC00000, 0.0, 0.6, 0.0]> : tensor<5xf32>
  check.expect_almost_eq_const %im, dense<[0.0, 0.0, 0x7FC00000, -0.8, 0.0]> : tensor<5xf32>
  return
}
