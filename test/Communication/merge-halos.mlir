// RUN: shard-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(spmd-merge-halos))" | FileCheck %s

// The five-point stencil: four neighbours, one exchange, four slices.
// CHECK-LABEL: func @stencil
// CHECK: %[[H:.*]] = spmd.halo_exchange %{{.*}} [<dim 0 along ["i"] : [0:8, 8:16] -> [-1:9, 7:17] wrap>, <dim 1 along ["j"] : [0:4, 4:8] -> [-1:5, 3:9] wrap>]
// CHECK-SAME: reason "north; south; east"
// CHECK-SAME: tensor<8x4xf32> -> tensor<10x6xf32>
// CHECK-DAG: tensor.extract_slice %[[H]][2, 1] [8, 4] [1, 1]
// CHECK-DAG: tensor.extract_slice %[[H]][0, 1] [8, 4] [1, 1]
// CHECK-DAG: tensor.extract_slice %[[H]][1, 2] [8, 4] [1, 1]
// CHECK-DAG: tensor.extract_slice %[[H]][1, 0] [8, 4] [1, 1]
// CHECK-NOT: halo_exchange
spmd.mesh @mesh = <["i"=2, "j"=2]>
func.func @stencil(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %n = spmd.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [1:9, 9:17] wrap>] reason "north" on @mesh : tensor<8x4xf32> -> tensor<8x4xf32>
  %s = spmd.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [-1:7, 7:15] wrap>] reason "south" on @mesh : tensor<8x4xf32> -> tensor<8x4xf32>
  %e = spmd.halo_exchange %x [<dim 1 along ["j"] : [0:4, 4:8] -> [1:5, 5:9] wrap>] reason "east" on @mesh : tensor<8x4xf32> -> tensor<8x4xf32>
  %w = spmd.halo_exchange %x [<dim 1 along ["j"] : [0:4, 4:8] -> [-1:3, 3:7] wrap>] on @mesh : tensor<8x4xf32> -> tensor<8x4xf32>
  return %n, %s, %e, %w : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// One shift takes the own block along, so that it may lie there already.
// Uneven blocks: where the slice begins differs by rank.
// CHECK-LABEL: func @shift
// CHECK: %[[FIRST:.*]] = spmd.lookup [1, 0] along ["i"] on @mesh
// CHECK: %[[H:.*]] = spmd.halo_exchange %{{.*}} [<dim 0 along ["i"] : [0:8, 8:32] -> [0:9, 8:32]>]
// CHECK: tensor.extract_slice %[[H]]
spmd.mesh @mesh = <["i"=2]>
func.func @shift(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = spmd.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:32] -> [1:9, 8:32]>] on @mesh : tensor<?xf32> -> tensor<?xf32>
  return %n : tensor<?xf32>
}

// -----

// What reads a far part, or wants other things outside, exchanges on its own.
// CHECK-LABEL: func @apart
// CHECK-COUNT-3: spmd.halo_exchange
spmd.mesh @mesh = <["i"=2]>
func.func @apart(%x: tensor<8xf32>, %zero: tensor<f32>) -> (tensor<10xf32>, tensor<10xf32>, tensor<8xf32>) {
  %a = spmd.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [-1:9, 7:17] wrap>] on @mesh : tensor<8xf32> -> tensor<10xf32>
  %b = spmd.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %zero : tensor<f32> on @mesh : tensor<8xf32> -> tensor<10xf32>
  %c = spmd.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [-24:-16, -16:-8]>] fill %zero : tensor<f32> on @mesh : tensor<8xf32> -> tensor<8xf32>
  return %a, %b, %c : tensor<10xf32>, tensor<10xf32>, tensor<8xf32>
}
