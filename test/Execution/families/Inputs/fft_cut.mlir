module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x4x12xf32>, %arg1: tensor<12x4x12xf32>) -> (tensor<12x4x12xf32> {jax.result_info = "result[0]"}, tensor<12x4x12xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.transpose %arg0, dims = [1, 2, 0] : (tensor<12x4x12xf32>) -> tensor<4x12x12xf32>
    %1 = call @fft(%0) : (tensor<4x12x12xf32>) -> tensor<4x12x12xcomplex<f32>>
    %2 = stablehlo.transpose %1, dims = [2, 0, 1] : (tensor<4x12x12xcomplex<f32>>) -> tensor<12x4x12xcomplex<f32>>
    %3 = stablehlo.abs %2 : (tensor<12x4x12xcomplex<f32>>) -> tensor<12x4x12xf32>
    %4 = stablehlo.real %2 : (tensor<12x4x12xcomplex<f32>>) -> tensor<12x4x12xf32>
    %5 = stablehlo.imag %2 : (tensor<12x4x12xcomplex<f32>>) -> tensor<12x4x12xf32>
    %6 = stablehlo.negate %5 : tensor<12x4x12xf32>
    %7 = stablehlo.complex %4, %6 : tensor<12x4x12xcomplex<f32>>
    %8 = stablehlo.convert %3 : (tensor<12x4x12xf32>) -> tensor<12x4x12xcomplex<f32>>
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<12x4x12xcomplex<f32>>
    %10 = stablehlo.compare EQ, %8, %9, FLOAT : (tensor<12x4x12xcomplex<f32>>, tensor<12x4x12xcomplex<f32>>) -> tensor<12x4x12xi1>
    %cst_0 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %11 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<12x4x12xcomplex<f32>>
    %12 = stablehlo.select %10, %11, %8 : tensor<12x4x12xi1>, tensor<12x4x12xcomplex<f32>>
    %13 = stablehlo.divide %7, %12 : tensor<12x4x12xcomplex<f32>>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<12x4x12xf32>
    %15 = stablehlo.complex %arg1, %14 : tensor<12x4x12xcomplex<f32>>
    %16 = stablehlo.multiply %15, %13 : tensor<12x4x12xcomplex<f32>>
    %17 = stablehlo.transpose %16, dims = [1, 2, 0] : (tensor<12x4x12xcomplex<f32>>) -> tensor<4x12x12xcomplex<f32>>
    %18 = call @fft_0(%17) : (tensor<4x12x12xcomplex<f32>>) -> tensor<4x12x12xf32>
    %19 = stablehlo.transpose %18, dims = [2, 0, 1] : (tensor<4x12x12xf32>) -> tensor<12x4x12xf32>
    return %3, %19 : tensor<12x4x12xf32>, tensor<12x4x12xf32>
  }
  func.func private @fft(%arg0: tensor<4x12x12xf32>) -> tensor<4x12x12xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<4x12x12xf32>) -> tensor<4x12x12xcomplex<f32>>
    %1 = stablehlo.fft %0, type = FFT, length = [12] : (tensor<4x12x12xcomplex<f32>>) -> tensor<4x12x12xcomplex<f32>>
    return %1 : tensor<4x12x12xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<4x12x12xcomplex<f32>>) -> tensor<4x12x12xf32> {
    %0 = call @fft_1(%arg0) : (tensor<4x12x12xcomplex<f32>>) -> tensor<4x12x12xcomplex<f32>>
    %1 = stablehlo.real %0 : (tensor<4x12x12xcomplex<f32>>) -> tensor<4x12x12xf32>
    %2 = stablehlo.convert %1 : tensor<4x12x12xf32>
    return %2 : tensor<4x12x12xf32>
  }
  func.func private @fft_1(%arg0: tensor<4x12x12xcomplex<f32>>) -> tensor<4x12x12xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = FFT, length = [12] : (tensor<4x12x12xcomplex<f32>>) -> tensor<4x12x12xcomplex<f32>>
    return %0 : tensor<4x12x12xcomplex<f32>>
  }
}
