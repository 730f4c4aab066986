// RUN: shard-translate %s --dynamic=all --emit=llvmir --arch=x86-64-v3 -o - | FileCheck %s

// Loops of open sizes stay as they were made. LLVM neither writes a loop over rows once for each thing that could be said
// of the number of columns, nor unrolls loops that store whole vectors: of each loop over columns there are four stores
// and one of what is left. Numbers that several loops need are asked for once.
// CHECK-LABEL:    define {{.*}}@shardc_main
// CHECK-COUNT-16: store <8 x float>
// CHECK-NOT:      store <8 x float>
// CHECK:          {{^}}}
spmd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>},
                %b: tensor<640xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"y"}]>})
    -> (tensor<64x640xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<127x640xf32>) {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<64xf32>) -> tensor<64x640xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<640xf32>) -> tensor<64x640xf32>
  %2 = stablehlo.add %0, %1 : tensor<64x640xf32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %3 = stablehlo.pad %2, %one, low = [0, 0], high = [0, 0], interior = [1, 0] : (tensor<64x640xf32>, tensor<f32>) -> tensor<127x640xf32>
  return %2, %3 : tensor<64x640xf32>, tensor<127x640xf32>
}
