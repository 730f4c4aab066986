// RUN: shard-run %s --machine=generic,shared_cache=64B --check
// RUN: shard-run %s --machine=generic,shared_cache=64B --mesh=x=1 --threads=3 --check
// RUN: shard-run %s --machine=generic,shared_cache=64B --mesh=x=3 --sizes=0:0=40,0,8 --check
// RUN: shard-run %s --machine=generic,shared_cache=64B --dynamic=all --check
// RUN: shard-run %s --machine=generic,shared_cache=64B --dynamic=all --sizes=0:0=32,16 --check
// RUN: shard-opt %s --shardc-pipeline="machine=generic,shared_cache=64B" | FileCheck %s

// With a cache that holds nothing every result passes it by: what other ranks
// read of one, and what is read again.
// CHECK: nontemporal
// CHECK: llvm.fence seq_cst

sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<48x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<48x64xf32>, tensor<64x48xf32>, tensor<64xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.exponential %x : tensor<48x64xf32>
  %shift = stablehlo.slice %y [4:48, 0:64] : (tensor<48x64xf32>) -> tensor<44x64xf32>
  %rows = stablehlo.pad %shift, %zero, low = [0, 0], high = [4, 0], interior = [0, 0] : (tensor<44x64xf32>, tensor<f32>) -> tensor<48x64xf32>
  %z = stablehlo.add %rows, %y : tensor<48x64xf32>
  %t = stablehlo.transpose %z, dims = [1, 0] : (tensor<48x64xf32>) -> tensor<64x48xf32>
  %sum = stablehlo.reduce(%z init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<48x64xf32>, tensor<f32>) -> tensor<64xf32>
  return %z, %t, %sum : tensor<48x64xf32>, tensor<64x48xf32>, tensor<64xf32>
}
