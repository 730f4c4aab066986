// Decisions follow from the machine's figures: one figure changes, and with it what is
// cheaper. Rows of a small table: asking for them takes one more synchronisation of the
// ranks than gathering the table does.
// RUN: shard-opt %s --spmd-propagate --spmd-partition | FileCheck %s --check-prefix=GATHER
// RUN: shard-opt %s --spmd-set-machine=machine=generic,link.latency=10ns --spmd-propagate --spmd-partition | FileCheck %s --check-prefix=ASK
// RUN: shard-opt %s --spmd-set-machine=machine=generic,axes.x.latency=10ns --spmd-propagate --spmd-partition | FileCheck %s --check-prefix=ASK
// RUN: shard-opt %s --spmd-set-machine=machine=generic,axes.y.latency=10ns --spmd-propagate --spmd-partition | FileCheck %s --check-prefix=GATHER
// On a link as slow as this even the small table is too much to gather.
// RUN: shard-opt %s --spmd-set-machine=machine=generic,link.bandwidth=10MB/s --spmd-propagate --spmd-partition | FileCheck %s --check-prefix=ASK

// GATHER: local.all_gather
// GATHER-NOT: local.gather_rows
// ASK-NOT: local.all_gather
// ASK: local.gather_rows
spmd.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%table: tensor<400x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %indices: tensor<1200x1xi32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<1200x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = "stablehlo.gather"(%table, %indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<400x64xf32>, tensor<1200x1xi32>) -> tensor<1200x64xf32>
  return %0 : tensor<1200x64xf32>
}
