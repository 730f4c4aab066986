// RUN: shard-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(spmd-merge-halos))" | FileCheck %s
// RUN: shard-opt %s --split-input-file --pass-pipeline="builtin.module(spmd-set-machine{machine=generic,link.latency=1ms},func.func(spmd-merge-halos))" | FileCheck %s --check-prefix=SLOW
// RUN: shard-opt %s --split-input-file --pass-pipeline="builtin.module(spmd-set-machine{machine=generic,link.latency=1ns},func.func(spmd-merge-halos))" | FileCheck %s --check-prefix=FAST

// The five-point stencil: four neighbours, one exchange, four slices.
// CHECK-LABEL: func @stencil
// CHECK: %[[H:.*]] = local.halo_exchange %{{.*}} [<dim 0 along ["i"] : [0:8, 8:16] -> [-1:9, 7:17] wrap>, <dim 1 along ["j"] : [0:4, 4:8] -> [-1:5, 3:9] wrap>]
// Its corners stay where they are.
// CHECK-SAME: parts [#local.part<[-1:9, 7:17], [0:4, 4:8]>, #local.part<[0:8, 8:16], [-1:5, 3:9]>]
// CHECK-SAME: reason "north; south; east"
// CHECK-SAME: tensor<8x4xf32> -> tensor<10x6xf32>
// CHECK-DAG: tensor.extract_slice %[[H]][2, 1] [8, 4] [1, 1]
// CHECK-DAG: tensor.extract_slice %[[H]][0, 1] [8, 4] [1, 1]
// CHECK-DAG: tensor.extract_slice %[[H]][1, 2] [8, 4] [1, 1]
// CHECK-DAG: tensor.extract_slice %[[H]][1, 0] [8, 4] [1, 1]
// CHECK-NOT: halo_exchange
spmd.mesh @mesh = <["i"=2, "j"=2]>
func.func @stencil(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %n = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [1:9, 9:17] wrap>] reason "north" on @mesh : tensor<8x4xf32> -> tensor<8x4xf32>
  %s = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [-1:7, 7:15] wrap>] reason "south" on @mesh : tensor<8x4xf32> -> tensor<8x4xf32>
  %e = local.halo_exchange %x [<dim 1 along ["j"] : [0:4, 4:8] -> [1:5, 5:9] wrap>] reason "east" on @mesh : tensor<8x4xf32> -> tensor<8x4xf32>
  %w = local.halo_exchange %x [<dim 1 along ["j"] : [0:4, 4:8] -> [-1:3, 3:7] wrap>] on @mesh : tensor<8x4xf32> -> tensor<8x4xf32>
  return %n, %s, %e, %w : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// One shift takes the own block along, so that it may lie there already.
// Uneven blocks: where the slice begins differs by rank.
// CHECK-LABEL: func @shift
// CHECK: %[[FIRST:.*]] = local.lookup [1, 0] along ["i"] on @mesh
// CHECK: %[[H:.*]] = local.halo_exchange %{{.*}} [<dim 0 along ["i"] : [0:8, 8:32] -> [0:9, 8:32]>]
// CHECK: tensor.extract_slice %[[H]]
spmd.mesh @mesh = <["i"=2]>
func.func @shift(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:32] -> [1:9, 8:32]>] on @mesh : tensor<?xf32> -> tensor<?xf32>
  return %n : tensor<?xf32>
}

// -----

// What reads a far part, or wants other things outside, exchanges on its own.
// CHECK-LABEL: func @apart
// CHECK-COUNT-3: local.halo_exchange
spmd.mesh @mesh = <["i"=2]>
func.func @apart(%x: tensor<8xf32>, %zero: tensor<f32>) -> (tensor<10xf32>, tensor<10xf32>, tensor<8xf32>) {
  %a = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [-1:9, 7:17] wrap>] on @mesh : tensor<8xf32> -> tensor<10xf32>
  %b = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %zero : tensor<f32> on @mesh : tensor<8xf32> -> tensor<10xf32>
  %c = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [-24:-16, -16:-8]>] fill %zero : tensor<f32> on @mesh : tensor<8xf32> -> tensor<8xf32>
  return %a, %b, %c : tensor<10xf32>, tensor<10xf32>, tensor<8xf32>
}

// -----

// A corner that somebody reads arrives, and no other: the two edges beside it are
// read as well, so all three are one box.
// CHECK-LABEL: func @one_corner
// CHECK: local.halo_exchange %{{.*}} [<dim 0 along ["i"] : [0:8, 8:16] -> [0:9, 8:17] wrap>, <dim 1 along ["j"] : [0:4, 4:8] -> [0:5, 4:9] wrap>] on @mesh
spmd.mesh @mesh = <["i"=2, "j"=2]>
func.func @one_corner(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %n = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [1:9, 9:17] wrap>] on @mesh : tensor<8x4xf32> -> tensor<8x4xf32>
  %e = local.halo_exchange %x [<dim 1 along ["j"] : [0:4, 4:8] -> [1:5, 5:9] wrap>] on @mesh : tensor<8x4xf32> -> tensor<8x4xf32>
  %ne = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [1:9, 9:17] wrap>, <dim 1 along ["j"] : [0:4, 4:8] -> [1:5, 5:9] wrap>] on @mesh : tensor<8x4xf32> -> tensor<8x4xf32>
  return %n, %e, %ne : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// Two rows on one side and one column on the other.
// CHECK-LABEL: func @sides
// CHECK: local.halo_exchange %{{.*}} -> [-2:8, 6:16] wrap>, <dim 1 along ["j"] : [0:4, 4:8] -> [0:5, 4:9] wrap>] parts [#local.part<[-2:8, 6:16], [0:4, 4:8]>, #local.part<[0:8, 8:16], [0:5, 4:9]>]
spmd.mesh @mesh = <["i"=2, "j"=2]>
func.func @sides(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %s = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [-2:6, 6:14] wrap>] on @mesh : tensor<8x4xf32> -> tensor<8x4xf32>
  %e = local.halo_exchange %x [<dim 1 along ["j"] : [0:4, 4:8] -> [1:5, 5:9] wrap>] on @mesh : tensor<8x4xf32> -> tensor<8x4xf32>
  return %s, %e : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// Corners that lie outside the domain cost nothing: no parts.
// CHECK-LABEL: func @uncut_columns
// CHECK: -> [-1:4]>] fill
spmd.mesh @mesh = <["i"=2]>
func.func @uncut_columns(%x: tensor<8x4xf32>, %zero: tensor<f32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %s = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [-1:7, 7:15]>] fill %zero : tensor<f32> on @mesh : tensor<8x4xf32> -> tensor<8x4xf32>
  %w = local.halo_exchange %x [<dim 1 along [] : [0:4] -> [-1:3]>] fill %zero : tensor<f32> on @mesh : tensor<8x4xf32> -> tensor<8x4xf32>
  return %s, %w : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// What stands outside must be there where the first of them stands.
// CHECK-LABEL: func @late_fill
// CHECK: %[[A:.*]] = local.halo_exchange %{{.*}} -> [0:9, 8:16]>] on @mesh
// CHECK: %[[FILL:.*]] = stablehlo.negate
// CHECK: local.halo_exchange %{{.*}} fill %[[FILL]]
spmd.mesh @mesh = <["i"=2]>
func.func @late_fill(%x: tensor<8xf32>, %f: tensor<f32>) -> (tensor<?xf32>, tensor<9xf32>) {
  %a = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [0:9, 8:16]>] on @mesh : tensor<8xf32> -> tensor<?xf32>
  %fill = stablehlo.negate %f : tensor<f32>
  %b = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [-1:8, 7:16]>] fill %fill : tensor<f32> on @mesh : tensor<8xf32> -> tensor<9xf32>
  return %a, %b : tensor<?xf32>, tensor<9xf32>
}

// -----

// CHECK-LABEL: func @early_fill
// CHECK-COUNT-1: local.halo_exchange %{{.*}} -> [-1:9, 7:16]>] fill
// CHECK-NOT: local.halo_exchange
spmd.mesh @mesh = <["i"=2]>
func.func @early_fill(%x: tensor<8xf32>, %f: tensor<f32>) -> (tensor<?xf32>, tensor<9xf32>) {
  %a = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [0:9, 8:16]>] on @mesh : tensor<8xf32> -> tensor<?xf32>
  %b = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [-1:8, 7:16]>] fill %f : tensor<f32> on @mesh : tensor<8xf32> -> tensor<9xf32>
  return %a, %b : tensor<?xf32>, tensor<9xf32>
}

// -----

// Steps of a ring share nothing: each block is there while it is used. Margins that are in a block arrive with it: nothing more travels, and
// a synchronisation is saved. Small blocks travel together. What a synchronisation takes decides.
// SLOW-LABEL: func @ring_steps
// SLOW: local.halo_exchange %{{.*}} -> [4:12, 8:12, 0:0]>]
// SLOW-NOT: local.halo_exchange
// SLOW-LABEL: func @small_ring_steps
// FAST-LABEL: func @small_ring_steps
// FAST-COUNT-2: local.halo_exchange
// CHECK-LABEL: func @ring_steps
// CHECK: local.halo_exchange %{{.*}} -> [4:8, 8:12, 0:0]>]
// CHECK: local.halo_exchange %{{.*}} -> [8:12, 0:0, 0:0]>]
// CHECK-NOT: local.halo_exchange
// CHECK-LABEL: func @small_ring_steps
// CHECK-COUNT-1: local.halo_exchange %{{.*}} -> [4:12, 8:12, 0:0]>]
// CHECK-NOT: local.halo_exchange
spmd.mesh @mesh = <["i"=3]>
!x = tensor<4x4096xf32>
!y = tensor<?x4096xf32>
func.func @ring_steps(%x: !x) -> (!y, !y, !y, !y) {
  %a = local.halo_exchange %x [<dim 0 along ["i"] : [0:4, 4:8, 8:12] -> [4:8, 8:12, 0:0]>] on @mesh : !x -> !y
  %b = local.halo_exchange %x [<dim 0 along ["i"] : [0:4, 4:8, 8:12] -> [8:12, 0:0, 0:0]>] on @mesh : !x -> !y
  %c = local.halo_exchange %x [<dim 0 along ["i"] : [0:4, 4:8, 8:12] -> [4:5, 8:9, 0:0]>] on @mesh : !x -> !y
  %d = local.halo_exchange %x [<dim 0 along ["i"] : [0:4, 4:8, 8:12] -> [5:6, 9:10, 0:0]>] on @mesh : !x -> !y
  return %a, %b, %c, %d : !y, !y, !y, !y
}
func.func @small_ring_steps(%x: tensor<4xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %a = local.halo_exchange %x [<dim 0 along ["i"] : [0:4, 4:8, 8:12] -> [4:8, 8:12, 0:0]>] on @mesh : tensor<4xf32> -> tensor<?xf32>
  %b = local.halo_exchange %x [<dim 0 along ["i"] : [0:4, 4:8, 8:12] -> [8:12, 0:0, 0:0]>] on @mesh : tensor<4xf32> -> tensor<?xf32>
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}

// -----

// Sizes that are said when the program is bound: windows around the same shards
// have a hull that is one too, and where slices begin follows from both. It
// holds the own block.
// CHECK-LABEL: func @open
// CHECK-DAG: %[[NORTH:.*]] = local.lookup [2, 2] along ["i"] on @mesh by <offset (#spmd.formula<positions [1, 1] (#spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>)>, #spmd.formula<positions [-1, 1, 1] (
// CHECK-DAG: %[[SOUTH:.*]] = local.lookup [0, 0] along ["i"] on @mesh by <offset (#spmd.formula<positions [-1, 1] (
// CHECK: %[[H:.*]] = local.halo_exchange %{{.*}} [<dim 0 along ["i"] : [0:8, 8:16] -> [-1:9, 7:17] by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<positions [-1, 1, 1] (#spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>, #spmd.formula<same [0, 3]>)> wrap>]
// CHECK-SAME: tensor<?x4xf32> -> tensor<?x4xf32>
// CHECK-DAG: tensor.extract_slice %[[H]][%[[NORTH]], 0]
// CHECK-DAG: tensor.extract_slice %[[H]][%[[SOUTH]], 0]
// CHECK-NOT: halo_exchange
spmd.mesh @mesh = <["i"=2]>
func.func @open(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %n = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [1:9, 9:17] by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<positions [1, 1] (#spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>)> wrap>] reason "north" on @mesh : tensor<?x4xf32> -> tensor<?x4xf32>
  %s = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [-1:7, 7:15] by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<positions [-1, 1] (#spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>)> wrap>] reason "south" on @mesh : tensor<?x4xf32> -> tensor<?x4xf32>
  return %n, %s : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// Shards of another argument: what both need no formula shows.
// CHECK-LABEL: func @others
// CHECK-COUNT-2: local.halo_exchange
spmd.mesh @mesh = <["i"=2]>
func.func @others(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %n = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [1:9, 9:17] by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<positions [1, 1] (#spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>)> wrap>] reason "north" on @mesh : tensor<?x4xf32> -> tensor<?x4xf32>
  %s = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [0:8, 8:16] by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<shards [0] (#spmd.formula<given [1, 0, 16]>)>>] reason "as the other" on @mesh : tensor<?x4xf32> -> tensor<?x4xf32>
  return %n, %s : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// Windows of three, at each element and at every second: no single window is
// around both, but they lie beside the same shards.
// CHECK-LABEL: func @strides
// CHECK: local.halo_exchange {{.*}} [<dim 0 along ["i"] : [0:8, 8:16] -> [-1:9, 7:17] by {{.*}} -> #spmd.formula<hull
// CHECK-NOT: halo_exchange
spmd.mesh @mesh = <["i"=2]>
func.func @strides(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %all = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [-1:9, 7:17] by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<positions [-1, 1, 1] (#spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>, #spmd.formula<same [0, 3]>)> wrap>] reason "each" on @mesh : tensor<?x4xf32> -> tensor<?x4xf32>
  %half = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [-1:8, 7:16] by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<positions [-1, 2, 1] (#spmd.formula<shards [0] (#spmd.formula<affine [1, 0, 2, 8] (#spmd.formula<given [0, 0, 16]>)>)>, #spmd.formula<same [0, 3]>)> wrap>] reason "every second" on @mesh : tensor<?x4xf32> -> tensor<?x4xf32>
  return %all, %half : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// What lies half a dim further on is beside it for these sizes alone.
// CHECK-LABEL: func @far
// CHECK-COUNT-2: local.halo_exchange
spmd.mesh @mesh = <["i"=2]>
func.func @far(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %all = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [-1:9, 7:17] by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<positions [-1, 1, 1] (#spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>, #spmd.formula<same [0, 3]>)> wrap>] reason "each" on @mesh : tensor<?x4xf32> -> tensor<?x4xf32>
  %next = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [8:16, 0:8] by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<rotate [1, 0] (#spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>)> wrap>] reason "the next block" on @mesh : tensor<?x4xf32> -> tensor<?x4xf32>
  return %all, %next : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// A star: rows of shards that are bound later, and columns. Each part is along
// dim 0 what is owned or all that is needed, so that binding knows it.
// CHECK-LABEL: func @open_star
// CHECK: local.halo_exchange {{.*}} [<dim 0 along ["i"] : [0:8, 8:16] -> [-1:9, 7:17] by {{.*}} wrap>, <dim 1 along [] : [0:4] -> [-1:5] wrap>]
// CHECK-SAME: parts [#local.part<[-1:9, 7:17], [0:4]>, #local.part<[0:8, 8:16], [-1:5]>]
// CHECK-NOT: halo_exchange
spmd.mesh @mesh = <["i"=2]>
func.func @open_star(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x6xf32>) {
  %rows = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [-1:9, 7:17] by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<positions [-1, 1, 1] (#spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>, #spmd.formula<same [0, 3]>)> wrap>] reason "rows" on @mesh : tensor<?x4xf32> -> tensor<?x4xf32>
  %columns = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [0:8, 8:16] by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)> -> #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 16]>)>>, <dim 1 along [] : [0:4] -> [-1:5] wrap>] reason "columns" on @mesh : tensor<?x4xf32> -> tensor<?x6xf32>
  return %rows, %columns : tensor<?x4xf32>, tensor<?x6xf32>
}

// -----

// Steps of a ring under a causal mask, of shards that are bound later: what is between two of them is in the band as well.
// CHECK-LABEL: func @ring
// CHECK: local.halo_exchange {{.*}} [<dim 0 along ["i"] : [0:4, 4:8, 8:12] -> [8:8, 0:4, 0:8] by {{.*}} -> #spmd.formula<hull (#spmd.formula<kept
// CHECK-NOT: halo_exchange
// FAST-LABEL: func @ring
// FAST-COUNT-2: local.halo_exchange
#blocks = #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 12]>)>
#band = #spmd.formula<positions [-281474976710656, 1, 1] (#spmd.formula<shards [0] (#spmd.formula<given [1, 0, 12]>)>, #spmd.formula<same [0, 281474976710657]>)>
spmd.mesh @mesh = <["i"=3]>
func.func @ring(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %a = local.halo_exchange %x [<dim 0 along ["i"] : [0:4, 4:8, 8:12] -> [4:4, 8:8, 0:4] by #blocks -> #spmd.formula<kept (#spmd.formula<rotate [1, 0] (#blocks)>, #band)>>] reason "block 1" on @mesh : tensor<?x4xf32> -> tensor<?x4xf32>
  %b = local.halo_exchange %x [<dim 0 along ["i"] : [0:4, 4:8, 8:12] -> [8:8, 0:4, 4:8] by #blocks -> #spmd.formula<kept (#spmd.formula<rotate [2, 0] (#blocks)>, #band)>>] reason "block 2" on @mesh : tensor<?x4xf32> -> tensor<?x4xf32>
  return %a, %b : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// Whole blocks, which no band trims: others are between them in other bindings.
// CHECK-LABEL: func @whole_ring
// CHECK-COUNT-2: local.halo_exchange
#blocks = #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 12]>)>
spmd.mesh @mesh = <["i"=3]>
func.func @whole_ring(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %a = local.halo_exchange %x [<dim 0 along ["i"] : [0:4, 4:8, 8:12] -> [4:8, 8:12, 0:4] by #blocks -> #spmd.formula<rotate [1, 0] (#blocks)>>] reason "block 1" on @mesh : tensor<?x4xf32> -> tensor<?x4xf32>
  %b = local.halo_exchange %x [<dim 0 along ["i"] : [0:4, 4:8, 8:12] -> [8:12, 0:4, 4:8] by #blocks -> #spmd.formula<rotate [2, 0] (#blocks)>>] reason "block 2" on @mesh : tensor<?x4xf32> -> tensor<?x4xf32>
  return %a, %b : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// Of all blocks that are one behind the other, everybody takes the first; of the same blocks side by side, what is next to
// its own. No tensor has its blocks in both ways.
// CHECK-LABEL: func @behind_and_beside
// CHECK-COUNT-2: local.halo_exchange
// CHECK-NOT: local.halo_exchange
spmd.mesh @mesh = <["i"=2]>
func.func @behind_and_beside(%x: tensor<1x3xf32>) -> (tensor<?x3xf32>, tensor<1x?xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %first = local.halo_exchange %x [<dim 0 along ["i"] : [0:1, 1:2] -> [0:1, 0:2]>] reason "first" on @mesh : tensor<1x3xf32> -> tensor<?x3xf32>
  %beside = local.halo_exchange %x [<dim 1 along ["i"] : [0:3, 3:6] -> [0:3, 2:7]>] fill %zero : tensor<f32> reason "beside" on @mesh : tensor<1x3xf32> -> tensor<1x?xf32>
  return %first, %beside : tensor<?x3xf32>, tensor<1x?xf32>
}
