module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x4x12xf32>, %arg1: tensor<12x4x12xf32>) -> (tensor<12x4x12xf32> {jax.result_info = "result[0]"}, tensor<12x4x12xf32> {jax.result_info = "result[1]"}) {
    %0 = call @fft(%arg0) : (tensor<12x4x12xf32>) -> tensor<12x4x12xcomplex<f32>>
    %1 = stablehlo.abs %0 : (tensor<12x4x12xcomplex<f32>>) -> tensor<12x4x12xf32>
    %2 = stablehlo.real %0 : (tensor<12x4x12xcomplex<f32>>) -> tensor<12x4x12xf32>
    %3 = stablehlo.imag %0 : (tensor<12x4x12xcomplex<f32>>) -> tensor<12x4x12xf32>
    %4 = stablehlo.negate %3 : tensor<12x4x12xf32>
    %5 = stablehlo.complex %2, %4 : tensor<12x4x12xcomplex<f32>>
    %6 = stablehlo.convert %1 : (tensor<12x4x12xf32>) -> tensor<12x4x12xcomplex<f32>>
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<12x4x12xcomplex<f32>>
    %8 = stablehlo.compare EQ, %6, %7, FLOAT : (tensor<12x4x12xcomplex<f32>>, tensor<12x4x12xcomplex<f32>>) -> tensor<12x4x12xi1>
    %cst_0 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<12x4x12xcomplex<f32>>
    %10 = stablehlo.select %8, %9, %6 : tensor<12x4x12xi1>, tensor<12x4x12xcomplex<f32>>
    %11 = stablehlo.divide %5, %10 : tensor<12x4x12xcomplex<f32>>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<12x4x12xf32>
    %13 = stablehlo.complex %arg1, %12 : tensor<12x4x12xcomplex<f32>>
    %14 = stablehlo.multiply %13, %11 : tensor<12x4x12xcomplex<f32>>
    %15 = call @fft_0(%14) : (tensor<12x4x12xcomplex<f32>>) -> tensor<12x4x12xf32>
    return %1, %15 : tensor<12x4x12xf32>, tensor<12x4x12xf32>
  }
  func.func private @fft(%arg0: tensor<12x4x12xf32>) -> tensor<12x4x12xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<12x4x12xf32>) -> tensor<12x4x12xcomplex<f32>>
    %1 = stablehlo.fft %0, type = FFT, length = [12] : (tensor<12x4x12xcomplex<f32>>) -> tensor<12x4x12xcomplex<f32>>
    return %1 : tensor<12x4x12xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<12x4x12xcomplex<f32>>) -> tensor<12x4x12xf32> {
    %0 = call @fft_1(%arg0) : (tensor<12x4x12xcomplex<f32>>) -> tensor<12x4x12xcomplex<f32>>
    %1 = stablehlo.real %0 : (tensor<12x4x12xcomplex<f32>>) -> tensor<12x4x12xf32>
    %2 = stablehlo.convert %1 : tensor<12x4x12xf32>
    return %2 : tensor<12x4x12xf32>
  }
  func.func private @fft_1(%arg0: tensor<12x4x12xcomplex<f32>>) -> tensor<12x4x12xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = FFT, length = [12] : (tensor<12x4x12xcomplex<f32>>) -> tensor<12x4x12xcomplex<f32>>
    return %0 : tensor<12x4x12xcomplex<f32>>
  }
}
