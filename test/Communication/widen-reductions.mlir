// RUN: shard-opt %s --spmd-widen-reductions | FileCheck %s

spmd.mesh @mesh = <["x"=3]>

// CHECK-LABEL: func.func @all_reduce(
//  CHECK-SAME:   %[[X:.*]]: tensor<4x?xf8E5M2>
//       CHECK:   %[[WIDE:.*]] = stablehlo.convert %[[X]] : (tensor<4x?xf8E5M2>) -> tensor<4x?xf32>
//       CHECK:   %[[MOST:.*]] = local.all_reduce max %[[WIDE]] along ["x"] on @mesh : tensor<4x?xf32>
//       CHECK:   stablehlo.convert %[[MOST]] : (tensor<4x?xf32>) -> tensor<4x?xf8E5M2>
func.func @all_reduce(%x: tensor<4x?xf8E5M2>) -> tensor<4x?xf8E5M2> attributes {spmd.local_view} {
  %0 = local.all_reduce max %x along ["x"] on @mesh : tensor<4x?xf8E5M2>
  return %0 : tensor<4x?xf8E5M2>
}

// Sixteen bits are combined as they are.
// CHECK-LABEL: func.func @sixteen_bits(
//   CHECK-NOT:   convert
func.func @sixteen_bits(%x: tensor<4xbf16>) -> tensor<4xbf16> attributes {spmd.local_view} {
  %0 = local.all_reduce sum %x along ["x"] on @mesh : tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// CHECK-LABEL: func.func @reduce_scatter(
//       CHECK:   %[[SUM:.*]] = local.reduce_scatter sum %{{.*}} : tensor<6xf32> -> tensor<?xf32>
//       CHECK:   stablehlo.convert %[[SUM]] : (tensor<?xf32>) -> tensor<?xf8E4M3FN>
func.func @reduce_scatter(%x: tensor<6xf8E4M3FN>) -> tensor<?xf8E4M3FN> attributes {spmd.local_view} {
  %0 = local.reduce_scatter sum %x along ["x"] [<dim 0 along ["x"] : [0:6, 0:6, 0:6] -> [0:3, 3:6, 6:6]>] on @mesh : tensor<6xf8E4M3FN> -> tensor<?xf8E4M3FN>
  return %0 : tensor<?xf8E4M3FN>
}
