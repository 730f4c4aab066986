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

// -----

func.func @parts(%x: tensor<4x2xf32>) -> tensor<4xcomplex<f32>> {
  // expected-error @below {{'stablehlo.bitcast_convert' op unsupported between elements of type 'f32' and 'complex<f32>'}}
  %0 = stablehlo.bitcast_convert %x : (tensor<4x2xf32>) -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

func.func @resource() -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.constant' op unsupported: its value is no dense list of elements}}
  %0 = stablehlo.constant dense_resource<missing> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @pairs() -> tensor<4xcomplex<f32>> {
  // expected-error @below {{'chlo.constant' op unsupported: its value is no dense list of integers or floats}}
  %0 = "chlo.constant"() <{value = dense<(1.0, 0.0)> : tensor<4xcomplex<f32>>}> : () -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

func.func @interior(%x: tensor<4xf32>, %v: tensor<f32>, %n: tensor<1xi64>) -> tensor<?xf32> {
  // expected-error @below {{'stablehlo.dynamic_pad' op unsupported: its interior padding is not constant}}
  %0 = stablehlo.dynamic_pad %x, %v, %n, %n, %n : (tensor<4xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// expected-error @below {{'func.func' op unsupported: its body has branches between blocks; StableHLO's control flow has regions}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}
