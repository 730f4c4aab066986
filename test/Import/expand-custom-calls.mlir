// RUN: shard-opt %s --split-input-file --spmd-expand-custom-calls | FileCheck %s
// RUN: shard-opt %s --split-input-file --spmd-expand-custom-calls=host-calls | FileCheck %s --check-prefix=CALLS

// The approximation is answered exactly; the comparator is the program's.
func.func private @greater(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
// CHECK-LABEL: func.func @approx_top_k(
//  CHECK-SAME:   %[[X:.*]]: tensor<5x48xf32>, %[[I:.*]]: tensor<5x48xi32>
func.func @approx_top_k(%x: tensor<5x48xf32>, %i: tensor<5x48xi32>) -> (tensor<5x3xf32>, tensor<5x3xi32>) {
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %c = stablehlo.constant dense<-1> : tensor<i32>
  // CHECK: %[[S:.*]]:2 = "stablehlo.sort"(%[[X]], %[[I]]) <{dimension = 1 : i64, is_stable = true}>
  // CHECK: stablehlo.compare GT
  // CHECK: %[[V:.*]] = stablehlo.slice %[[S]]#0 [0:5, 0:3]
  // CHECK: %[[P:.*]] = stablehlo.slice %[[S]]#1 [0:5, 0:3]
  // CHECK: return %[[V]], %[[P]]
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %z, %c) {backend_config = "", called_computations = [@greater],
      mhlo.backend_config = {aggregate_to_topk = true, reduction_dim = 1 : i64, top_k = 3 : i64}}
      : (tensor<5x48xf32>, tensor<5x48xi32>, tensor<f32>, tensor<i32>) -> (tensor<5x3xf32>, tensor<5x3xi32>)
  return %0#0, %0#1 : tensor<5x3xf32>, tensor<5x3xi32>
}

// -----

// CHECK-LABEL: func.func @older_names(
func.func @older_names(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x2xf32>, tensor<4x2xi32>) {
  // CHECK: chlo.erf
  %0 = stablehlo.custom_call @mhlo.erf(%x) {mhlo.attributes = {}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: chlo.top_k
  %1:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = true}} : (tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
  return %0, %1#0, %1#1 : tensor<4x8xf32>, tensor<4x2xf32>, tensor<4x2xi32>
}

// -----

// Wishes about the order of ops are passed over, of what is under way too.
// CHECK-LABEL: func.func @orders(
//   CHECK-NOT:   control_dep
//       CHECK:   return
func.func @orders(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
  %0 = stablehlo.sine %x : tensor<4xf32>
  %f = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %2 = stablehlo.slice %a [0:2] : (tensor<4xf32>) -> tensor<2xf32>
    stablehlo.return %2 : tensor<2xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>>
  stablehlo.custom_call @control_dep(%f, %0) {has_side_effect = true} : (!stablehlo.future<tensor<2xf32>>, tensor<4xf32>) -> ()
  %1 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  stablehlo.custom_call @control_dep(%0, %1) {has_side_effect = true} : (tensor<4xf32>, tensor<2xf32>) -> ()
  return %0, %1 : tensor<4xf32>, tensor<2xf32>
}

// -----

// A call of Python for what it prints goes, with a warning.
// CHECK-LABEL: func.func @debug_print(
//   CHECK-NOT:   custom_call
//   CHECK-NOT:   host_call
// Whoever answers gets those that have a number.
// CALLS-LABEL: func.func @debug_print(
//  CALLS-SAME:   %[[X:.*]]: tensor<4xf32>
//       CALLS:   spmd.host_call 1(%[[X]]) effects : (tensor<4xf32>) -> ()
//   CALLS-NOT:   call
//       CALLS:   return
func.func @debug_print(%x: tensor<4xf32>) -> tensor<4xf32> {
  stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {api_version = 4 : i32, has_side_effect = true, mhlo.backend_config = {index = 1 : ui64}} : (tensor<4xf32>) -> ()
  %t = stablehlo.create_token : !stablehlo.token
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%t, %x) {has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> !stablehlo.token
  return %x : tensor<4xf32>
}

// One whose values are read is a call of the host. Tokens go past it.
// CHECK-LABEL: func.func @callbacks(
//  CHECK-SAME:   %[[T:.*]]: !stablehlo.token, %[[X:.*]]: tensor<4xf32>
//       CHECK:   %[[Y:.*]] = spmd.host_call 0(%[[X]]) : (tensor<4xf32>) -> tensor<4xf32>
//       CHECK:   %[[Z:.*]]:2 = spmd.host_call 2(%[[Y]], %[[X]]) effects ordered : (tensor<4xf32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
//       CHECK:   return %[[T]], %[[Z]]#1
func.func @callbacks(%t: !stablehlo.token, %x: tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>) {
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {mhlo.backend_config = {index = 0 : ui64}} : (tensor<4xf32>) -> tensor<4xf32>
  %1:3 = stablehlo.custom_call @xla_ffi_python_gpu_callback(%t, %0, %x) {has_side_effect = true, mhlo.backend_config = {index = 2 : ui64}}
      : (!stablehlo.token, tensor<4xf32>, tensor<4xf32>) -> (!stablehlo.token, tensor<i32>, tensor<4xf32>)
  return %1#0, %1#2 : !stablehlo.token, tensor<4xf32>
}

// An older form holds an address of the process: it stays, to be refused.
// CHECK-LABEL: func.func @address(
//       CHECK:   stablehlo.custom_call @xla_python_cpu_callback
func.func @address(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @xla_python_cpu_callback(%x) {backend_config = "140"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// On shards as they are, where there is nothing to give back.
// CALLS-LABEL: func.func @partitioned(
//       CALLS:   spmd.host_call 3(%{{.*}}) effects shards : (tensor<4xf32>) -> ()
func.func @partitioned(%x: tensor<4xf32>) {
  stablehlo.custom_call @xla_ffi_partitioned_python_cpu_callback(%x) {has_side_effect = true, mhlo.backend_config = {index = 3 : ui64}} : (tensor<4xf32>) -> ()
  return
}

// -----

// lax.dce_sink says that a value is used, and gives none; so do those that ask how a value lies. They stay until that is known.
// CHECK-LABEL: func.func @sink(
// CHECK: stablehlo.custom_call @dce_sink(%{{.*}}) {has_side_effect = true} : (tensor<4xf32>) -> ()
// CHECK: stablehlo.custom_call @InspectSharding(%[[X:.*]]) {{.*}} : (tensor<4xf32>) -> ()
// CHECK: return %[[X]]
func.func @sink(%x: tensor<4xf32>) -> tensor<4xf32> {
  stablehlo.custom_call @dce_sink(%x) {has_side_effect = true} : (tensor<4xf32>) -> ()
  %0 = stablehlo.custom_call @InspectSharding(%x) {has_side_effect = true, backend_config = "7"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
