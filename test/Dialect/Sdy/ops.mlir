// RUN: shard-opt %s | shard-opt | FileCheck %s
// RUN: shard-opt %s --mlir-print-op-generic | shard-opt | FileCheck %s

// CHECK: sdy.mesh @m = <["rows"=2, "cols"=4]> {stablehlo.mesh = {}}
sdy.mesh @m = <["rows"=2, "cols"=4]> {stablehlo.mesh = {}}
// CHECK: sdy.mesh @perm = <["rows"=2], device_ids=[1, 0]>
sdy.mesh @perm = <["rows"=2], device_ids=[1, 0]>
// CHECK: sdy.mesh @maximal = <[], device_ids=[0]>
sdy.mesh @maximal = <[], device_ids=[0]>
// CHECK: sdy.mesh @empty = <[]>
sdy.mesh @empty = <[]>

// CHECK-LABEL: func @values(
// CHECK-SAME: %{{.*}}: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@m, [{"rows"}, {}]>}
// CHECK-SAME: %{{.*}}: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@late, [{"rows", ?}p1, {?}], replicated={"cols"}>}
// CHECK-SAME: %{{.*}}: tensor<f32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [], unreduced=max{"x"}>}
// CHECK-SAME: -> (tensor<f32> {sdy.sharding = #sdy.sharding<@m, [], unreduced={"rows", "cols"}>})
func.func @values(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@m, [{"rows"}, {}]>},
                  %b: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@late, [{"rows", ?}p1, {?}], replicated={"cols"}>},
                  %c: tensor<f32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [], unreduced=max{"x"}>})
    -> (tensor<f32> {sdy.sharding = #sdy.sharding<@m, [], unreduced={"rows", "cols"}>}) {
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"rows"}, {"cols":(2)2, ?}]>]>} : tensor<8x12xf32>
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"rows"}, {"cols":(2)2, ?}]>]>} : tensor<8x12xf32>
  // CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, jk], [*, l])->([i, m], []) {i=8, j=3, k=4, l=12, m=12} reduction={l} need_replication={m}, custom>
  %1:2 = stablehlo.custom_call @f(%a, %b) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, jk],[*, l])->([i, m], []) {i=8, j=3, k=4, l=12, m=12} reduction={l} need_replication={m}, custom>} : (tensor<8x12xf32>, tensor<8x12xf32>) -> (tensor<8x12xf32>, tensor<f32>)
  // CHECK: sdy.sharding = #sdy.sharding_per_value<[<@maximal, []>]>
  stablehlo.custom_call @g() {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@maximal, []>]>} : () -> ()
  return %c : tensor<f32>
}

// CHECK-LABEL: func @annotations(
func.func @annotations(%a: tensor<8x12xf32>, %s: tensor<f32>) -> tensor<2xf32> {
  // CHECK: sdy.sharding_constraint %{{.*}} <@m, [{}, {"cols"}]> : tensor<8x12xf32>
  %0 = sdy.sharding_constraint %a <@m, [{}, {"cols"}]> : tensor<8x12xf32>
  // CHECK: sdy.sharding_constraint %{{.*}} <@m, []> : tensor<f32>
  %1 = sdy.sharding_constraint %s <@m, []> : tensor<f32>
  // CHECK: sdy.reshard %{{.*}} <@m, [{}, {"cols"}]> : tensor<8x12xf32>
  %2 = sdy.reshard %0 <@m, [{}, {"cols"}]> : tensor<8x12xf32>
  // CHECK: sdy.sharding_group %{{.*}} group_id=3 : tensor<8x12xf32>
  sdy.sharding_group %2 group_id=3 : tensor<8x12xf32>
  // CHECK: sdy.propagation_barrier %{{.*}} allowed_direction=FORWARD : tensor<8x12xf32>
  %3 = sdy.propagation_barrier %2 allowed_direction=FORWARD : tensor<8x12xf32>
  // CHECK: sdy.data_flow_edge %{{.*}} sharding=<@m, [{?}, {?}]> : tensor<8x12xf32>
  %4 = sdy.data_flow_edge %3 sharding=<@m, [{?}, {?}]> : tensor<8x12xf32>
  // CHECK: sdy.constant dense<1.000000e+00> : tensor<2xf32>
  %5 = sdy.constant dense<1.0> : tensor<2xf32>
  return %5 : tensor<2xf32>
}

// CHECK-LABEL: func @regions(
func.func @regions(%a: tensor<8x12xf32>, %b: tensor<12xf32>) {
  // CHECK: %{{.*}}:2 = sdy.manual_computation(%{{.*}}, %{{.*}}) in_shardings=[<@m, [{"rows"}, {?}]>, <@m, [{"cols"}]>] out_shardings=[<@m, [{"rows"}, {?}]>, <@m, [{}]>] manual_axes={"rows"} (%{{.*}}: tensor<4x12xf32>, %{{.*}}: tensor<12xf32>) {
  // CHECK: sdy.return %{{.*}}, %{{.*}} : tensor<4x12xf32>, tensor<12xf32>
  // CHECK-NEXT: } : (tensor<8x12xf32>, tensor<12xf32>) -> (tensor<8x12xf32>, tensor<12xf32>)
  %0:2 = sdy.manual_computation(%a, %b) in_shardings=[<@m, [{"rows"}, {?}]>, <@m, [{"cols"}]>] out_shardings=[<@m, [{"rows"}, {?}]>, <@m, [{}]>] manual_axes={"rows"} (%x: tensor<4x12xf32>, %y: tensor<12xf32>) {
    func.call @helper() : () -> ()
    sdy.return %x, %y : tensor<4x12xf32>, tensor<12xf32>
  } : (tensor<8x12xf32>, tensor<12xf32>) -> (tensor<8x12xf32>, tensor<12xf32>)
  // CHECK: sdy.named_computation<"block">(%{{.*}}) in_shardings=[<@m, [{"rows"}, {}]>] (%{{.*}}: tensor<8x12xf32>) {
  %1 = sdy.named_computation<"block">(%a) in_shardings=[<@m, [{"rows"}, {}]>] (%x: tensor<8x12xf32>) {
    sdy.return %x : tensor<8x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  // CHECK: sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
  // CHECK-NEXT: sdy.return
  // CHECK-NEXT: } : () -> ()
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
    sdy.return
  } : () -> ()
  return
}
func.func private @helper()

// CHECK-LABEL: func @collectives(
func.func @collectives(%a: tensor<8x12xf32>) {
  // CHECK: sdy.all_gather [{}, {"cols"}] %{{.*}} out_sharding=<@m, [{}, {}]> : tensor<8x12xf32>
  %0 = sdy.all_gather [{}, {"cols"}] %a out_sharding=<@m, [{}, {}]> : tensor<8x12xf32>
  // CHECK: sdy.all_slice [{"rows"}, {}] %{{.*}} out_sharding=<@m, [{"rows"}, {}]> : tensor<8x12xf32>
  %1 = sdy.all_slice [{"rows"}, {}] %0 out_sharding=<@m, [{"rows"}, {}]> : tensor<8x12xf32>
  // CHECK: sdy.all_to_all [{"rows"}: 0->1] %{{.*}} out_sharding=<@m, [{}, {"rows"}]> : tensor<8x12xf32>
  %2 = sdy.all_to_all [{"rows"}: 0->1] %1 out_sharding=<@m, [{}, {"rows"}]> : tensor<8x12xf32>
  // CHECK: sdy.collective_permute %{{.*}} out_sharding=<@m, [{}, {"cols":(1)2}]> : tensor<8x12xf32>
  %3 = sdy.collective_permute %2 out_sharding=<@m, [{}, {"cols":(1)2}]> : tensor<8x12xf32>
  // CHECK: sdy.all_reduce max {"rows"} %{{.*}} out_sharding=<@m, [{}, {}], unreduced=max{"cols"}> : tensor<8x12xf32>
  %4 = sdy.all_reduce max {"rows"} %a out_sharding=<@m, [{}, {}], unreduced=max{"cols"}> : tensor<8x12xf32>
  // CHECK: sdy.all_reduce {"rows"} %{{.*}} out_sharding=<@m, [{}, {}]> : tensor<8x12xf32>
  %5 = sdy.all_reduce {"rows"} %a out_sharding=<@m, [{}, {}]> : tensor<8x12xf32>
  // CHECK: sdy.reduce_scatter [{"rows"}, {}] %{{.*}} out_sharding=<@m, [{"rows"}, {}]> : tensor<8x12xf32>
  %6 = sdy.reduce_scatter [{"rows"}, {}] %a out_sharding=<@m, [{"rows"}, {}]> : tensor<8x12xf32>
  // CHECK: sdy.sharded_to_unreduced [{"rows"}, {}] %{{.*}} out_sharding=<@m, [{}, {}], unreduced={"rows"}> : tensor<8x12xf32>
  %7 = sdy.sharded_to_unreduced [{"rows"}, {}] %6 out_sharding=<@m, [{}, {}], unreduced={"rows"}> : tensor<8x12xf32>
  // CHECK: sdy.replicated_to_unreduced {"rows"} %{{.*}} out_sharding=<@m, [{}, {}], unreduced={"rows"}> : tensor<8x12xf32>
  %8 = sdy.replicated_to_unreduced {"rows"} %a out_sharding=<@m, [{}, {}], unreduced={"rows"}> : tensor<8x12xf32>
  return
}

// A call without results may have one sharding, of no value: JAX writes it.
// CHECK-LABEL: func.func @no_result(
func.func @no_result(%a: tensor<f32>) {
  // CHECK: stablehlo.custom_call @callback(%{{.*}}) {{.*}}sdy.sharding = #sdy.sharding_per_value<[<@m, []>]>
  stablehlo.custom_call @callback(%a) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@m, []>]>} : (tensor<f32>) -> ()
  return
}

// A mesh may stand after its uses.
sdy.mesh @late = <["rows"=2, "cols"=4]>
