// RUN: shard-opt %s --spmd-propagate 2>&1 | FileCheck %s
// RUN: not shard-opt %s --spmd-propagate=no-fallback 2>&1 | FileCheck %s --check-prefix=REFUSED

// An op without a rule gets everything whole, and a remark says what that costs.
// CHECK: remark: gathered: 'stablehlo.dynamic_reshape' at model.py:12 has no sharding rule, 192 bytes
// CHECK: spmd.reshard %{{.*}} <@mesh, [{"x"}]> -> <@mesh, [{}]>
// CHECK-SAME: reason "operand 0 of 'stablehlo.dynamic_reshape', which has no sharding rule, is cut along \22x\22 in dim 0, but is needed whole"
// CHECK: stablehlo.dynamic_reshape
// REFUSED: error: gathered: 'stablehlo.dynamic_reshape' at model.py:12 has no sharding rule, 192 bytes; leave out no-fallback
spmd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<4x4xf32> {
  %shape = stablehlo.constant dense<4> : tensor<2xi32>
  %0 = stablehlo.dynamic_reshape %a, %shape : (tensor<16xf32>, tensor<2xi32>) -> tensor<4x4xf32> loc("model.py":12:3)
  return %0 : tensor<4x4xf32>
}
