// RUN: shard-run %s --machine=generic,shared_cache=64B --check
// RUN: shard-run %s --machine=generic,shared_cache=64B --threads=3 --check
// RUN: %if avx512 %{ shard-run %s --machine=generic,shared_cache=64B --arch=x86-64-v4 --check %}
// RUN: shard-opt %s --shardc-pipeline="machine=generic,shared_cache=64B arch=x86-64-v4" | FileCheck %s

// With a cache that holds nothing every result passes it by: rows that begin
// anywhere, of a number of elements that is no multiple of a vector, too. Parts
// of columns (one row), padded rows, f64 and bytes.
// CHECK: nontemporal
// CHECK: llvm.fence seq_cst
func.func @main(%x: tensor<5x333xf32>, %d: tensor<3x517xf64>, %i: tensor<4x1031xi8>, %s: tensor<5xf32>, %l: tensor<1x70001xf32>)
    -> (tensor<5x333xf32>, tensor<7x335xf32>, tensor<3x517xf64>, tensor<4x1030xi8>, tensor<1x70000xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %wide = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<5xf32>) -> tensor<5x333xf32>
  %0 = stablehlo.multiply %x, %wide : tensor<5x333xf32>
  %1 = stablehlo.pad %x, %zero, low = [1, 1], high = [1, 1], interior = [0, 0] : (tensor<5x333xf32>, tensor<f32>) -> tensor<7x335xf32>
  %row = stablehlo.slice %d [0:1, 0:517] : (tensor<3x517xf64>) -> tensor<1x517xf64>
  %rows = stablehlo.broadcast_in_dim %row, dims = [0, 1] : (tensor<1x517xf64>) -> tensor<3x517xf64>
  %2 = stablehlo.add %d, %rows : tensor<3x517xf64>
  %3 = stablehlo.slice %i [0:4, 1:1031] : (tensor<4x1031xi8>) -> tensor<4x1030xi8>
  %cut = stablehlo.slice %l [0:1, 1:70001] : (tensor<1x70001xf32>) -> tensor<1x70000xf32>
  %4 = stablehlo.exponential %cut : tensor<1x70000xf32>
  return %0, %1, %2, %3, %4 : tensor<5x333xf32>, tensor<7x335xf32>, tensor<3x517xf64>, tensor<4x1030xi8>, tensor<1x70000xf32>
}
