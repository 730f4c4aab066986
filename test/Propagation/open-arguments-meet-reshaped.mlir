// Arguments meet through dims that are merged and split again, and through strides: what has as many elements there lies as the first does.
// RUN: shard-opt --spmd-import=dynamic=all --spmd-propagate --split-input-file %s | FileCheck %s

// Rows are merged with columns, and split again, before the second argument is subtracted: as a group norm does.
// CHECK-LABEL: @merged
//       CHECK: spmd.reshard %arg1 {{.*}}given [1, 0, 16]{{.*}} -> {{.*}}given [0, 0, 16]
//   CHECK-NOT: spmd.reshard
module @merged {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%a: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x6xf32> {
    %flat = stablehlo.reshape %a : (tensor<16x6xf32>) -> tensor<96xf32>
    %wave = stablehlo.tanh %flat : tensor<96xf32>
    %back = stablehlo.reshape %wave : (tensor<96xf32>) -> tensor<16x6xf32>
    %all = stablehlo.subtract %back, %b : tensor<16x6xf32>
    return %all : tensor<16x6xf32>
  }
}

// -----

// Every second row is read, and doubled again. The third argument has half as many rows, and keeps its own.
// CHECK-LABEL: @strided
//   CHECK-DAG: spmd.reshard %arg1 {{.*}}given [1, 0, 16]{{.*}} -> {{.*}}given [0, 0, 16]
//   CHECK-DAG: spmd.reshard %arg2 {{.*}}given [2, 0, 8]{{.*}} -> {{.*}}affine [1, 0, 2, 8] (#spmd.formula<given [0, 0, 16]
module @strided {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%a: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                  %c: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x6xf32> {
    %half = stablehlo.slice %a [0:16:2, 0:6] : (tensor<16x6xf32>) -> tensor<8x6xf32>
    %sum = stablehlo.add %half, %c : tensor<8x6xf32>
    %twice = stablehlo.broadcast_in_dim %sum, dims = [0, 2] : (tensor<8x6xf32>) -> tensor<8x2x6xf32>
    %back = stablehlo.reshape %twice : (tensor<8x2x6xf32>) -> tensor<16x6xf32>
    %all = stablehlo.subtract %back, %b : tensor<16x6xf32>
    return %all : tensor<16x6xf32>
  }
}

// -----

// Numbers are those that the formula has in balanced shards: 9 rows in shards of 5 and 4 leave every third one as 2 and 1.
// CHECK-LABEL: @numbers
//       CHECK: spmd.reshard %arg1 {{.*}} -> {{.*}}sizes [2, 1] by #spmd.formula<affine [1, 0, 3, 3] (#spmd.formula<given [0, 0, 9]
module @numbers {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%a: tensor<9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<3xf32> {
    %third = stablehlo.slice %a [0:9:3] : (tensor<9xf32>) -> tensor<3xf32>
    %sum = stablehlo.add %third, %b : tensor<3xf32>
    return %sum : tensor<3xf32>
  }
}
