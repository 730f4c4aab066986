// Dims on both sides of a window become smaller together: of stencils written as slices, of convolutions with strides and
// dilations and their gradients, of pooling. A mistake in the copy's local view is refused.
// RUN: split-file %s %t
// RUN: shard-translate %t/stencil.mlir --verify-partition --emit=llvmir -o %t/stencil.ll 2>&1 | FileCheck %s --check-prefix=STENCIL
// STENCIL: remark: partition verified on a smaller copy: its {{[0-9]+}} elements are too many, with dims of at most {{[0-9]+}} they are
// RUN: shard-opt %t/stencil.mlir --spmd-shrink=most=16 -o %t/stencil.small.mlir
// RUN: FileCheck %s --check-prefix=SLICES < %t/stencil.small.mlir
// SLICES: @main(%arg0: tensor<16x16xf32>
// SLICES: slice %arg0 [0:14, 0:16] : (tensor<16x16xf32>) -> tensor<14x16xf32>
// SLICES: slice %arg0 [2:16, 0:16] : (tensor<16x16xf32>) -> tensor<14x16xf32>
// SLICES: slice %arg0 [0:1, 0:16] : (tensor<16x16xf32>) -> tensor<1x16xf32>
// SLICES: slice %arg0 [15:16, 0:16] : (tensor<16x16xf32>) -> tensor<1x16xf32>
// SLICES: slice %arg0 [8:16, 0:16] : (tensor<16x16xf32>) -> tensor<8x16xf32>
// SLICES: slice %arg0 [1:16:2, 0:16] : (tensor<16x16xf32>) -> tensor<8x16xf32>
// SLICES: pad {{.*}} low = [8, 0], high = [0, 0], interior = [0, 0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16x16xf32>
// RUN: shard-opt %t/stencil.small.mlir --spmd-import --spmd-raise --spmd-propagate --spmd-partition --spmd-communicate -o %t/local.mlir
// RUN: shard-opt %t/local.mlir --spmd-verify-partition=global=%t/stencil.small.mlir -o %t/same.mlir
// RUN: sed '0,/stablehlo.subtract/s//stablehlo.add/' %t/local.mlir > %t/wrong.mlir
// RUN: not cmp %t/local.mlir %t/wrong.mlir
// RUN: not shard-opt %t/wrong.mlir --spmd-verify-partition=global=%t/stencil.small.mlir -o %t/same.mlir 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: gives result 0 other elements than the program

// RUN: shard-translate %t/windows.mlir --verify-partition --emit=llvmir -o %t/windows.ll 2>&1 | FileCheck %s --check-prefix=WINDOWS
// WINDOWS: remark: partition verified on a smaller copy
// RUN: shard-opt %t/windows.mlir --spmd-shrink=most=32 -o %t/windows.small.mlir
// RUN: FileCheck %s --check-prefix=SMALL < %t/windows.small.mlir
// SMALL: @main(%arg0: tensor<2x32x32x4xf32>
// SMALL: convolution({{.*}}(tensor<2x32x32x4xf32>, tensor<3x3x4x4xf32>) -> tensor<2x16x16x4xf32>
// SMALL: reduce_window
// SMALL: (tensor<2x16x16x4xf32>, tensor<f32>) -> tensor<2x8x8x4xf32>
// SMALL: convolution({{.*}}(tensor<2x8x8x4xf32>, tensor<3x3x4x4xf32>) -> tensor<2x16x16x4xf32>
// SMALL: convolution({{.*}}(tensor<2x32x32x4xf32>, tensor<2x16x16x4xf32>) -> tensor<4x3x3x4xf32>

//--- stencil.mlir
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8192x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8192x4096xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %below = stablehlo.slice %a [0:8190, 0:4096] : (tensor<8192x4096xf32>) -> tensor<8190x4096xf32>
  %above = stablehlo.slice %a [2:8192, 0:4096] : (tensor<8192x4096xf32>) -> tensor<8190x4096xf32>
  %slope = stablehlo.subtract %above, %below : tensor<8190x4096xf32>
  %first = stablehlo.slice %a [0:1, 0:4096] : (tensor<8192x4096xf32>) -> tensor<1x4096xf32>
  %last = stablehlo.slice %a [8191:8192, 0:4096] : (tensor<8192x4096xf32>) -> tensor<1x4096xf32>
  %whole = stablehlo.concatenate %first, %slope, %last, dim = 0 : (tensor<1x4096xf32>, tensor<8190x4096xf32>, tensor<1x4096xf32>) -> tensor<8192x4096xf32>
  %half = stablehlo.slice %a [4096:8192, 0:4096] : (tensor<8192x4096xf32>) -> tensor<4096x4096xf32>
  %second = stablehlo.slice %a [1:8192:2, 0:4096] : (tensor<8192x4096xf32>) -> tensor<4096x4096xf32>
  %sum = stablehlo.add %half, %second : tensor<4096x4096xf32>
  %behind = stablehlo.pad %sum, %z, low = [4096, 0], high = [0, 0], interior = [0, 0] : (tensor<4096x4096xf32>, tensor<f32>) -> tensor<8192x4096xf32>
  %inner = stablehlo.pad %slope, %z, low = [1, 0], high = [1, 0], interior = [0, 0] : (tensor<8190x4096xf32>, tensor<f32>) -> tensor<8192x4096xf32>
  %both = stablehlo.add %whole, %behind : tensor<8192x4096xf32>
  %all = stablehlo.add %both, %inner : tensor<8192x4096xf32>
  return %all : tensor<8192x4096xf32>
}

//--- windows.mlir
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<2x2048x2048x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}, %k: tensor<3x3x4x4xf32>)
    -> (tensor<2x1024x1024x4xf32>, tensor<4x3x3x4xf32>) {
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %strided = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2048x2048x4xf32>, tensor<3x3x4x4xf32>) -> tensor<2x1024x1024x4xf32>
  %pooled = "stablehlo.reduce_window"(%strided, %lowest) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %m = stablehlo.maximum %l, %r : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<2x1024x1024x4xf32>, tensor<f32>) -> tensor<2x512x512x4xf32>
  %back = stablehlo.convolution(%pooled, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [1, 1], pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x512x512x4xf32>, tensor<3x3x4x4xf32>) -> tensor<2x1024x1024x4xf32>
  %gradient = stablehlo.convolution(%a, %back) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[b, 0, 1, f],
      window = {stride = [1, 1], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [2, 2], reverse = [false, false]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2048x2048x4xf32>, tensor<2x1024x1024x4xf32>) -> tensor<4x3x3x4xf32>
  return %back, %gradient : tensor<2x1024x1024x4xf32>, tensor<4x3x3x4xf32>
}
