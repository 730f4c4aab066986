// RUN: shard-opt %s --spmd-set-machine="machine=generic,link.latency=1ns" --spmd-propagate --spmd-partition --spmd-communicate --explain -o /dev/null 2>&1 | FileCheck %s
// What a gather of a whole operand says of the rule that asked, and rows of which no table says how many travel.

// CHECK:      model.py:5: all_gather along "x", 6144 bytes
// CHECK-NEXT:   needed: operand 1 of 'stablehlo.dot_general' is cut along "x" in dim 0, {{.*}} at model.py:5
// CHECK-NEXT:   value: argument 1 "weights"
// CHECK-NEXT:   rule: ([b, a], [a, c]) -> ([b, c])
// CHECK-NEXT:   avoid: leave "x" out of argument {{.*}}
// CHECK:      model.py:6: gather_rows along "x", as many bytes as its indices say (shard-run --report=json counts them)
// CHECK-NEXT:   needed: 'stablehlo.gather' takes rows by index along dim 0, which is cut at model.py:6
// CHECK-NEXT:   value: argument 2
// CHECK:      those outside loops move 6144 bytes and what indices say
spmd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<64x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>} loc("model.py":1:0),
                %w: tensor<32x16xf32> {spmd.name = "weights", spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>} loc("model.py":2:0),
                %table: tensor<4000x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>} loc("model.py":3:0),
                %rows: tensor<400x1xi32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>} loc("model.py":4:0))
    -> (tensor<64x16xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}, tensor<400x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32> loc("model.py":5:0)
  %1 = "stablehlo.gather"(%table, %rows) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<4000x64xf32>, tensor<400x1xi32>) -> tensor<400x64xf32> loc("model.py":6:0)
  return %0, %1 : tensor<64x16xf32>, tensor<400x64xf32> loc("model.py":7:0)
}
