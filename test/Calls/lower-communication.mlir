// RUN: shard-opt %s --spmd-lower-communication | FileCheck %s

spmd.mesh @mesh = <["x"=2]>

// A site has a number and a destination; arguments and results without attributes have none in the module's list either.
// CHECK: module attributes {kernel.entry_inputs = [{}], kernel.entry_outputs = [{}]
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[A:.*]]: tensor<4xf32>)
//       CHECK:   %[[OUT:.*]] = bufferization.alloc_tensor() : tensor<4xf32>
//       CHECK:   %[[SUM:.*]] = kernel.run_site 0 ins(%[[A]] : tensor<4xf32>) outs(%[[OUT]] : tensor<4xf32>)
//       CHECK:   return %[[SUM]]
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> attributes {spmd.local_view} {
  %0 = local.all_reduce sum %a along ["x"] on @mesh : tensor<4xf32>
  return %0 : tensor<4xf32>
}
