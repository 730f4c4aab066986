// RUN: shard-opt %s --spmd-import --spmd-propagate=even-borders --split-input-file | FileCheck %s
// RUN: shard-opt %s --spmd-import --spmd-propagate --split-input-file | FileCheck %s --check-prefix=FREE

// What propagation finds for a result that nobody cut: four rows and one leave as five.
// CHECK-LABEL: func.func public @main(
//  CHECK-SAME:   -> (tensor<5x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>}, tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>})
//       CHECK:   %[[ROWS:.*]] = stablehlo.slice %{{.*}} [0:5, 0:4] {{.*}}[{"x" sizes [4, 1]}, {}]
//       CHECK:   %[[WHOLE:.*]] = spmd.reshard %[[ROWS]] {{.*}}reason "result 0 leaves in equal shards"
//       CHECK:   return %[[WHOLE]]
//  FREE-LABEL: func.func public @main(
//   FREE-SAME:   -> (tensor<5x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<5x4xf32>, tensor<4x4xf32>) {
  %0 = stablehlo.slice %x [0:5, 0:4] : (tensor<8x4xf32>) -> tensor<5x4xf32>
  %1 = stablehlo.slice %x [0:8:2, 0:4] : (tensor<8x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<5x4xf32>, tensor<4x4xf32>
}

// -----

// Sizes that an annotation gives hold inside: eight rows come four and four.
// CHECK-LABEL: func.func public @main(
//  CHECK-SAME:   %[[X:.*]]: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>})
//       CHECK:   %[[UNEVEN:.*]] = spmd.reshard %[[X]] {{.*}}-> <@mesh, [{"x" sizes [6, 2]}, {}]> reason "argument 0 comes in equal shards"
//       CHECK:   %[[SINE:.*]] = stablehlo.sine %[[UNEVEN]]
//       CHECK:   spmd.reshard %[[SINE]] {{.*}}-> <@mesh, [{"x"}, {}]> reason "result 0 leaves in equal shards"
#uneven = #spmd.sharding<@mesh, [{"x" sizes [6, 2]}, {}]>
spmd.mesh @mesh = <["x"=2]>
func.func public @main(%x: tensor<8x4xf32> {spmd.sharding = #uneven}) -> tensor<8x4xf32> {
  %0 = stablehlo.sine %x : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
