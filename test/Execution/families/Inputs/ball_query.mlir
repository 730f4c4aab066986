module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x3xf32>, %arg1: tensor<12x3xf32>, %arg2: tensor<16x2xf32>, %arg3: tensor<12x2xf32>) -> (tensor<12x2xf32> {jax.result_info = "result[0]"}, tensor<16x3xf32> {jax.result_info = "result[1]"}, tensor<12x3xf32> {jax.result_info = "result[2]"}, tensor<16x2xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0, 2] : (tensor<12x3xf32>) -> tensor<12x1x3xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<16x3xf32>) -> tensor<1x16x3xf32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<12x1x3xf32>) -> tensor<12x16x3xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x16x3xf32>) -> tensor<12x16x3xf32>
    %4 = stablehlo.subtract %2, %3 : tensor<12x16x3xf32>
    %5 = stablehlo.multiply %4, %4 : tensor<12x16x3xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x16x3xf32>
    %7 = stablehlo.multiply %6, %4 : tensor<12x16x3xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<12x16x3xf32>, tensor<f32>) -> tensor<12x16xf32>
    %cst_1 = stablehlo.constant dense<7.500000e-01> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<12x16xf32>
    %10 = stablehlo.compare LT, %8, %9, FLOAT : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xi1>
    %11 = stablehlo.convert %10 : (tensor<12x16xi1>) -> tensor<12x16xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %12 = stablehlo.reduce(%11 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<12x16xi32>, tensor<i32>) -> tensor<12xi32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<12x1xi32>
    %15 = stablehlo.maximum %13, %14 : tensor<12x1xi32>
    %16 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<12x16xi1>) -> tensor<12x16x1xi1>
    %17 = stablehlo.broadcast_in_dim %arg2, dims = [1, 2] : (tensor<16x2xf32>) -> tensor<1x16x2xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18:3 = call @_where(%16, %17, %cst_3) : (tensor<12x16x1xi1>, tensor<1x16x2xf32>, tensor<f32>) -> (tensor<12x16x2xf32>, tensor<12x16x2xi1>, tensor<12x16x2xf32>)
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%18#0 init: %cst_4) applies stablehlo.add across dimensions = [1] : (tensor<12x16x2xf32>, tensor<f32>) -> tensor<12x2xf32>
    %20 = stablehlo.convert %15 : (tensor<12x1xi32>) -> tensor<12x1xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1] : (tensor<12x1xf32>) -> tensor<12x2xf32>
    %22 = stablehlo.divide %19, %21 : tensor<12x2xf32>
    %23 = stablehlo.broadcast_in_dim %20, dims = [0, 1] : (tensor<12x1xf32>) -> tensor<12x2xf32>
    %24 = stablehlo.divide %arg3, %23 : tensor<12x2xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 2] : (tensor<12x2xf32>) -> tensor<12x16x2xf32>
    %26 = call @_where_0(%18#1, %18#2, %25) : (tensor<12x16x2xi1>, tensor<12x16x2xf32>, tensor<12x16x2xf32>) -> tensor<1x16x2xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.reduce(%26 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<1x16x2xf32>, tensor<f32>) -> tensor<16x2xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<16x3xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<12x3xf32>
    return %22, %28, %29, %27 : tensor<12x2xf32>, tensor<16x3xf32>, tensor<12x3xf32>, tensor<16x2xf32>
  }
  func.func private @_where(%arg0: tensor<12x16x1xi1>, %arg1: tensor<1x16x2xf32>, %arg2: tensor<f32>) -> (tensor<12x16x2xf32>, tensor<12x16x2xi1>, tensor<12x16x2xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2] : (tensor<12x16x1xi1>) -> tensor<12x16x2xi1>
    %2 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1, 2] : (tensor<1x16x2xf32>) -> tensor<12x16x2xf32>
    %3 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<12x16x2xf32>
    %4 = stablehlo.select %1, %2, %3 : tensor<12x16x2xi1>, tensor<12x16x2xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x16x2xf32>
    return %4, %1, %5 : tensor<12x16x2xf32>, tensor<12x16x2xi1>, tensor<12x16x2xf32>
  }
  func.func private @_where_0(%arg0: tensor<12x16x2xi1>, %arg1: tensor<12x16x2xf32>, %arg2: tensor<12x16x2xf32>) -> tensor<1x16x2xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x16x2xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<12x16x2xi1>, tensor<12x16x2xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<12x16x2xf32>, tensor<f32>) -> tensor<16x2xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1, 2] : (tensor<16x2xf32>) -> tensor<1x16x2xf32>
    return %3 : tensor<1x16x2xf32>
  }
}
