// Sizes of axes that are said when the program is bound: what is cut along them
// has as many shards as they say, and the program is the same for two ranks as
// for four, but for the numbers of one binding.
// RUN: shard-opt --split-input-file --spmd-import=mesh=x=? --spmd-propagate --spmd-partition %s | FileCheck %s
// RUN: shard-opt --split-input-file --spmd-import=mesh=x=4? --spmd-propagate --spmd-partition %s | FileCheck %s --check-prefix=FOUR

// CHECK: spmd.mesh @mesh = <["x"=2 symbolic]>
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<1x1x?xf32> {{.*}}{"x" sizes [8, 8] by #spmd.formula<given [0, 2, 16, -1]>}
// CHECK: %[[HALO:.*]] = local.halo_exchange %[[X]]
// CHECK-NEXT: %[[Y:.*]] = stablehlo.convolution(%[[HALO]]
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[Y]], %[[X]]
// CHECK-NEXT: return %[[SUM]] : tensor<1x1x?xf32>
// FOUR: spmd.mesh @mesh = <["x"=4 symbolic]>
// FOUR-LABEL: func.func @main
// FOUR-SAME: %[[X:.*]]: tensor<1x1x?xf32> {{.*}}{"x" sizes [4, 4, 4, 4] by #spmd.formula<given [0, 2, 16, -1]>}
// FOUR: %[[HALO:.*]] = local.halo_exchange %[[X]]
// FOUR-NEXT: %[[Y:.*]] = stablehlo.convolution(%[[HALO]]
// FOUR-NEXT: %[[SUM:.*]] = stablehlo.add %[[Y]], %[[X]]
// FOUR-NEXT: return %[[SUM]] : tensor<1x1x?xf32>
sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<1x1x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}, %w: tensor<1x1x3xf32>) -> tensor<1x1x16xf32> {
  %y = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x16xf32>, tensor<1x1x3xf32>) -> tensor<1x1x16xf32>
  %sum = stablehlo.add %y, %x : tensor<1x1x16xf32>
  return %sum : tensor<1x1x16xf32>
}

// -----

// A constraint that says no sizes cuts in as many balanced shards as there are
// ranks: in another binding not two. Where a shard begins is looked up by that.
// CHECK-LABEL: func.func @main
// CHECK-SAME: tensor<?xf32> {{.*}}[{"x"}]
// CHECK: local.lookup [0, 6] along ["x"] {{.*}}by <begin{{.*}}<shards [0]{{.*}}<balanced [12, -1]>
// CHECK: return {{.*}} : tensor<?xf32>
// FOUR-LABEL: func.func @main
// FOUR-SAME: tensor<?xf32> {{.*}}[{"x"}]
// FOUR: local.lookup [0, 3, 6, 9] along ["x"] {{.*}}by <begin{{.*}}<shards [0]{{.*}}<balanced [12, -1]>
// FOUR: return {{.*}} : tensor<?xf32>
sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<12xf32>) -> tensor<12xf32> {
  %i = stablehlo.iota dim = 0 : tensor<12xf32>
  %z = stablehlo.add %x, %i : tensor<12xf32>
  %y = sdy.sharding_constraint %z <@mesh, [{"x"}]> : tensor<12xf32>
  return %y : tensor<12xf32>
}

// -----

// A sum over the ranks names the axis; how many these are stands nowhere.
// CHECK-LABEL: func.func @main
// CHECK: local.all_reduce sum {{.*}} along ["x"]
// CHECK: return {{.*}} : tensor<f32>
// FOUR-LABEL: func.func @main
// FOUR: local.all_reduce sum {{.*}} along ["x"]
// FOUR: return {{.*}} : tensor<f32>
sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
  return %sum : tensor<f32>
}
