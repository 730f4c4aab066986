// RUN: shard-run %s --machine=generic,cache=64B,fork=1ns --check --check=interpreter
// RUN: shard-run %s --machine=generic,cache=64B,fork=1ns --ranks=3 --sizes=0:2=7,0,3 --sizes=3:2=7,0,3 --check --check=interpreter
// RUN: shard-run %s --machine=generic,cache=64B,fork=1ns --range=100,101 --rtol=1e-3 --atol=0.05 --check
// RUN: shard-opt %s --shardc-pipeline="machine=generic,cache=64B,fork=1ns" --mlir-print-ir-after=spmd-detach-sums -o /dev/null 2>&1 | FileCheck %s

// Group norm and its gradients, as JAX prints them, the groups' rows cut: one
// product with the gradient is summed up by channels, for all who want sums of
// it. A mean that is large beside what differs from it is no harm.
// CHECK: IR Dump After DetachSumsPass
// CHECK: dimensions = [3, 4] : (tensor<3x2x3x5x7xf32>

module @jit_both attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<3x6x10x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}, {}]>}, %arg1: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg2: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg3: tensor<3x6x10x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}, {}]>}) -> (tensor<3x6x10x7xf32> {jax.result_info = "result[0]"}, tensor<3x6x10x7xf32> {jax.result_info = "result[1]"}, tensor<6xf32> {jax.result_info = "result[2]"}, tensor<6xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.reshape %arg1 : (tensor<6xf32>) -> tensor<1x6x1x1xf32>
    %1 = stablehlo.reshape %arg2 : (tensor<6xf32>) -> tensor<1x6x1x1xf32>
    %2 = stablehlo.reshape %arg0 : (tensor<3x6x10x7xf32>) -> tensor<3x2x3x10x7xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [2, 3, 4] : (tensor<3x2x3x10x7xf32>, tensor<f32>) -> tensor<3x2xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<3x2xf32>) -> tensor<3x2x1x1x1xf32>
    %cst_0 = stablehlo.constant dense<2.100000e+02> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x2x1x1x1xf32>
    %6 = stablehlo.divide %4, %5 : tensor<3x2x1x1x1xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2, 3, 4] : (tensor<3x2x1x1x1xf32>) -> tensor<3x2x3x10x7xf32>
    %8 = stablehlo.subtract %2, %7 : tensor<3x2x3x10x7xf32>
    %9 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2, 3, 4] : (tensor<3x2x1x1x1xf32>) -> tensor<3x2x3x10x7xf32>
    %10 = stablehlo.subtract %2, %9 : tensor<3x2x3x10x7xf32>
    %11 = chlo.square %10 : tensor<3x2x3x10x7xf32> -> tensor<3x2x3x10x7xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3x2x3x10x7xf32>
    %13 = stablehlo.multiply %12, %10 : tensor<3x2x3x10x7xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [2, 3, 4] : (tensor<3x2x3x10x7xf32>, tensor<f32>) -> tensor<3x2xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<3x2xf32>) -> tensor<3x2x1x1x1xf32>
    %cst_3 = stablehlo.constant dense<2.100000e+02> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<3x2x1x1x1xf32>
    %17 = stablehlo.divide %15, %16 : tensor<3x2x1x1x1xf32>
    %cst_4 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3x2x1x1x1xf32>
    %19 = stablehlo.add %17, %18 : tensor<3x2x1x1x1xf32>
    %20 = stablehlo.rsqrt %19 : tensor<3x2x1x1x1xf32>
    %21 = stablehlo.divide %20, %19 : tensor<3x2x1x1x1xf32>
    %cst_5 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<3x2x1x1x1xf32>
    %23 = stablehlo.multiply %22, %21 : tensor<3x2x1x1x1xf32>
    %24 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3, 4] : (tensor<3x2x1x1x1xf32>) -> tensor<3x2x3x10x7xf32>
    %25 = stablehlo.multiply %8, %24 : tensor<3x2x3x10x7xf32>
    %26 = stablehlo.reshape %25 : (tensor<3x2x3x10x7xf32>) -> tensor<3x6x10x7xf32>
    %27 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2, 3] : (tensor<1x6x1x1xf32>) -> tensor<3x6x10x7xf32>
    %28 = stablehlo.multiply %26, %27 : tensor<3x6x10x7xf32>
    %29 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<1x6x1x1xf32>) -> tensor<3x6x10x7xf32>
    %30 = stablehlo.add %28, %29 : tensor<3x6x10x7xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.reduce(%arg3 init: %cst_6) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<3x6x10x7xf32>, tensor<f32>) -> tensor<6xf32>
    %32 = stablehlo.reshape %31 : (tensor<6xf32>) -> tensor<1x6x1x1xf32>
    %33 = stablehlo.multiply %26, %arg3 : tensor<3x6x10x7xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.reduce(%33 init: %cst_7) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<3x6x10x7xf32>, tensor<f32>) -> tensor<6xf32>
    %35 = stablehlo.reshape %34 : (tensor<6xf32>) -> tensor<1x6x1x1xf32>
    %36 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2, 3] : (tensor<1x6x1x1xf32>) -> tensor<3x6x10x7xf32>
    %37 = stablehlo.multiply %arg3, %36 : tensor<3x6x10x7xf32>
    %38 = stablehlo.reshape %37 : (tensor<3x6x10x7xf32>) -> tensor<3x2x3x10x7xf32>
    %39 = stablehlo.multiply %8, %38 : tensor<3x2x3x10x7xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.reduce(%39 init: %cst_8) applies stablehlo.add across dimensions = [2, 3, 4] : (tensor<3x2x3x10x7xf32>, tensor<f32>) -> tensor<3x2xf32>
    %41 = stablehlo.reshape %40 : (tensor<3x2xf32>) -> tensor<3x2x1x1x1xf32>
    %42 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3, 4] : (tensor<3x2x1x1x1xf32>) -> tensor<3x2x3x10x7xf32>
    %43 = stablehlo.multiply %38, %42 : tensor<3x2x3x10x7xf32>
    %44 = stablehlo.multiply %41, %23 : tensor<3x2x1x1x1xf32>
    %cst_9 = stablehlo.constant dense<2.100000e+02> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<3x2x1x1x1xf32>
    %46 = stablehlo.divide %44, %45 : tensor<3x2x1x1x1xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %47 = stablehlo.reduce(%46 init: %cst_10) applies stablehlo.add across dimensions = [2, 3, 4] : (tensor<3x2x1x1x1xf32>, tensor<f32>) -> tensor<3x2xf32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0, 1] : (tensor<3x2xf32>) -> tensor<3x2x3x10x7xf32>
    %49 = stablehlo.multiply %48, %13 : tensor<3x2x3x10x7xf32>
    %50 = stablehlo.negate %49 : tensor<3x2x3x10x7xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %51 = stablehlo.reduce(%50 init: %cst_11) applies stablehlo.add across dimensions = [2, 3, 4] : (tensor<3x2x3x10x7xf32>, tensor<f32>) -> tensor<3x2xf32>
    %52 = stablehlo.reshape %51 : (tensor<3x2xf32>) -> tensor<3x2x1x1x1xf32>
    %53 = stablehlo.negate %43 : tensor<3x2x3x10x7xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.reduce(%53 init: %cst_12) applies stablehlo.add across dimensions = [2, 3, 4] : (tensor<3x2x3x10x7xf32>, tensor<f32>) -> tensor<3x2xf32>
    %55 = stablehlo.reshape %54 : (tensor<3x2xf32>) -> tensor<3x2x1x1x1xf32>
    %56 = stablehlo.add %49, %43 : tensor<3x2x3x10x7xf32>
    %57 = stablehlo.add %52, %55 : tensor<3x2x1x1x1xf32>
    %cst_13 = stablehlo.constant dense<2.100000e+02> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<3x2x1x1x1xf32>
    %59 = stablehlo.divide %57, %58 : tensor<3x2x1x1x1xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %60 = stablehlo.reduce(%59 init: %cst_14) applies stablehlo.add across dimensions = [2, 3, 4] : (tensor<3x2x1x1x1xf32>, tensor<f32>) -> tensor<3x2xf32>
    %61 = stablehlo.broadcast_in_dim %60, dims = [0, 1] : (tensor<3x2xf32>) -> tensor<3x2x3x10x7xf32>
    %62 = stablehlo.add %56, %61 : tensor<3x2x3x10x7xf32>
    %63 = stablehlo.reshape %62 : (tensor<3x2x3x10x7xf32>) -> tensor<3x6x10x7xf32>
    %64 = stablehlo.reshape %32 : (tensor<1x6x1x1xf32>) -> tensor<6xf32>
    %65 = stablehlo.reshape %35 : (tensor<1x6x1x1xf32>) -> tensor<6xf32>
    return %30, %63, %65, %64 : tensor<3x6x10x7xf32>, tensor<3x6x10x7xf32>, tensor<6xf32>, tensor<6xf32>
  }
}
