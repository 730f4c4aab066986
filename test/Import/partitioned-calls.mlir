// A call whose author cuts it keeps its rule through import, and propagation follows it; who has no author at hand refuses it.
// RUN: shard-opt %s --spmd-import --spmd-propagate | FileCheck %s
// RUN: not shard-translate %s -o %t.so 2>&1 | FileCheck %s --check-prefix=REFUSED

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Factors: i passes, j is summed by the author, (k l) is cut along k alone.
// CHECK-LABEL: func.func public @main
// CHECK: stablehlo.custom_call @CustomSPMDPartitioning
// CHECK-SAME: spmd.shardings = [#spmd.sharding<@mesh, [{"x"}, {"y"}]>]
// REFUSED: partitioned-calls.mlir:[[#@LINE+3]]:{{.*}}unsupported: custom call @CustomSPMDPartitioning is cut by a function of the process that traced the program
func.func public @main(%a: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                       %b: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> tensor<4x8xf32> {
  %0 = stablehlo.custom_call @CustomSPMDPartitioning(%a, %b) {backend_config = "7", sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [j, kl])->([i, kl]) {i=4, j=6, k=2, l=4} reduction={j}, custom>} : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
