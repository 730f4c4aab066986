// RUN: shard-opt %s --split-input-file --spmd-expand-linear-algebra --verify-diagnostics

func.func @operands(%a: tensor<3x3xf16>) -> (tensor<3x3xf16>, tensor<i32>) {
  // expected-error @below {{custom call @lapack_spotrf_ffi has type 'tensor<3x3xf16>' -> 'tensor<3x3xf16>', 'tensor<i32>', expected 1 tensors of f32, f64 or complex numbers and 2 results}}
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) : (tensor<3x3xf16>) -> (tensor<3x3xf16>, tensor<i32>)
  return %0#0, %0#1 : tensor<3x3xf16>, tensor<i32>
}

// -----

func.func @workspace(%a: tensor<3x3xf32>) -> tensor<3x3xf32> {
  // expected-error @below {{unsupported: custom call @lapack_sgesdd_ffi has result 0 in use, which no program of JAX reads}}
  %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 83 : ui8}} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<i32>)
  return %0#0 : tensor<3x3xf32>
}
