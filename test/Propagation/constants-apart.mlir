// RUN: shard-opt %s --spmd-import --spmd-raise --spmd-propagate --spmd-partition --spmd-communicate | FileCheck %s
// RUN: shard-run %s --check 2>&1 | FileCheck %s --check-prefix=RAN
// RUN: shard-run %s --sizes=0:0=5,0,2,1 --sizes=1:1=0,1,4,3 --check 2>&1 | FileCheck %s --check-prefix=RAN

// A mask that follows from no argument, for rows of one tensor and for columns of another: each rank makes the rows and the
// columns that it needs. What both are made of is cut as either.
// CHECK-LABEL: func.func @main(
//   CHECK-NOT:   all_to_all
//   CHECK-NOT:   all_gather
//       CHECK:   stablehlo.multiply {{.*}} : tensor<2x8xf32>
//   CHECK-NOT:   all_to_all
//       CHECK:   stablehlo.multiply {{.*}} : tensor<8x2xf32>
//         RAN: 0 communication ops per step move 0 bytes
//         RAN: output 0: f32 [8, 8] as unsharded
//         RAN: output 1: f32 [8, 8] as unsharded
sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %rows = stablehlo.iota dim = 0 : tensor<8x8xf32>
  %columns = stablehlo.iota dim = 1 : tensor<8x8xf32>
  %apart = stablehlo.subtract %rows, %columns : tensor<8x8xf32>
  %distance = stablehlo.abs %apart : tensor<8x8xf32>
  %mask = stablehlo.exponential %distance : tensor<8x8xf32>
  %0 = stablehlo.multiply %x, %mask : tensor<8x8xf32>
  %1 = stablehlo.multiply %y, %mask : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}
