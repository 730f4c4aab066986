// Dims that annotations cut become so many times as large, with those that follow from them: what a window reads past stays, what a
// stride goes is counted. Others stay, and a program whose text binds all is left alone.
// RUN: split-file %s %t
// RUN: shard-opt %t/stencil.mlir --spmd-enlarge=times=8 | FileCheck %s --check-prefix=STENCIL
// STENCIL: @main(%arg0: tensor<128x5xf32>
// STENCIL: slice %arg0 [0:126, 0:5] : (tensor<128x5xf32>) -> tensor<126x5xf32>
// STENCIL: slice %arg0 [2:128, 0:5] : (tensor<128x5xf32>) -> tensor<126x5xf32>
// STENCIL: slice %arg0 [0:128:2, 0:5] : (tensor<128x5xf32>) -> tensor<64x5xf32>
// STENCIL: return {{.*}} : tensor<126x5xf32>, tensor<64x5xf32>
// RUN: shard-opt %t/bound.mlir --spmd-enlarge=times=8 | FileCheck %s --check-prefix=BOUND
// BOUND: @main(%arg0: tensor<4xf32>
// RUN: shard-opt %t/stencil.mlir --spmd-enlarge=times=8 -o %t/large.mlir
// RUN: shard-run %t/large.mlir --mesh=x=3 --check

//--- stencil.mlir
sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<16x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<14x5xf32>, tensor<8x5xf32>) {
  %0 = stablehlo.slice %arg0 [0:14, 0:5] : (tensor<16x5xf32>) -> tensor<14x5xf32>
  %1 = stablehlo.slice %arg0 [2:16, 0:5] : (tensor<16x5xf32>) -> tensor<14x5xf32>
  %2 = stablehlo.add %0, %1 : tensor<14x5xf32>
  %3 = stablehlo.slice %arg0 [0:16:2, 0:5] : (tensor<16x5xf32>) -> tensor<8x5xf32>
  return %2, %3 : tensor<14x5xf32>, tensor<8x5xf32>
}

//--- bound.mlir
sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  %0 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %1 = stablehlo.add %arg0, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
