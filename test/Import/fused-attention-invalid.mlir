// RUN: shard-opt %s --split-input-file --spmd-expand-custom-calls --verify-diagnostics

func.func @main(%q: tensor<2x32x4x64xbf16>) {
  // expected-error @below {{unsupported: attention with dropout in custom call @__cudnn$fmhaSoftmaxDropout, whose random numbers are cuDNN's own}}
  %1:2 = stablehlo.custom_call @__cudnn$fmhaSoftmaxDropout(%q, %q, %q) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.125, \22mask_type\22: \22NO_MASK\22, \22dropout_rate\22: 0.5}}"} : (tensor<2x32x4x64xbf16>, tensor<2x32x4x64xbf16>, tensor<2x32x4x64xbf16>) -> (tensor<2x4x32x64xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @main(%q: tensor<2x32x4x64xbf16>) {
  // expected-error @below {{custom call @__cudnn$fmhaSoftmax has 2 operands, expected 3}}
  %1:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%q, %q) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.125, \22mask_type\22: \22NO_MASK\22, \22dropout_rate\22: 0.0}}"} : (tensor<2x32x4x64xbf16>, tensor<2x32x4x64xbf16>) -> (tensor<2x4x32x64xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @main(%q: tensor<2x32x4x64xbf16>) {
  // expected-error @below {{custom call @__cudnn$fmhaSoftmax has a configuration that is no JSON}}
  %1:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%q, %q, %q) {api_version = 2 : i32, backend_config = "{"} : (tensor<2x32x4x64xbf16>, tensor<2x32x4x64xbf16>, tensor<2x32x4x64xbf16>) -> (tensor<2x4x32x64xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @main(%q: tensor<2x32x4x64xbf16>) {
  // expected-error @below {{unsupported: mask type 'ALIBI' of custom call @__cudnn$fmhaSoftmax}}
  %1:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%q, %q, %q) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.125, \22mask_type\22: \22ALIBI\22, \22dropout_rate\22: 0.0}}"} : (tensor<2x32x4x64xbf16>, tensor<2x32x4x64xbf16>, tensor<2x32x4x64xbf16>) -> (tensor<2x4x32x64xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @main(%q: tensor<2x32x4x64xbf16>) {
  // expected-error @below {{unsupported: custom call @__cudnn$fmhaSoftmaxF8; use jax.nn.dot_product_attention with implementation="xla"}}
  %1:2 = stablehlo.custom_call @__cudnn$fmhaSoftmaxF8(%q, %q, %q) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.125, \22mask_type\22: \22NO_MASK\22, \22dropout_rate\22: 0.0}}"} : (tensor<2x32x4x64xbf16>, tensor<2x32x4x64xbf16>, tensor<2x32x4x64xbf16>) -> (tensor<2x4x32x64xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @main(%q: tensor<2x32x4x64xbf16>) {
  // expected-error @below {{custom call @__cudnn$fmhaSoftmax has no cudnn_fmha_backend_config with fmha_scale and mask_type}}
  %1:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%q, %q, %q) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22mask_type\22: \22NO_MASK\22}}"} : (tensor<2x32x4x64xbf16>, tensor<2x32x4x64xbf16>, tensor<2x32x4x64xbf16>) -> (tensor<2x4x32x64xbf16>, tensor<0xui8>)
  return
}

// -----

func.func @main(%q: tensor<2x32x4x64xbf16>) {
  // expected-error @below {{custom call @__cudnn$fmhaSoftmax has 1 results, expected 2, or one more for the log-sum-exp}}
  %1 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%q, %q, %q) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.125, \22mask_type\22: \22NO_MASK\22, \22dropout_rate\22: 0.0}}"} : (tensor<2x32x4x64xbf16>, tensor<2x32x4x64xbf16>, tensor<2x32x4x64xbf16>) -> tensor<2x4x32x64xbf16>
  return
}

// -----

func.func @main(%q: tensor<2x32x4x64xbf16>) {
  // expected-error @below {{custom call @__cudnn$fmhaSoftmax has a workspace of type 'tensor<0xf32>'}}
  %1:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%q, %q, %q) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.125, \22mask_type\22: \22NO_MASK\22, \22dropout_rate\22: 0.0}}"} : (tensor<2x32x4x64xbf16>, tensor<2x32x4x64xbf16>, tensor<2x32x4x64xbf16>) -> (tensor<2x4x32x64xbf16>, tensor<0xf32>)
  return
}

// -----

func.func @main(%q: tensor<2x32x4x64xbf16>) {
  // expected-error @below {{unsupported: dropout, paged or packed sequences in custom call @__cudnn$fmhaSoftmax}}
  %1:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%q, %q, %q) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.125, \22mask_type\22: \22NO_MASK\22, \22is_paged_attention\22: true}}"} : (tensor<2x32x4x64xbf16>, tensor<2x32x4x64xbf16>, tensor<2x32x4x64xbf16>) -> (tensor<2x4x32x64xbf16>, tensor<0xui8>)
  return
}
