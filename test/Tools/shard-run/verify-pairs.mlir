// Attention whose keys travel round a ring and rows that are scattered to their owners, beside the text of the program:
// all of it is known to the interpreter, and a block that comes from the wrong rank is refused.
// RUN: shard-run %s --verify-partition --check=interpreter 2>&1 | FileCheck %s --implicit-check-not="not verified"
// CHECK: output 2: f32 [6, 4] as interpreter: bitwise equal
// RUN: shard-opt %s --spmd-import --spmd-raise --spmd-propagate --spmd-partition --spmd-communicate -o %t.mlir
// RUN: FileCheck %s --check-prefix=LOCAL < %t.mlir
// LOCAL-DAG: pairs.pair_step softmax
// LOCAL-DAG: local.scatter_rows
// RUN: sed 's/"rebalance" \[<dim 0 along \["x"\] : \[0:4, 4:8\] -> \[4:8, 0:4\]>\]/"rebalance" [<dim 0 along ["x"] : [0:4, 4:8] -> [0:4, 4:8]>]/' %t.mlir > %t.wrong.mlir
// RUN: not cmp %t.mlir %t.wrong.mlir
// RUN: not shard-opt %t.wrong.mlir --spmd-verify-partition=global=%s -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: gives result 0 other elements than the program
sdy.mesh @mesh = <["x"=2]>
func.func @main(%q: tensor<1x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>},
                %k: tensor<1x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>},
                %v: tensor<1x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>},
                %table: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %rows: tensor<8x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %updates: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<1x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<1x8x4xf32>, tensor<1x8x4xf32>) -> tensor<1x8x8xf32>
  %m = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<1x8x8xf32>, tensor<f32>) -> tensor<1x8xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<1x8x8xf32>
  %c = stablehlo.subtract %s, %mb : tensor<1x8x8xf32>
  %e = stablehlo.exponential %c : tensor<1x8x8xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<1x8x8xf32>, tensor<f32>) -> tensor<1x8xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<1x8x8xf32>
  %p = stablehlo.divide %e, %lb : tensor<1x8x8xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x8x8xf32>, tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  %sum = "stablehlo.scatter"(%table, %rows, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %t = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<6x4xf32>, tensor<8x1xi32>, tensor<8x4xf32>) -> tensor<6x4xf32>
  %last = "stablehlo.scatter"(%table, %rows, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<6x4xf32>, tensor<8x1xi32>, tensor<8x4xf32>) -> tensor<6x4xf32>
  return %o, %sum, %last : tensor<1x8x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
}
