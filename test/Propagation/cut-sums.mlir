// RUN: shard-opt %s --spmd-import --spmd-raise --spmd-propagate --spmd-partition --spmd-communicate | FileCheck %s
// RUN: shard-run %s --check 2>&1 | FileCheck %s --check-prefix=RAN
// RUN: shard-run %s --sizes=0:1=5,0,2,1 --check 2>&1 | FileCheck %s --check-prefix=UNEVEN

// All products of columns, which are cut, over many rows: both factors that the result has want the axis. To gather %x moves
// 3 x 4096 x 8 x 4 = 393216 bytes. To cut its rows instead moves three quarters of 4096 x 8 x 4 for either operand, and 3 x 8 x 8 x 4 to sum
// what each rank has of the result.
// CHECK-LABEL: func.func @main(
//   CHECK-NOT:   all_gather
//       CHECK:   %[[A:.*]] = local.all_to_all {{.*}} -> tensor<8x1024xf32>
//       CHECK:   %[[B:.*]] = local.exchange_wait {{.*}} "all_to_all" {{.*}} -> tensor<1024x8xf32>
//       CHECK:   %[[PART:.*]] = stablehlo.dot_general %[[A]], %[[B]]
//       CHECK:   local.reduce_scatter sum %[[PART]]
//   CHECK-NOT:   all_gather
//         RAN: 3 communication ops per step move 197376 bytes
//         RAN: output 0: f32 [8, 8] as unsharded
//      UNEVEN: output 0: f32 [8, 8] as unsharded
sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<4096x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4096x8xf32>) -> tensor<8x4096xf32>
  %1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0] : (tensor<8x4096xf32>, tensor<4096x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
