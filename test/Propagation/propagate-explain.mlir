// RUN: shard-opt %s --spmd-propagate=explain 2>&1 | FileCheck %s

// CHECK: remark: argument 1 is cut along "x" in dim 0, which comes from argument 0 "image"
// CHECK: remark: moves 64 bytes: result 0 of @main is cut along "x" in dim 0, but is needed whole
// CHECK: note: "x" comes from argument 0 "image"
spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<16xf32> {spmd.name = "image", spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>},
                %b: tensor<16xf32>) -> (tensor<16xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>}) {
  %0 = stablehlo.add %b, %a : tensor<16xf32>
  %1 = spmd.constrain %0 <@mesh, [{?}]> : tensor<16xf32>
  return %1 : tensor<16xf32>
}
