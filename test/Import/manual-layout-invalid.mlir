// RUN: not shard-opt %s --spmd-import=mesh=x=4 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: shard-opt %s --spmd-import=mesh=x=2 | FileCheck %s --check-prefix=SAME

// A manual region holds the sizes of its own mesh.
// MESH: error: unsupported: mesh option changes the sizes of axes, but a manual region at {{.*}} is written for ranks "x"=2; export the program for the other mesh
// SAME: spmd.manual
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%y: tensor<2xf32>) {
    sdy.return %y : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
