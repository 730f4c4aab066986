// RUN: shard-opt %s --split-input-file --spmd-import | FileCheck %s

// A causal window of eight keys; the heads of queries are groups of those of keys.
// CHECK-LABEL: func.func public @main(
//  CHECK-SAME:   %[[Q:.*]]: tensor<2x32x4x64xbf16>, %[[K:.*]]: tensor<2x32x2x64xbf16>, %[[V:.*]]: tensor<2x32x2x64xbf16>
//       CHECK:   %[[GROUPS:.*]] = stablehlo.reshape %[[Q]] : (tensor<2x32x4x64xbf16>) -> tensor<2x32x2x2x64xbf16>
//       CHECK:   %[[OUT:.*]]:3 = pairs.all_pairs softmax %[[GROUPS]], %[[K]], %[[V]] maps [{{.*}}] {band_lower = -7 : i64, band_upper = 0 : i64} score {
//       CHECK:   } : (tensor<2x32x2x2x64xbf16>, tensor<2x32x2x64xbf16>, tensor<2x32x2x64xbf16>) -> (tensor<2x2x2x32x64xbf16>, tensor<2x2x2x32xf32>, tensor<2x2x2x32xf32>)
//   CHECK-NOT:   custom_call
module @jit__lambda {
  func.func public @main(%arg0: tensor<2x32x4x64xbf16>, %arg1: tensor<2x32x2x64xbf16>, %arg2: tensor<2x32x2x64xbf16>) -> (tensor<2x32x4x64xbf16>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<0xbf16>
    %1:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%arg0, %arg1, %arg2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.125, \22mask_type\22: \22CAUSAL\22, \22dropout_rate\22: 0.0, \22sliding_window_length\22: 8, \22max_seg_per_batch\22: 1, \22is_paged_attention\22: false}}"} : (tensor<2x32x4x64xbf16>, tensor<2x32x2x64xbf16>, tensor<2x32x2x64xbf16>) -> (tensor<2x4x32x64xbf16>, tensor<0xui8>)
    %2 = stablehlo.transpose %1#0, dims = [0, 2, 1, 3] : (tensor<2x4x32x64xbf16>) -> tensor<2x32x4x64xbf16>
    return %2 : tensor<2x32x4x64xbf16>
  }
}

// -----

// With a bias and its gradient.
// CHECK-LABEL: func.func public @main(
//       CHECK:   %[[OUT:.*]]:3 = pairs.all_pairs softmax {{.*}} extras(%[[BIAS:.*]]) maps
//       CHECK:   %[[MAX:.*]] = stablehlo.reshape %[[OUT]]#1
//       CHECK:   %[[SUM:.*]] = stablehlo.reshape %[[OUT]]#2
//       CHECK:   %[[SUMS:.*]] = stablehlo.broadcast_in_dim %[[SUM]], dims = [0, 2, 1]
//       CHECK:   %[[PART:.*]] = stablehlo.divide %{{.*}}, %[[SUMS]]
//       CHECK:   %[[DELTA:.*]] = stablehlo.dot_general %[[PART]]
//       CHECK:   %{{.*}}, %{{.*}}, %{{.*}}, %[[DBIAS:.*]] = pairs.attention_backward {{.*}} extras(%[[BIAS]]) maps
//       CHECK:   slope {
//       CHECK:     pairs.yield %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>
//       CHECK:   -> ({{.*}}, tensor<2x2x32x48xbf16>)
//   CHECK-NOT:   custom_call
module @jit__lambda {
  func.func public @main(%arg0: tensor<2x32x4x64xbf16>, %arg1: tensor<2x48x2x64xbf16>, %arg2: tensor<2x48x2x64xbf16>, %arg3: tensor<1x4x32x48xbf16>, %arg4: tensor<2x32x4x64xbf16>) -> (tensor<2x32x4x64xbf16>, tensor<2x48x2x64xbf16>, tensor<2x48x2x64xbf16>, tensor<1x4x32x48xbf16>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<0xbf16>
    %1:3 = stablehlo.custom_call @__cudnn$fmhaScaleBiasSoftmax(%arg0, %arg1, %arg2, %arg3) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.125, \22mask_type\22: \22NO_MASK\22, \22dropout_rate\22: 0.0, \22sliding_window_length\22: 0, \22max_seg_per_batch\22: 1, \22is_paged_attention\22: false}}"} : (tensor<2x32x4x64xbf16>, tensor<2x48x2x64xbf16>, tensor<2x48x2x64xbf16>, tensor<1x4x32x48xbf16>) -> (tensor<2x4x32x64xbf16>, tensor<2x4x32xf32>, tensor<0xui8>)
    %2 = stablehlo.transpose %1#0, dims = [0, 2, 1, 3] : (tensor<2x4x32x64xbf16>) -> tensor<2x32x4x64xbf16>
    %3:5 = stablehlo.custom_call @__cudnn$fmhaScaleBiasSoftmaxBackward(%arg0, %arg1, %arg2, %1#1, %arg4, %arg3, %2) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.125, \22mask_type\22: \22NO_MASK\22, \22dropout_rate\22: 0.0, \22sliding_window_length\22: 0, \22max_seg_per_batch\22: 1, \22is_paged_attention\22: false}}"} : (tensor<2x32x4x64xbf16>, tensor<2x48x2x64xbf16>, tensor<2x48x2x64xbf16>, tensor<2x4x32xf32>, tensor<2x32x4x64xbf16>, tensor<1x4x32x48xbf16>, tensor<2x32x4x64xbf16>) -> (tensor<2x4x32x64xbf16>, tensor<2x2x48x64xbf16>, tensor<2x2x48x64xbf16>, tensor<1x4x32x48xbf16>, tensor<0xui8>)
    %4 = stablehlo.transpose %3#0, dims = [0, 2, 1, 3] : (tensor<2x4x32x64xbf16>) -> tensor<2x32x4x64xbf16>
    %5 = stablehlo.transpose %3#1, dims = [0, 2, 1, 3] : (tensor<2x2x48x64xbf16>) -> tensor<2x48x2x64xbf16>
    %6 = stablehlo.transpose %3#2, dims = [0, 2, 1, 3] : (tensor<2x2x48x64xbf16>) -> tensor<2x48x2x64xbf16>
    return %4, %5, %6, %3#3 : tensor<2x32x4x64xbf16>, tensor<2x48x2x64xbf16>, tensor<2x48x2x64xbf16>, tensor<1x4x32x48xbf16>
  }
}

// -----

// Queries past their number give zero, keys past theirs have no weight.
// CHECK-LABEL: func.func public @main(
//       CHECK:   pairs.all_pairs softmax {{.*}} extras(%{{.*}}, %{{.*}}) maps
//       CHECK:   } weight {
//   CHECK-NOT:   custom_call
module @jit__lambda {
  func.func public @main(%arg0: tensor<2x32x4x64xbf16>, %arg1: tensor<2x48x2x64xbf16>, %arg2: tensor<2x48x2x64xbf16>, %arg3: tensor<2xi32>, %arg4: tensor<2xi32>) -> (tensor<2x32x4x64xbf16>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<0xbf16>
    %1:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%arg0, %arg1, %arg2, %arg3, %arg4) {api_version = 2 : i32, backend_config = "{\22cudnn_fmha_backend_config\22: {\22fmha_scale\22: 0.125, \22mask_type\22: \22PADDING\22, \22dropout_rate\22: 0.0, \22sliding_window_length\22: 0, \22max_seg_per_batch\22: 1, \22is_paged_attention\22: false}}"} : (tensor<2x32x4x64xbf16>, tensor<2x48x2x64xbf16>, tensor<2x48x2x64xbf16>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2x4x32x64xbf16>, tensor<0xui8>)
    %2 = stablehlo.transpose %1#0, dims = [0, 2, 1, 3] : (tensor<2x4x32x64xbf16>) -> tensor<2x32x4x64xbf16>
    return %2 : tensor<2x32x4x64xbf16>
  }
}
