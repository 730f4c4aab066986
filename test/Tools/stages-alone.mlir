// A stage that is given what the one before does not make says what is missing, once.
// RUN: not shard-opt %s --spmd-verify-imported 2>&1 | FileCheck %s --check-prefix=IMPORT
// RUN: not shard-opt %s --spmd-propagate 2>&1 | FileCheck %s --check-prefix=PROPAGATE
// RUN: sed 's/^sdy.mesh/spmd.mesh/; s/sdy.sharding = #sdy/spmd.sharding = #spmd/' %s > %t.mlir
// RUN: not shard-opt %t.mlir --spmd-verify-propagated 2>&1 | FileCheck %s --check-prefix=PROPAGATED
// RUN: not shard-opt %t.mlir --spmd-partition 2>&1 | FileCheck %s --check-prefix=PARTITION
// RUN: not shard-opt %t.mlir --spmd-communicate 2>&1 | FileCheck %s --check-prefix=VIEW
// RUN: not shard-opt %t.mlir --spmd-verify-local 2>&1 | FileCheck %s --check-prefix=LOCAL
// RUN: not shard-opt %t.mlir --spmd-fit-memory=limit=10 2>&1 | FileCheck %s --check-prefix=VIEW
// RUN: not shard-opt %t.mlir --spmd-lower-communication 2>&1 | FileCheck %s --check-prefix=VIEW
// RUN: not shard-opt %t.mlir --spmd-lower-cpu 2>&1 | FileCheck %s --check-prefix=VIEW
// RUN: not shard-opt %t.mlir --spmd-lower-cuda 2>&1 | FileCheck %s --check-prefix=VIEW
// RUN: not shard-opt %t.mlir --spmd-call-runtime 2>&1 | FileCheck %s --check-prefix=SITES
// RUN: not shard-opt %t.mlir --spmd-verify-buffers 2>&1 | FileCheck %s --check-prefix=BUFFERS
// RUN: not shard-opt %t.mlir --spmd-call-device 2>&1 | FileCheck %s --check-prefix=STEP
// RUN: not shard-opt %t.mlir --spmd-verify-lowered 2>&1 | FileCheck %s --check-prefix=LOWERED

// IMPORT: error: has 0 meshes after import, expected one
// IMPORT-NOT: error:
// PROPAGATE: error: module has no spmd.mesh; run --spmd-import
// PROPAGATE-NOT: error:
// PROPAGATED: error: {{.*}}sharding
// PROPAGATED-NOT: error:
// PARTITION: error: result 0 has no sharding; run --spmd-propagate first
// PARTITION-NOT: error:
// VIEW: error: function is in the global view: it lacks 'spmd.local_view', and argument 0 has a sharding; run --spmd-partition first
// VIEW-NOT: error:
// LOCAL: error: {{.*}}lacks 'spmd.local_view': it is not in the local view; run --spmd-partition first
// LOCAL-NOT: error:
// BUFFERS: error: {{.*}}has argument 0 of type 'tensor<8x4xf32>', expected a buffer
// BUFFERS-NOT: error:
// LOWERED: error: {{.*}}is left after lowering, expected 'llvm.func'
// LOWERED-NOT: error:
// SITES: error: has no @main with numbered sites; run --spmd-lower-communication first
// SITES-NOT: error:
// STEP: error: has no @shardc_step; run --spmd-call-runtime first
// STEP-NOT: error:
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.tanh %x : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
