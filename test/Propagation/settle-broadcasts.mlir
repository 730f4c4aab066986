// RUN: shard-opt %s --spmd-import --spmd-raise --spmd-propagate --spmd-partition | FileCheck %s
// RUN: shard-run %s --check 2>&1 | FileCheck %s --check-prefix=RAN
// RUN: shard-run %s --sizes=0:0=20,3,0,1 --sizes=1:0=1,1,20,2 --check 2>&1 | FileCheck %s --check-prefix=RAN
// RUN: shard-run %s --mesh=x=3 --check 2>&1 | FileCheck %s --check-prefix=RAN

// Each row with each row, both cut along one axis: what one of them is spread
// to is as large as the result. It is gathered before it is spread.
// CHECK-LABEL: func.func @main(
//   CHECK-NOT:   local.all_to_all
//       CHECK:   local.all_gather {{.*}} : tensor<1x6x5xf32> -> tensor<1x24x5xf32>
//   CHECK-NOT:   local.all_to_all
//       CHECK:   stablehlo.subtract {{.*}} : tensor<6x24x5xf32>
//         RAN: 1 communication ops per step move {{[0-9]+}} bytes
//         RAN: output 0: f32 [24, 24] as unsharded
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<24x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %b: tensor<24x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<24x24xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<24x5xf32>) -> tensor<24x1x5xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1, 2] : (tensor<24x5xf32>) -> tensor<1x24x5xf32>
  %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<24x1x5xf32>) -> tensor<24x24x5xf32>
  %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x24x5xf32>) -> tensor<24x24x5xf32>
  %4 = stablehlo.subtract %2, %3 : tensor<24x24x5xf32>
  %5 = stablehlo.abs %4 : tensor<24x24x5xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<24x24x5xf32>, tensor<f32>) -> tensor<24x24xf32>
  return %6 : tensor<24x24xf32>
}
