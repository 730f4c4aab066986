// RUN: shard-opt %s | FileCheck %s
// RUN: shard-opt %s | shard-opt | FileCheck %s
// RUN: shard-opt %s --emit-bytecode | shard-opt | FileCheck %s

// CHECK-LABEL: func @accuracies(
func.func @accuracies(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: stablehlo.cbrt {{.*}}mode = #stablehlo.result_accuracy_mode<DEFAULT>
  %0 = stablehlo.cbrt %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>} : tensor<4xf32>
  // CHECK: stablehlo.tan {{.*}}atol = 1.000000e-05, rtol = 2.500000e-01, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>
  %1 = stablehlo.tan %0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.25, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  // CHECK: stablehlo.tanh %{{.*}} {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
  %2 = "stablehlo.tanh"(%1) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: func @under_way(
// CHECK-SAME: !stablehlo.future<tensor<2xf32>, tensor<f32>>
func.func @under_way(%x: tensor<2xf32>, %f: !stablehlo.future<tensor<2xf32>, tensor<f32>>) -> tensor<4xf32> {
  // CHECK: %[[F:.*]] = "stablehlo.async_start"(%{{.*}}) ({
  // CHECK: }) : (tensor<2xf32>) -> !stablehlo.future<tensor<4xf32>>
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%y: tensor<2xf32>):
    %1 = "stablehlo.all_gather"(%y) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<4xf32>>
  // CHECK: "stablehlo.async_done"(%[[F]]) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  %2 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: func @broadcasts(
func.func @broadcasts(%x: tensor<2xi64>, %y: tensor<3xf32>, %root: tensor<2xi32>) {
  // CHECK: "stablehlo.collective_broadcast"(%{{.*}}, %{{.*}}, %{{.*}}) <{has_dynamic_root, replica_groups = dense<{{.*}}> : tensor<1x2xi64>}>
  %0:2 = "stablehlo.collective_broadcast"(%x, %y, %root) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}
      : (tensor<2xi64>, tensor<3xf32>, tensor<2xi32>) -> (tensor<2xi64>, tensor<3xf32>)
  // CHECK: replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "a", size = 2>, <name = "b", size = 4>], device_ids=dense<[7, 6, 5, 4, 3, 2, 1, 0]> : tensor<8xi64>>, axes = [#stablehlo.axis_ref<name = "a">, #stablehlo.axis_ref<name = "b", sub_axis_info = (1)2>]>
  %1 = "stablehlo.collective_broadcast"(%x) {replica_groups = #stablehlo.replica_group_mesh_axes<
      mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 2>, <name = "b", size = 4>], device_ids = dense<[7, 6, 5, 4, 3, 2, 1, 0]> : tensor<8xi64>>,
      axes = [#stablehlo.axis_ref<name = "a">, #stablehlo.axis_ref<name = "b", sub_axis_info = (1)2>]>} : (tensor<2xi64>) -> tensor<2xi64>
  return
}

// CHECK-LABEL: func @tuples(
func.func @tuples(%x: tensor<i32>) -> tensor<i32> {
  // CHECK: stablehlo.tuple %{{.*}}, %{{.*}} : tuple<tensor<i32>, tensor<i32>>
  %0 = "stablehlo.tuple"(%x, %x) : (tensor<i32>, tensor<i32>) -> tuple<tensor<i32>, tensor<i32>>
  // CHECK: stablehlo.tuple : tuple<>
  %1 = stablehlo.tuple : tuple<>
  // An older text.
  // CHECK: stablehlo.tuple %{{.*}} : tuple<tensor<i32>>
  %2 = stablehlo.tuple %x : (tensor<i32>) -> tuple<tensor<i32>>
  // CHECK: stablehlo.get_tuple_element %{{.*}}[0] : (tuple<tensor<i32>>) -> tensor<i32>
  %3 = stablehlo.get_tuple_element %2[0] : (tuple<tensor<i32>>) -> tensor<i32>
  return %3 : tensor<i32>
}

// CHECK-LABEL: func @channels(
func.func @channels(%x: tensor<2xi32>, %t: !stablehlo.token) -> tensor<2xi32> {
  // CHECK: "stablehlo.send"
  %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true} : (tensor<2xi32>, !stablehlo.token) -> !stablehlo.token
  // CHECK: "stablehlo.recv"
  %1:2 = "stablehlo.recv"(%0) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<2xi32>, !stablehlo.token)
  // CHECK: "stablehlo.infeed"
  %2:2 = "stablehlo.infeed"(%1#1) {infeed_config = "a", layout = [[0]]} : (!stablehlo.token) -> (tensor<2xi32>, !stablehlo.token)
  // CHECK: "stablehlo.outfeed"
  %3 = "stablehlo.outfeed"(%2#0, %2#1) : (tensor<2xi32>, !stablehlo.token) -> !stablehlo.token
  return %2#0 : tensor<2xi32>
}

// CHECK-LABEL: func @older_names(
func.func @older_names(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>, %i: tensor<2xi32>) -> tensor<2x2xf32> {
  // CHECK: stablehlo.einsum %{{.*}}, %{{.*}}, config = "ab,bc->ac" : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %0 = stablehlo.einsum %x, %y, config = "ab,bc->ac" : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  // CHECK: stablehlo.unary_einsum %{{.*}}, config = "ab->b" : (tensor<2x3xf32>) -> tensor<3xf32>
  %1 = stablehlo.unary_einsum %x, config = "ab->b" : (tensor<2x3xf32>) -> tensor<3xf32>
  // CHECK: "stablehlo.torch_index_select"
  %2 = "stablehlo.torch_index_select"(%x, %i) {dim = 1 : i64, batch_dims = 0 : i64} : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  // CHECK: "stablehlo.cross-replica-sum"
  %3 = "stablehlo.cross-replica-sum"(%2) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// Groups of replicas with a channel stand for all partitions of these as well.
// CHECK-LABEL: func @groups_of_replicas_and_partitions(
func.func @groups_of_replicas_and_partitions(%x: tensor<2x2xi64>) -> tensor<2x8xi64> {
  // CHECK: "stablehlo.all_gather"
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<2x2xi64>) -> tensor<2x8xi64>
  return %0 : tensor<2x8xi64>
}

// CHECK-LABEL: func @scan(
func.func @scan(%x: tensor<4xi32>, %c: tensor<i32>) -> tensor<4xi32> {
  // CHECK: chlo.scan(%{{.*}}) inits(%{{.*}}) dimension=0 attributes {is_reverse = true} {
  %0:2 = chlo.scan(%x) inits(%c) dimension=0 attributes {is_reverse = true} {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %1, %1 : tensor<i32>, tensor<i32>
  } : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
  return %0#0 : tensor<4xi32>
}

// What is carried may be of open shape in one place.
// CHECK-LABEL: func @scan_of_open_shape(
func.func @scan_of_open_shape(%x: tensor<2x3xi32>, %c: tensor<2xi32>) -> tensor<?xi32> {
  // CHECK: chlo.scan(%{{.*}}) inits(%{{.*}}) dimension=1
  // CHECK: (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<?xi32>)
  %0:2 = chlo.scan(%x) inits(%c) dimension=1 {
  ^bb0(%a: tensor<2xi32>, %b: tensor<2xi32>):
    %1 = stablehlo.add %a, %b : tensor<2xi32>
    stablehlo.return %1, %1 : tensor<2xi32>, tensor<2xi32>
  } : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<?xi32>)
  return %0#1 : tensor<?xi32>
}

// CHECK-LABEL: func @probes(
func.func @probes(%x: tensor<4xi32>) {
  // CHECK: interpreter.probe %{{.*}}, probe_id = "p" : tensor<4xi32>
  %0 = interpreter.probe %x, probe_id = "p" : tensor<4xi32>
  // CHECK: interpreter.print %{{.*}} : tensor<4xi32>
  %1 = interpreter.print %0 : tensor<4xi32>
  // CHECK: check.expect_almost_eq %{{.*}}, %{{.*}}, tolerance = 1.000000e-01 : tensor<4xi32>
  check.expect_almost_eq %0, %1, tolerance = 0.1 : tensor<4xi32>
  // CHECK: check.expect_serialized_eq %{{.*}}, probe_id = "p" : tensor<4xi32>
  check.expect_serialized_eq %1, probe_id = "p" : tensor<4xi32>
  // CHECK: check.expect_serialized_eq %{{.*}}, probe_id = "p", iter = 2 : tensor<4xi32>
  check.expect_serialized_eq %1, probe_id = "p", iter = 2 : tensor<4xi32>
  return
}
