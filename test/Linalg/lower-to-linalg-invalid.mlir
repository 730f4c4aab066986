// RUN: shard-opt %s --spmd-lower-to-linalg --split-input-file --verify-diagnostics

func.func @custom_call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.custom_call' op calls @lapack_spotrf_ffi, which is unsupported: no such function is known here}}
  %0 = stablehlo.custom_call @lapack_spotrf_ffi(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @no_lowering() -> tensor<ui32> {
  // expected-error @below {{'stablehlo.replica_id' op unsupported: it has no lowering to linalg}}
  %0 = stablehlo.replica_id : tensor<ui32>
  return %0 : tensor<ui32>
}

// -----

func.func @complex_remainder(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error @below {{'stablehlo.remainder' op unsupported for elements of type 'complex<f32>'}}
  %0 = stablehlo.remainder %x, %x : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

func.func @unknown_size(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // expected-error @below {{'stablehlo.reshape' op unsupported: the sizes of dims 0 and 2 do not follow from its operand; use dynamic_reshape}}
  %0 = stablehlo.reshape %x : (tensor<?x?xf32>) -> tensor<?x3x?xf32>
  return %x : tensor<?x?xf32>
}

// -----

func.func @dynamic_transform(%x: tensor<4x?xcomplex<f32>>) -> tensor<4x?xcomplex<f32>> {
  // expected-error @below {{'stablehlo.fft' op unsupported: dim 1 is transformed and its size is not static}}
  %0 = stablehlo.fft %x, type = FFT, length = [16] : (tensor<4x?xcomplex<f32>>) -> tensor<4x?xcomplex<f32>>
  return %0 : tensor<4x?xcomplex<f32>>
}
