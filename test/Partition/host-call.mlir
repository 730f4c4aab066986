// RUN: shard-opt %s --spmd-propagate --spmd-partition | FileCheck %s
// What is cut goes to the rank that calls, the first; what comes back goes from there to whom it belongs.
spmd.mesh @mesh = <["x"=3, "y"=2]>

// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[X:.*]]: tensor<?x3xf32>
//       CHECK:   %[[W:.*]] = local.rebalance %[[X]] [<dim 0 along ["x", "y"] : [0:3, 0:3, 3:5, 3:5, 5:7, 5:7] -> [0:7, 0:0, 0:0, 0:0, 0:0, 0:0]>]
//  CHECK-SAME:     reason "'spmd.host_call' takes its operand to the rank that calls"
//       CHECK:   %[[C:.*]]:2 = local.call_host 4(%[[W]]) effects as [tensor<7x3xf32>, tensor<7x3xf32>, tensor<f32>] along ["x", "y"]
//  CHECK-SAME:     (tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?xf32>)
//       CHECK:   %[[R:.*]] = local.rebalance %[[C]]#0 [<dim 0 along ["x", "y"] : [0:7, 0:0, 0:0, 0:0, 0:0, 0:0] -> [0:3, 0:3, 3:5, 3:5, 5:7, 5:7]>]
//       CHECK:   %[[S:.*]] = local.all_gather %[[C]]#1 [<dim 0 along ["x", "y"] : [0:1, 0:0, 0:0, 0:0, 0:0, 0:0] -> [0:1, 0:1, 0:1, 0:1, 0:1, 0:1]>]
//       CHECK:   %[[V:.*]] = stablehlo.reshape %[[S]] : (tensor<1xf32>) -> tensor<f32>
// Shards as they are.
//       CHECK:   local.call_host 5(%[[R]]) effects shards as [tensor<7x3xf32>] along [] on @mesh : (tensor<?x3xf32>) -> ()
//       CHECK:   return %[[R]], %[[V]]
func.func @main(%x: tensor<7x3xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<7x3xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}, tensor<f32>) {
  %0:2 = spmd.host_call 4(%x) effects : (tensor<7x3xf32>) -> (tensor<7x3xf32>, tensor<f32>)
  spmd.host_call 5(%0#0) effects shards : (tensor<7x3xf32>) -> ()
  return %0#0, %0#1 : tensor<7x3xf32>, tensor<f32>
}
