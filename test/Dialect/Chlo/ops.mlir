// RUN: shard-opt %s | shard-opt | FileCheck %s
// RUN: shard-opt %s --mlir-print-op-generic | shard-opt | FileCheck %s

// CHECK-LABEL: func @functions(
func.func @functions(%a: tensor<?x4xf32>, %b: tensor<3x4xf32>) {
  // CHECK: chlo.acos %{{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
  %0 = chlo.acos %a : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: chlo.acosh %{{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
  %1 = chlo.acosh %a : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: chlo.asin %{{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
  %2 = chlo.asin %a : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: chlo.asinh %{{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
  %3 = chlo.asinh %a : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: chlo.atan %{{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
  %4 = chlo.atan %a : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: chlo.atanh %{{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
  %5 = chlo.atanh %a : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: chlo.bessel_i1e %{{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
  %6 = chlo.bessel_i1e %a : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: chlo.conj %{{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
  %7 = chlo.conj %a : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: chlo.cosh %{{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
  %8 = chlo.cosh %a : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: chlo.digamma %{{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
  %9 = chlo.digamma %a : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: chlo.erf %{{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
  %10 = chlo.erf %a : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: chlo.erf_inv %{{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
  %11 = chlo.erf_inv %a : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: chlo.erfc %{{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
  %12 = chlo.erfc %a : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: chlo.lgamma %{{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
  %13 = chlo.lgamma %a : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: chlo.sinh %{{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
  %14 = chlo.sinh %a : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: chlo.square %{{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
  %15 = chlo.square %a : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: chlo.tan %{{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
  %16 = chlo.tan %a : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: chlo.is_inf %{{.*}} : tensor<?x4xf32> -> tensor<?x4xi1>
  %17 = chlo.is_inf %a : tensor<?x4xf32> -> tensor<?x4xi1>
  // CHECK: chlo.is_neg_inf %{{.*}} : tensor<?x4xf32> -> tensor<?x4xi1>
  %18 = chlo.is_neg_inf %a : tensor<?x4xf32> -> tensor<?x4xi1>
  // CHECK: chlo.is_pos_inf %{{.*}} : tensor<?x4xf32> -> tensor<?x4xi1>
  %19 = chlo.is_pos_inf %a : tensor<?x4xf32> -> tensor<?x4xi1>
  // CHECK: chlo.next_after %{{.*}}, %{{.*}} : tensor<?x4xf32>, tensor<3x4xf32> -> tensor<3x4xf32>
  %20 = chlo.next_after %a, %b : tensor<?x4xf32>, tensor<3x4xf32> -> tensor<3x4xf32>
  // CHECK: chlo.polygamma %{{.*}}, %{{.*}} : tensor<?x4xf32>, tensor<3x4xf32> -> tensor<3x4xf32>
  %21 = chlo.polygamma %a, %b : tensor<?x4xf32>, tensor<3x4xf32> -> tensor<3x4xf32>
  // CHECK: chlo.zeta %{{.*}}, %{{.*}} : tensor<?x4xf32>, tensor<3x4xf32> -> tensor<3x4xf32>
  %22 = chlo.zeta %a, %b : tensor<?x4xf32>, tensor<3x4xf32> -> tensor<3x4xf32>
  return
}

// CHECK-LABEL: func @products(
func.func @products(%a: tensor<8x6xf32>, %b: tensor<3x6x5xf32>, %g: tensor<3xi32>, %i: tensor<8xui32>) {
  // CHECK: "chlo.ragged_dot"(%{{.*}}) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGHEST>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<8x6xf32>, tensor<3x6x5xf32>, tensor<3xi32>) -> tensor<8x5xf32>
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGHEST>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<8x6xf32>, tensor<3x6x5xf32>, tensor<3xi32>) -> tensor<8x5xf32>
  // CHECK: chlo.mulhi %{{.*}}, %{{.*}} : tensor<8xui32>, tensor<8xui32> -> tensor<8xui32>
  %1 = chlo.mulhi %i, %i : tensor<8xui32>, tensor<8xui32> -> tensor<8xui32>
  return
}

// CHECK-LABEL: func @others(
func.func @others(%a: tensor<?x256xf32>) -> tensor<2xf32> {
  // CHECK: %{{.*}}, %{{.*}} = chlo.top_k(%{{.*}}, k = 8) : tensor<?x256xf32> -> (tensor<?x8xf32>, tensor<?x8xi32>)
  %0, %1 = chlo.top_k(%a, k = 8) : tensor<?x256xf32> -> (tensor<?x8xf32>, tensor<?x8xi32>)
  // CHECK: "chlo.constant_like"(%{{.*}}) <{value = 1.000000e+00 : f32}>
  %2 = "chlo.constant_like"(%a) <{value = 1.0 : f32}> : (tensor<?x256xf32>) -> tensor<?x256xf32>
  // CHECK: chlo.constant dense<1.000000e+00> : tensor<2xf32>
  %3 = chlo.constant dense<1.0> : tensor<2xf32>
  return %3 : tensor<2xf32>
}
