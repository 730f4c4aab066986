// RUN: shard-opt %s --spmd-bucket-reductions --split-input-file | FileCheck %s
// RUN: shard-opt %s --spmd-bucket-reductions=member-limit=16 --split-input-file | FileCheck %s --check-prefix=SMALL
// RUN: shard-opt %s --spmd-bucket-reductions --spmd-verify-communication --split-input-file

spmd.mesh @mesh = <["x"=2, "y"=2]>

// Two sums along x go together where the second one stands, and who reads the first one waits; the maximum and
// the sum along y go on their own.
// CHECK-LABEL: func @together(
//  CHECK-SAME:   %[[A:[^:]*]]: tensor<4xf32>, %[[B:[^:]*]]: tensor<2x3xf32>
//       CHECK:   %[[MAX:.*]] = local.all_reduce max %[[A]]
//       CHECK:   %[[Y:.*]] = local.all_reduce sum %[[A]] along ["y"]
//       CHECK:   %[[F:.*]] = stablehlo.reshape %[[B]]
//       CHECK:   %[[C:.*]] = stablehlo.concatenate %[[A]], %[[F]], dim = 0
//       CHECK:   %[[R:.*]] = local.all_reduce sum %[[C]] along ["x"] reason "a; b" on @mesh : tensor<10xf32>
//       CHECK:   %[[RA:.*]] = stablehlo.slice %[[R]] [0:4]
//       CHECK:   %[[SB:.*]] = stablehlo.slice %[[R]] [4:10]
//       CHECK:   %[[RB:.*]] = stablehlo.reshape %[[SB]]
//       CHECK:   %[[N:.*]] = stablehlo.negate %[[RA]]
//       CHECK:   return %[[N]], %[[RB]], %[[MAX]], %[[Y]]
// SMALL-LABEL: func @together(
//       SMALL:   local.all_reduce sum %{{.*}} : tensor<4xf32>
//       SMALL:   local.all_reduce sum %{{.*}} : tensor<2x3xf32>
func.func @together(%a: tensor<4xf32>, %b: tensor<2x3xf32>) -> (tensor<4xf32>, tensor<2x3xf32>, tensor<4xf32>, tensor<4xf32>)
    attributes {spmd.local_view} {
  %0 = local.all_reduce sum %a along ["x"] reason "a" on @mesh : tensor<4xf32>
  %1 = local.all_reduce max %a along ["x"] on @mesh : tensor<4xf32>
  %2 = local.all_reduce sum %a along ["y"] on @mesh : tensor<4xf32>
  %3 = stablehlo.negate %0 : tensor<4xf32>
  %4 = local.all_reduce sum %b along ["x"] reason "b" on @mesh : tensor<2x3xf32>
  return %3, %4, %1, %2 : tensor<4xf32>, tensor<2x3xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// A mean, then a variance: the second needs the first.
// CHECK-LABEL: func @one_needs_the_other(
//       CHECK:   %[[M:.*]] = local.all_reduce sum %{{.*}} : tensor<4xf32>
//       CHECK:   %[[D:.*]] = stablehlo.subtract %{{.*}}, %[[M]]
//       CHECK:   local.all_reduce sum %[[D]] {{.*}} : tensor<4xf32>
func.func @one_needs_the_other(%a: tensor<4xf32>) -> tensor<4xf32> attributes {spmd.local_view} {
  %0 = local.all_reduce sum %a along ["x"] on @mesh : tensor<4xf32>
  %1 = stablehlo.subtract %a, %0 : tensor<4xf32>
  %2 = local.all_reduce sum %1 along ["x"] on @mesh : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// Complex numbers are as good as others: two of 8 bytes are 16, three 24.
// CHECK-LABEL: func @complex(
//       CHECK:   %[[C:.*]] = stablehlo.concatenate
//       CHECK:   local.all_reduce sum %[[C]] along ["x"] on @mesh : tensor<7xcomplex<f32>>
//   CHECK-NOT:   local.all_reduce
// SMALL-LABEL: func @complex(
//       SMALL:   local.all_reduce sum %{{.*}} : tensor<3xcomplex<f32>>
//       SMALL:   local.all_reduce sum %{{.*}} : tensor<4xcomplex<f32>>
func.func @complex(%a: tensor<2xcomplex<f32>>, %b: tensor<3xcomplex<f32>>, %c: tensor<2xcomplex<f32>>)
    -> (tensor<2xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<2xcomplex<f32>>) attributes {spmd.local_view} {
  %0 = local.all_reduce sum %a along ["x"] on @mesh : tensor<2xcomplex<f32>>
  %1 = local.all_reduce sum %b along ["x"] on @mesh : tensor<3xcomplex<f32>>
  %2 = local.all_reduce sum %c along ["x"] on @mesh : tensor<2xcomplex<f32>>
  return %0, %1, %2 : tensor<2xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<2xcomplex<f32>>
}

// -----

spmd.mesh @mesh = <["x"=2, "y"=2]>

// Gradients of weights whose shards are bound later: as many elements as each of them has, by the numbers of the estimate
// 32, 8 and 3 of 4 bytes. What is not small there goes on its own, in any binding.
// CHECK-LABEL: func @open_sizes(
//  CHECK-SAME:   %[[W:[^:]*]]: tensor<4x?xf32>
//       CHECK:   %[[G:.*]] = stablehlo.dot_general {{.*}} -> tensor<4x?xf32>
//       CHECK:   %[[B:.*]] = stablehlo.reduce
//       CHECK:   %[[FLAT:.*]] = tensor.collapse_shape %[[G]] {{\[\[}}0, 1]] : tensor<4x?xf32> into tensor<?xf32>
//       CHECK:   %[[ROW:.*]] = stablehlo.concatenate %[[FLAT]], %[[B]], %{{.*}}, dim = 0 : (tensor<?xf32>, tensor<?xf32>, tensor<3xf32>) -> tensor<?xf32>
//       CHECK:   %[[R:.*]] = local.all_reduce sum %[[ROW]] along ["x"] reason "w; b; c" on @mesh : tensor<?xf32>
//       CHECK:   %[[COLUMNS:.*]] = tensor.dim %[[G]]
//       CHECK:   %[[SIZE:.*]] = arith.muli %[[COLUMNS]], %{{.*}}
//       CHECK:   %[[PART:.*]] = tensor.extract_slice %[[R]][0] [%[[SIZE]]] [1]
//       CHECK:   %[[RG:.*]] = tensor.expand_shape %[[PART]] {{\[\[}}0, 1]] output_shape [4, %{{.*}}]
//       CHECK:   %[[BIAS:.*]] = tensor.dim %[[B]]
//       CHECK:   %[[RB:.*]] = tensor.extract_slice %[[R]][%[[SIZE]]] [%[[BIAS]]] [1]
//       CHECK:   %[[END:.*]] = arith.addi %[[SIZE]], %[[BIAS]]
//       CHECK:   %[[RC:.*]] = tensor.extract_slice %[[R]][%[[END]]] [3] [1] : tensor<?xf32> to tensor<3xf32>
//       CHECK:   return %[[RG]], %[[RB]], %[[RC]]
// SMALL-LABEL: func @open_sizes(
//       SMALL:   local.all_reduce sum %{{.*}} : tensor<4x?xf32>
//       SMALL:   local.all_reduce sum %{{.*}} : tensor<?xf32>
//       SMALL:   local.all_reduce sum %{{.*}} : tensor<3xf32>
func.func @open_sizes(
    %w: tensor<4x?xf32> {spmd.global_type = tensor<4x16xf32>, spmd.sharding = #spmd.sharding<@mesh, [{}, {"y" sizes [8, 8] by #spmd.formula<given [0, 1, 16]>}]>},
    %c: tensor<3xf32>, %x: tensor<5x4xf32>)
    -> (tensor<4x?xf32>, tensor<?xf32>, tensor<3xf32>) attributes {spmd.local_view} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<5x4xf32>, tensor<4x?xf32>) -> tensor<5x?xf32>
  %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<5x4xf32>, tensor<5x?xf32>) -> tensor<4x?xf32>
  %b = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<5x?xf32>, tensor<f32>) -> tensor<?xf32>
  %0 = local.all_reduce sum %g along ["x"] reason "w" on @mesh : tensor<4x?xf32>
  %1 = local.all_reduce sum %b along ["x"] reason "b" on @mesh : tensor<?xf32>
  %2 = local.all_reduce sum %c along ["x"] reason "c" on @mesh : tensor<3xf32>
  return %0, %1, %2 : tensor<4x?xf32>, tensor<?xf32>, tensor<3xf32>
}
