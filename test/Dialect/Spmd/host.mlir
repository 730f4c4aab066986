// RUN: shard-opt %s | shard-opt | FileCheck %s
// RUN: shard-opt %s --canonicalize --cse | FileCheck %s --check-prefix=KEPT
spmd.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @global
func.func @global(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  // CHECK: spmd.host_call 0(%{{.*}}) effects ordered : (tensor<8x4xf32>) -> tensor<8xf32>
  %0 = spmd.host_call 0(%x) effects ordered : (tensor<8x4xf32>) -> tensor<8xf32>
  // CHECK: spmd.host_call 1() effects : () -> ()
  spmd.host_call 1() effects : () -> ()
  // CHECK: spmd.host_call 2(%{{.*}}) effects shards : (tensor<8x4xf32>) -> ()
  spmd.host_call 2(%x) effects shards : (tensor<8x4xf32>) -> ()
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @local
func.func @local(%w: tensor<?x4xf32>, %e: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  // CHECK: local.call_host 0(%{{.*}}) as [tensor<8x4xf32>, tensor<8xf32>] along ["x"] on @mesh : (tensor<?x4xf32>) -> tensor<?xf32>
  %0 = local.call_host 0(%w) as [tensor<8x4xf32>, tensor<8xf32>] along ["x"] on @mesh : (tensor<?x4xf32>) -> tensor<?xf32>
  // CHECK: kernel.run_host 0 ins(%{{.*}} : tensor<?x4xf32>) outs(%{{.*}} : tensor<?xf32>) effects as [tensor<8x4xf32>, tensor<8xf32>] along ["x"] on @mesh -> tensor<?xf32>
  %1 = kernel.run_host 0 ins(%w : tensor<?x4xf32>) outs(%e : tensor<?xf32>) effects as [tensor<8x4xf32>, tensor<8xf32>] along ["x"] on @mesh -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// A call without effects whose results nobody reads goes; others stay as often as they are there.
// KEPT-LABEL: func.func @calls
//       KEPT:   spmd.host_call 1
//  KEPT-NEXT:   spmd.host_call 1
//  KEPT-NEXT:   return
func.func @calls(%x: tensor<4xf32>) {
  %0 = spmd.host_call 0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = spmd.host_call 1(%x) effects : (tensor<4xf32>) -> tensor<4xf32>
  %2 = spmd.host_call 1(%x) effects : (tensor<4xf32>) -> tensor<4xf32>
  return
}
