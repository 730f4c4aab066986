// Extents that are said when the program is bound: dims of a placeholder's size are `?`, cut or whole, and what follows from it has a formula.
// RUN: shard-opt --split-input-file --spmd-import=dynamic=all --spmd-propagate --spmd-partition %s | FileCheck %s
// RUN: not shard-opt --spmd-import=dynamic=all --spmd-propagate --spmd-partition %S/Inputs/open-extents-invalid.mlir 2>&1 | FileCheck %s --check-prefix=LEFT

// LEFT: open-extents-invalid.mlir:13:{{.*}}: error: unsupported: 'stablehlo.reduce_window' at {{.*}}: its local form asks for extents that are known when the program is compiled; give shapes of the arguments (--shapes)

// The rows are cut, and as many as the sizes that are given add up to; the columns are whole, and as many as the binding says.
// CHECK: spmd.mesh @mesh = <["x"=2], #spmd.extents<[dim [0, 0] = [[N:[0-9]+]], dim [0, 1] = [[M:[0-9]+]]
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32> {{.*}}{"x" sizes [{{.*}}] by #spmd.formula<given [0, 0, [[N]]]>}, {}
// CHECK-NOT: local.halo_exchange
// CHECK: %[[ROWS:.*]] = stablehlo.reduce(%[[X]]
// CHECK-SAME: dimensions = [0] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
// CHECK: local.all_reduce sum %[[ROWS]]
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<?x?xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<?xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// A size that a value is made of is asked for when the program runs.
// CHECK: dim [0, 0] = [[N:[0-9]+]]
// CHECK-LABEL: func.func @main
// CHECK: %[[COUNT:.*]] = local.lookup [[[N]]] along [] on @mesh by <size (#spmd.formula<shards (#spmd.formula<whole [[[N]]]>)>)>
// CHECK: arith.index_cast %[[COUNT]]
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<?xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<i32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  return %n : tensor<i32>
}

// -----

// Where padding below depends on a remainder, the slice that begins by so much later reads its block and one row more.
// CHECK-LABEL: func.func @main
// CHECK-NOT: local.{{all_gather|row_plan}}
// CHECK: local.halo_exchange {{.*}} reason "operand 0 of 'stablehlo.dynamic_slice' reads past its block of dim 1"
// CHECK: local.halo_exchange {{.*}} reason "operand 0 of 'stablehlo.convolution' reads past its block of dim 1"
// CHECK-NOT: local.{{all_gather|row_plan|halo_exchange}}
// CHECK: return
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<2x?x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %w: tensor<3x3x4xf32>) -> tensor<2x?x4xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x?x3xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %odd = stablehlo.remainder %n, %two : tensor<i32>
  %low = stablehlo.reshape %odd : (tensor<i32>) -> tensor<1x1xi32>
  %high = stablehlo.constant dense<1> : tensor<1x1xi32>
  %padding = stablehlo.concatenate %low, %high, dim = 1 : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x2xi32>
  %0 = "stablehlo.dynamic_conv"(%x, %w, %padding) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, window_strides = array<i64: 2>}> : (tensor<2x?x3xf32>, tensor<3x3x4xf32>, tensor<1x2xi32>) -> tensor<2x?x4xf32>
  return %0 : tensor<2x?x4xf32>
}
