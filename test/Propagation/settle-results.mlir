// RUN: shard-opt %s --spmd-import --spmd-raise --spmd-propagate --spmd-partition --spmd-communicate | FileCheck %s
// RUN: shard-run %s --check 2>&1 | FileCheck %s --check-prefix=RAN
// RUN: shard-run %s --sizes=0:0=20,3,0,1 --sizes=1:0=1,1,20,2 --check 2>&1 | FileCheck %s --check-prefix=UNEVEN
// RUN: sed -e 's/-> (tensor<24x24xf32>, /-> (tensor<24x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, /' %s | shard-opt --spmd-import --spmd-raise --spmd-propagate | FileCheck %s --check-prefix=SAID

// A product and its gradients, of matrices whose rows are cut. %b is gathered for the product, so the gradient by %a
// has it too, and is cut along rows, not along columns, as %b alone would have it. It moves 3 x 24 x 24 x 4 bytes to gather %b
// and 2 x 3 x 24 x 24 x 4 to sum the gradient by it.
// CHECK-LABEL: func.func @main(
//       CHECK:   %[[B:.*]] = local.all_gather %arg1 {{.*}} : tensor<6x24xf32> -> tensor<24x24xf32>
//       CHECK:   %[[Y:.*]] = stablehlo.dot_general %arg0, %[[B]], contracting_dims = [1] x [0]
//   CHECK-NOT:   all_gather
//       CHECK:   stablehlo.dot_general %[[Y]], %[[B]], contracting_dims = [1] x [1] {{.*}} -> tensor<6x24xf32>
//         RAN: 2 communication ops per step move 20736 bytes
//         RAN: output 0: f32 [24, 24] as unsharded
//      UNEVEN: output 0: f32 [24, 24] as unsharded

// Where somebody said how the result leaves, it leaves so.
//        SAID: @main({{.*}}) -> (tensor<24x24xf32> {{[^)]*}}[{}, {"x"}]>}, tensor<24x24xf32>
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<24x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %b: tensor<24x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<24x24xf32>, tensor<24x24xf32>) {
  %y = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<24x24xf32>, tensor<24x24xf32>) -> tensor<24x24xf32>
  %da = stablehlo.dot_general %y, %b, contracting_dims = [1] x [1] : (tensor<24x24xf32>, tensor<24x24xf32>) -> tensor<24x24xf32>
  %db = stablehlo.dot_general %a, %y, contracting_dims = [0] x [0] : (tensor<24x24xf32>, tensor<24x24xf32>) -> tensor<24x24xf32>
  return %da, %db : tensor<24x24xf32>, tensor<24x24xf32>
}
