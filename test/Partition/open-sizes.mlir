// Sizes of arguments that are said when the program is bound: tables have formulas.
// RUN: shard-opt --split-input-file --spmd-import=dynamic=all --spmd-propagate --spmd-partition %s | FileCheck %s

// A window of three leaves boundaries as they are, so the sum needs nothing
// moved; its halo is of whatever sizes.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<1x1x?xf32> {{.*}}{"x" sizes [8, 8] by #spmd.formula<given [0, 2, 16]>}
// CHECK: %[[HALO:.*]] = local.halo_exchange %[[X]]
// CHECK-SAME: [0:8, 8:16] -> [-1:9, 7:17] by #spmd.formula<shards [0] (#spmd.formula<given [0, 2, 16]>)>
// CHECK-SAME: -> #spmd.formula<positions [-1, 1, 1] (#spmd.formula<shards [0] (#spmd.formula<given [0, 2, 16]>)>, #spmd.formula<same [0, 3]>)>
// CHECK-NEXT: %[[Y:.*]] = stablehlo.convolution(%[[HALO]]
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[Y]], %[[X]]
// CHECK-NEXT: return %[[SUM]] : tensor<1x1x?xf32>
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<1x1x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}, %w: tensor<1x1x3xf32>) -> tensor<1x1x16xf32> {
  %y = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x16xf32>, tensor<1x1x3xf32>) -> tensor<1x1x16xf32>
  %sum = stablehlo.add %y, %x : tensor<1x1x16xf32>
  return %sum : tensor<1x1x16xf32>
}

// -----

// Every second row: each rank has those of its block, whatever that is. What of
// it is taken follows from a parity that only a binding knows.
// CHECK-LABEL: func.func @main
// CHECK-NOT: local.halo_exchange
// CHECK: %[[FROM:.*]] = local.lookup {{.*}} by <offset (#spmd.formula<kept (
// CHECK: %[[ROWS:.*]] = local.lookup [4, 4] along ["x"] on @mesh by <size (#spmd.formula<shards [0] (#spmd.formula<affine [1, 0, 2, 8] (
// CHECK: tensor.extract_slice %arg0[%[[FROM]], 0]
// CHECK: %[[PART:.*]] = tensor.extract_slice {{.*}}[0, 0] [%[[ROWS]], 4] [2, 1]
// CHECK: return %[[PART]]
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  %y = stablehlo.slice %x [0:16:2, 0:4] : (tensor<16x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// Two arguments arrive in sizes of their own: one is moved to where the other
// is, though both are halves in the binding by which costs are estimated.
// CHECK-LABEL: func.func @main
// CHECK: local.halo_exchange {{.*}} [0:8, 8:16] -> [0:8, 8:16] by #spmd.formula<shards [0] (#spmd.formula<given
// CHECK: stablehlo.add
// CHECK: return
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %y: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<16xf32> {
  %sum = stablehlo.add %x, %y : tensor<16xf32>
  return %sum : tensor<16xf32>
}

// -----

// A convolution and the gradient of its kernel need the same rows of the image.
// A rank without rows sums nothing: the kernel is given no row of zeros, and
// neither is copied.
// CHECK-LABEL: func.func @main
// CHECK: %[[HALO:.*]] = local.halo_exchange %arg0 {{.*}} -> #spmd.formula<positions [-1, 1, 1] (#spmd.formula<shards [0] (#spmd.formula<given [0, 2, 16]>)>, #spmd.formula<same [0, 3]>)>
// CHECK-NOT: tensor.pad
// CHECK: stablehlo.convolution(%[[HALO]], %arg1)
// CHECK: stablehlo.convolution(%[[HALO]], %arg0)
// CHECK-SAME: tensor<1x1x?xf32>) -> tensor<1x1x3xf32>
// CHECK-NOT: tensor.pad
// CHECK: return
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<1x1x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}, %w: tensor<1x1x3xf32>) -> (tensor<1x1x16xf32>, tensor<1x1x3xf32>) {
  %y = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x16xf32>, tensor<1x1x3xf32>) -> tensor<1x1x16xf32>
  %dw = stablehlo.convolution(%x, %x) dim_numbers = [f, b, 0]x[i, o, 0]->[f, b, 0], window = {pad = [[1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x16xf32>, tensor<1x1x16xf32>) -> tensor<1x1x3xf32>
  return %y, %dw : tensor<1x1x16xf32>, tensor<1x1x3xf32>
}
