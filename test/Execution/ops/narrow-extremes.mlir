// RUN: %npz write %t.npz 'out0=<u2:5:16448,0,32768,1,32640' 'out1=<u2:5:49024,32768,32768,32769,65408' \
// RUN:   'out2=<u2:5:16896,0,32768,1,31744' 'out3=<u2:5:48128,32768,32768,32769,64512' 'out4=|b1:4:1' 'out5=<u2:2:16448,1'
// RUN: shard-run %s --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-run %s --expect=@%t.npz --rtol=0 --atol=0 --arch=x86-64-v3
// RUN: shard-opt %s --shardc-pipeline --mlir-print-ir-after=spmd-generate-cpu-kernels -o /dev/null 2>&1 | FileCheck %s

// Extremes of narrow floats are taken by vectors, of f32, in which they all are.
// Zeros have their order, subnormal numbers stay, a NaN is both. Expected
// values by hand.
// CHECK: IR Dump After GenerateCpuKernelsPass
// CHECK: vector.reduction <maximumf>
// CHECK: vector.reduction <minimumf>
func.func @main() -> (tensor<5xui16>, tensor<5xui16>, tensor<5xui16>, tensor<5xui16>, tensor<4xi1>, tensor<2xui16>) {
  %b0 = stablehlo.constant dense<[[0x3F80, 0x4040, 0x4000, 0xBF80, 0x3F80, 0x4040, 0x4000, 0xBF80, 0x3F80, 0x4040, 0x4000, 0xBF80, 0x3F80, 0x4040, 0x4000, 0xBF80, 0x3F80, 0x4040, 0x4000, 0xBF80], [0x8000, 0x0000, 0x8000, 0x8000, 0x8000, 0x0000, 0x8000, 0x8000, 0x8000, 0x0000, 0x8000, 0x8000, 0x8000, 0x0000, 0x8000, 0x8000, 0x8000, 0x0000, 0x8000, 0x8000], [0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000], [0x0001, 0x8001, 0x0000, 0x8000, 0x0001, 0x8001, 0x0000, 0x8000, 0x0001, 0x8001, 0x0000, 0x8000, 0x0001, 0x8001, 0x0000, 0x8000, 0x0001, 0x8001, 0x0000, 0x8000], [0x7F80, 0x3F80, 0xFF80, 0x4000, 0x7F80, 0x3F80, 0xFF80, 0x4000, 0x7F80, 0x3F80, 0xFF80, 0x4000, 0x7F80, 0x3F80, 0xFF80, 0x4000, 0x7F80, 0x3F80, 0xFF80, 0x4000], [0x3F80, 0x7FC0, 0x7F80, 0xFF80, 0x3F80, 0x7FC0, 0x7F80, 0xFF80, 0x3F80, 0x7FC0, 0x7F80, 0xFF80, 0x3F80, 0x7FC0, 0x7F80, 0xFF80, 0x3F80, 0x7FC0, 0x7F80, 0xFF80]]> : tensor<6x20xbf16>
  %h0 = stablehlo.constant dense<[[0x3C00, 0x4200, 0x4000, 0xBC00, 0x3C00, 0x4200, 0x4000, 0xBC00, 0x3C00, 0x4200, 0x4000, 0xBC00, 0x3C00, 0x4200, 0x4000, 0xBC00, 0x3C00, 0x4200, 0x4000, 0xBC00], [0x8000, 0x0000, 0x8000, 0x8000, 0x8000, 0x0000, 0x8000, 0x8000, 0x8000, 0x0000, 0x8000, 0x8000, 0x8000, 0x0000, 0x8000, 0x8000, 0x8000, 0x0000, 0x8000, 0x8000], [0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000], [0x0001, 0x8001, 0x0000, 0x8000, 0x0001, 0x8001, 0x0000, 0x8000, 0x0001, 0x8001, 0x0000, 0x8000, 0x0001, 0x8001, 0x0000, 0x8000, 0x0001, 0x8001, 0x0000, 0x8000], [0x7C00, 0x3C00, 0xFC00, 0x4000, 0x7C00, 0x3C00, 0xFC00, 0x4000, 0x7C00, 0x3C00, 0xFC00, 0x4000, 0x7C00, 0x3C00, 0xFC00, 0x4000, 0x7C00, 0x3C00, 0xFC00, 0x4000], [0x3C00, 0x7E00, 0x7C00, 0xFC00, 0x3C00, 0x7E00, 0x7C00, 0xFC00, 0x3C00, 0x7E00, 0x7C00, 0xFC00, 0x3C00, 0x7E00, 0x7C00, 0xFC00, 0x3C00, 0x7E00, 0x7C00, 0xFC00]]> : tensor<6x20xf16>
  %b, %h = stablehlo.optimization_barrier %b0, %h0 : tensor<6x20xbf16>, tensor<6x20xf16>
  %pi = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %p = stablehlo.reduce(%b init: %pi) applies stablehlo.maximum across dimensions = [1] : (tensor<6x20xbf16>, tensor<bf16>) -> tensor<6xbf16>
  %pf = stablehlo.slice %p [0:5] : (tensor<6xbf16>) -> tensor<5xbf16>
  %pw = stablehlo.bitcast_convert %pf : (tensor<5xbf16>) -> tensor<5xui16>
  %pl = stablehlo.slice %p [5:6] : (tensor<6xbf16>) -> tensor<1xbf16>
  %pn = stablehlo.compare NE, %pl, %pl : (tensor<1xbf16>, tensor<1xbf16>) -> tensor<1xi1>
  %qi = stablehlo.constant dense<0x7F80> : tensor<bf16>
  %q = stablehlo.reduce(%b init: %qi) applies stablehlo.minimum across dimensions = [1] : (tensor<6x20xbf16>, tensor<bf16>) -> tensor<6xbf16>
  %qf = stablehlo.slice %q [0:5] : (tensor<6xbf16>) -> tensor<5xbf16>
  %qw = stablehlo.bitcast_convert %qf : (tensor<5xbf16>) -> tensor<5xui16>
  %ql = stablehlo.slice %q [5:6] : (tensor<6xbf16>) -> tensor<1xbf16>
  %qn = stablehlo.compare NE, %ql, %ql : (tensor<1xbf16>, tensor<1xbf16>) -> tensor<1xi1>
  %ri = stablehlo.constant dense<0xFC00> : tensor<f16>
  %r = stablehlo.reduce(%h init: %ri) applies stablehlo.maximum across dimensions = [1] : (tensor<6x20xf16>, tensor<f16>) -> tensor<6xf16>
  %rf = stablehlo.slice %r [0:5] : (tensor<6xf16>) -> tensor<5xf16>
  %rw = stablehlo.bitcast_convert %rf : (tensor<5xf16>) -> tensor<5xui16>
  %rl = stablehlo.slice %r [5:6] : (tensor<6xf16>) -> tensor<1xf16>
  %rn = stablehlo.compare NE, %rl, %rl : (tensor<1xf16>, tensor<1xf16>) -> tensor<1xi1>
  %si = stablehlo.constant dense<0x7C00> : tensor<f16>
  %s = stablehlo.reduce(%h init: %si) applies stablehlo.minimum across dimensions = [1] : (tensor<6x20xf16>, tensor<f16>) -> tensor<6xf16>
  %sf = stablehlo.slice %s [0:5] : (tensor<6xf16>) -> tensor<5xf16>
  %sw = stablehlo.bitcast_convert %sf : (tensor<5xf16>) -> tensor<5xui16>
  %sl = stablehlo.slice %s [5:6] : (tensor<6xf16>) -> tensor<1xf16>
  %sn = stablehlo.compare NE, %sl, %sl : (tensor<1xf16>, tensor<1xf16>) -> tensor<1xi1>
  %nan = stablehlo.concatenate %pn, %qn, %rn, %sn, dim = 0 : (tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1>) -> tensor<4xi1>
  %w0 = stablehlo.slice %b [0:4:3, 0:20] : (tensor<6x20xbf16>) -> tensor<2x20xbf16>
  %w = "stablehlo.reduce_window"(%w0, %pi) ({
  ^bb0(%x: tensor<bf16>, %y: tensor<bf16>):
    %m = stablehlo.maximum %x, %y : tensor<bf16>
    stablehlo.return %m : tensor<bf16>
  }) {window_dimensions = array<i64: 1, 18>, window_strides = array<i64: 1, 4>} : (tensor<2x20xbf16>, tensor<bf16>) -> tensor<2x1xbf16>
  %wb = stablehlo.bitcast_convert %w : (tensor<2x1xbf16>) -> tensor<2x1xui16>
  %ww = stablehlo.reshape %wb : (tensor<2x1xui16>) -> tensor<2xui16>
  return %pw, %qw, %rw, %sw, %nan, %ww : tensor<5xui16>, tensor<5xui16>, tensor<5xui16>, tensor<5xui16>, tensor<4xi1>, tensor<2xui16>
}
