// RUN: split-file %s %t
// RUN: shard-translate %t/even.mlir --emit=local -o - | FileCheck %s --check-prefix=EVEN
// RUN: shard-translate %t/moves.mlir --emit=local -o - | FileCheck %s --check-prefix=MOVES
// RUN: shard-translate %t/uneven.mlir --emit=local -o - | FileCheck %s --check-prefix=UNEVEN
// RUN: shard-translate %t/conjugate.mlir --emit=local -o - | FileCheck %s --check-prefix=CONJ
// RUN: shard-translate %t/loop.mlir --emit=local -o - | FileCheck %s --check-prefix=LOOP

//--- even.mlir
// What StableHLO has an op for is that op, with one group for each coordinate of
// the other axes.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(
    %x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %w: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// EVEN:       mhlo.num_partitions = 4 : i32
// EVEN:       func.func @main(%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x4xf32>) -> tensor<4x4xf32>
// EVEN-NEXT:    %[[PARTIAL:.*]] = stablehlo.dot_general %[[X]], %[[W]]
// EVEN-NEXT:    %[[SUM:.*]] = "stablehlo.all_reduce"(%[[PARTIAL]]) {{.*}}replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids
// EVEN:           stablehlo.add
// EVEN:         return %[[SUM]]

//--- moves.mlir
// A value that is cut otherwise, one that is made whole, and one that a program
// sends on by itself.
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%x: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                       %y: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
        tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
        tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %sent = sdy.manual_computation(%y) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%block: tensor<2x6xf32>) {
    %0 = "stablehlo.collective_permute"(%block) {source_target_pairs = dense<[[1, 0]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<2x6xf32>) -> tensor<2x6xf32>
    sdy.return %0 : tensor<2x6xf32>
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %x, %y, %sent : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>
}
// MOVES:     func.func @main(%[[X:.*]]: tensor<2x6xf32>, %[[Y:.*]]: tensor<2x6xf32>) -> (tensor<4x3xf32>, tensor<4x6xf32>, tensor<2x6xf32>)
// MOVES-DAG:   "stablehlo.all_to_all"(%[[X]]) {{.*}}concat_dimension = 0 : i64{{.*}}split_count = 2 : i64, split_dimension = 1 : i64
// MOVES-DAG:   "stablehlo.all_gather"(%[[Y]]) {{.*}}all_gather_dim = 0 : i64
// MOVES-DAG:   "stablehlo.collective_permute"(%[[Y]]) {{.*}}dense<{{\[\[}}1, 0]]> : tensor<1x2xi64>

//--- uneven.mlir
// Shapes are those of the largest block, and tables say what each rank has.
sdy.mesh @mesh = <["x"=3]>
func.func public @main(%x: tensor<7x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.slice %x [0:6, 0:4] : (tensor<7x4xf32>) -> tensor<6x4xf32>
  %1 = stablehlo.slice %x [1:7, 0:4] : (tensor<7x4xf32>) -> tensor<6x4xf32>
  %2 = stablehlo.subtract %1, %0 : tensor<6x4xf32>
  return %2 : tensor<6x4xf32>
}
// UNEVEN:       func.func @main(%[[X:.*]]: tensor<3x4xf32>) -> tensor<2x4xf32>
// UNEVEN:         stablehlo.custom_call @shardc.{{.*}}(%[[X]]) {backend_config = "{{.*}}[0:3, 3:5, 5:7]{{.*}}"}
// UNEVEN:         %[[RESULT:.*]] = stablehlo.{{.*}}subtract
// UNEVEN:         return %[[RESULT]] : tensor<2x4xf32>

//--- conjugate.mlir
// XLA's reader knows no op of CHLO for it.
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%x: tensor<4x6xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                       %y: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4x6xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = chlo.conj %x : tensor<4x6xcomplex<f32>> -> tensor<4x6xcomplex<f32>>
  %1 = chlo.conj %y : tensor<4x6xf32> -> tensor<4x6xf32>
  return %0, %1 : tensor<4x6xcomplex<f32>>, tensor<4x6xf32>
}
// CONJ:      func.func @main(%[[X:.*]]: tensor<2x6xcomplex<f32>>, %[[Y:.*]]: tensor<2x6xf32>)
// CONJ-NOT:    chlo
// CONJ-DAG:    %[[REAL:.*]] = stablehlo.real %[[X]]
// CONJ-DAG:    %[[IMAG:.*]] = stablehlo.imag %[[X]]
// CONJ:        %[[NEGATED:.*]] = stablehlo.negate %[[IMAG]]
// CONJ:        %[[COMPLEX:.*]] = stablehlo.complex %[[REAL]], %[[NEGATED]]
// CONJ:        return %[[COMPLEX]], %[[Y]]

//--- loop.mlir
// Bodies of loops are written op by op too; long constants are not.
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%x: tensor<128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%k = %i, %s = %zero) : tensor<i32>, tensor<f32>
    cond {
      %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %sum = stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [0] : (tensor<128xf32>, tensor<f32>) -> tensor<f32>
      %next = stablehlo.add %k, %one : tensor<i32>
      stablehlo.return %next, %sum : tensor<i32>, tensor<f32>
    }
  return %r#1 : tensor<f32>
}
// LOOP:     func.func @main(%{{.*}}: tensor<64xf32>) -> tensor<f32>
// LOOP:       stablehlo.while
// LOOP:         stablehlo.compare
// LOOP:         stablehlo.reduce
// LOOP:         "stablehlo.all_reduce"
