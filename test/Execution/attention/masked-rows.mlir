// Rows whose scores are all one large number weigh all values alike, and so does their gradient: the logarithm of their sum
// would be lost in f32 beside 1e9. Row 5 has it in a bias that nothing looks into; a mask of tokens masks others whole.
// As jax.vjp prints softmax(0.25 q k + bias, masked where the token's number is above 0.9) v.
// RUN: shard-opt %s --spmd-import --spmd-raise | FileCheck %s
// RUN: shard-run %s --no-raise --mesh=sp=1 --seed=1 --outputs=@%t.npz
// RUN: shard-run %s --seed=1 --mesh=sp=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6
// RUN: shard-run %s --seed=1 --mesh=sp=2 --expect=@%t.npz --rtol=2e-5 --atol=2e-6
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6 --sizes=0:1=0,9,4,7 --sizes=1:1=0,9,4,7 --sizes=2:1=5,0,17,1 --sizes=3:1=5,0,17,1
// CHECK: pairs.all_pairs softmax
// CHECK: pairs.attention_backward
// CHECK-NOT: exponential
module @masked_rows {
  sdy.mesh @mesh = <["sp"=4]>
  func.func public @main(%arg0: tensor<2x20x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"sp"}, {}]>}, %arg1: tensor<2x20x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"sp"}, {}]>}, %arg2: tensor<2x23x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"sp"}, {}]>}, %arg3: tensor<2x23x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"sp"}, {}]>}, %arg4: tensor<19x23xf32>, %arg5: tensor<20x1xf32>) -> (tensor<2x20x6xf32>, tensor<2x20x8xf32>, tensor<2x23x8xf32>, tensor<2x23x6xf32>, tensor<19x23xf32>) {
    %0 = stablehlo.dot_general %arg1, %arg2, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x20x8xf32>, tensor<2x23x8xf32>) -> tensor<2x20x23xf32>
    %cst = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x20x23xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x20x23xf32>
    %3 = stablehlo.slice %arg4 [0:5, 0:23] : (tensor<19x23xf32>) -> tensor<5x23xf32>
    %cst_0 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x23xf32>
    %5 = stablehlo.slice %arg4 [5:19, 0:23] : (tensor<19x23xf32>) -> tensor<14x23xf32>
    %6 = stablehlo.concatenate %3, %4, %5, dim = 0 : (tensor<5x23xf32>, tensor<1x23xf32>, tensor<14x23xf32>) -> tensor<20x23xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [1, 2] : (tensor<20x23xf32>) -> tensor<1x20x23xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<1x20x23xf32>) -> tensor<2x20x23xf32>
    %9 = stablehlo.add %2, %8 : tensor<2x20x23xf32>
    %cst_1 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<20x1xf32>
    %11 = stablehlo.compare LT, %arg5, %10, FLOAT : (tensor<20x1xf32>, tensor<20x1xf32>) -> tensor<20x1xi1>
    %cst_2 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %12:2 = call @_where(%11, %9, %cst_2) : (tensor<20x1xi1>, tensor<2x20x23xf32>, tensor<f32>) -> (tensor<2x20x23xf32>, tensor<2x20x23xi1>)
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %13 = stablehlo.reduce(%12#0 init: %cst_3) applies stablehlo.maximum across dimensions = [2] : (tensor<2x20x23xf32>, tensor<f32>) -> tensor<2x20xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x20xf32>
    %15 = stablehlo.maximum %14, %13 : tensor<2x20xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1] : (tensor<2x20xf32>) -> tensor<2x20x1xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<2x20x1xf32>) -> tensor<2x20x23xf32>
    %18 = stablehlo.subtract %12#0, %17 : tensor<2x20x23xf32>
    %19 = stablehlo.exponential %18 : tensor<2x20x23xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_5) applies stablehlo.add across dimensions = [2] : (tensor<2x20x23xf32>, tensor<f32>) -> tensor<2x20xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1] : (tensor<2x20xf32>) -> tensor<2x20x1xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<2x20x1xf32>) -> tensor<2x20x23xf32>
    %23 = stablehlo.divide %19, %22 : tensor<2x20x23xf32>
    %24 = stablehlo.multiply %21, %21 : tensor<2x20x1xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x20x1xf32>
    %26 = stablehlo.divide %25, %24 : tensor<2x20x1xf32>
    %27 = stablehlo.dot_general %23, %arg3, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x20x23xf32>, tensor<2x23x6xf32>) -> tensor<2x20x6xf32>
    %28 = stablehlo.dot_general %arg0, %23, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x20x6xf32>, tensor<2x20x23xf32>) -> tensor<2x6x23xf32>
    %29 = stablehlo.transpose %28, dims = [0, 2, 1] : (tensor<2x6x23xf32>) -> tensor<2x23x6xf32>
    %30 = stablehlo.dot_general %arg0, %arg3, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x20x6xf32>, tensor<2x23x6xf32>) -> tensor<2x20x23xf32>
    %31 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2] : (tensor<2x20x1xf32>) -> tensor<2x20x23xf32>
    %32 = stablehlo.multiply %30, %31 : tensor<2x20x23xf32>
    %33 = stablehlo.multiply %32, %19 : tensor<2x20x23xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.reduce(%33 init: %cst_7) applies stablehlo.add across dimensions = [2] : (tensor<2x20x23xf32>, tensor<f32>) -> tensor<2x20xf32>
    %35 = stablehlo.reshape %34 : (tensor<2x20xf32>) -> tensor<2x20x1xf32>
    %36 = stablehlo.negate %35 : tensor<2x20x1xf32>
    %37 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<2x20x1xf32>) -> tensor<2x20x23xf32>
    %38 = stablehlo.divide %30, %37 : tensor<2x20x23xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.reduce(%36 init: %cst_8) applies stablehlo.add across dimensions = [2] : (tensor<2x20x1xf32>, tensor<f32>) -> tensor<2x20xf32>
    %40 = stablehlo.broadcast_in_dim %39, dims = [0, 1] : (tensor<2x20xf32>) -> tensor<2x20x23xf32>
    %41 = stablehlo.add %38, %40 : tensor<2x20x23xf32>
    %42 = stablehlo.multiply %41, %19 : tensor<2x20x23xf32>
    %43 = call @_where_0(%12#1, %42) : (tensor<2x20x23xi1>, tensor<2x20x23xf32>) -> tensor<2x20x23xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.reduce(%43 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<2x20x23xf32>, tensor<f32>) -> tensor<20x23xf32>
    %45 = stablehlo.reshape %44 : (tensor<20x23xf32>) -> tensor<1x20x23xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.reduce(%45 init: %cst_10) applies stablehlo.add across dimensions = [0] : (tensor<1x20x23xf32>, tensor<f32>) -> tensor<20x23xf32>
    %47 = stablehlo.slice %46 [0:5, 0:23] : (tensor<20x23xf32>) -> tensor<5x23xf32>
    %48 = stablehlo.slice %46 [5:6, 0:23] : (tensor<20x23xf32>) -> tensor<1x23xf32>
    %49 = stablehlo.slice %46 [6:20, 0:23] : (tensor<20x23xf32>) -> tensor<14x23xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.pad %49, %cst_11, low = [5, 0], high = [0, 0], interior = [0, 0] : (tensor<14x23xf32>, tensor<f32>) -> tensor<19x23xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %51 = stablehlo.pad %47, %cst_12, low = [0, 0], high = [14, 0], interior = [0, 0] : (tensor<5x23xf32>, tensor<f32>) -> tensor<19x23xf32>
    %52 = stablehlo.add %50, %51 : tensor<19x23xf32>
    %cst_13 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x20x23xf32>
    %54 = stablehlo.multiply %43, %53 : tensor<2x20x23xf32>
    %55 = stablehlo.dot_general %54, %arg1, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x20x23xf32>, tensor<2x20x8xf32>) -> tensor<2x23x8xf32>
    %56 = stablehlo.dot_general %54, %arg2, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x20x23xf32>, tensor<2x23x8xf32>) -> tensor<2x20x8xf32>
    return %27, %56, %55, %29, %52 : tensor<2x20x6xf32>, tensor<2x20x8xf32>, tensor<2x23x8xf32>, tensor<2x23x6xf32>, tensor<19x23xf32>
  }
  func.func private @_where(%arg0: tensor<20x1xi1>, %arg1: tensor<2x20x23xf32>, %arg2: tensor<f32>) -> (tensor<2x20x23xf32>, tensor<2x20x23xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<20x1xi1>) -> tensor<2x20x23xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x20x23xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x20x23xi1>, tensor<2x20x23xf32>
    return %3, %1 : tensor<2x20x23xf32>, tensor<2x20x23xi1>
  }
  func.func private @_where_0(%arg0: tensor<2x20x23xi1>, %arg1: tensor<2x20x23xf32>) -> tensor<2x20x23xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x20x23xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x20x23xi1>, tensor<2x20x23xf32>
    return %1 : tensor<2x20x23xf32>
  }
}
