module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x8xf32>, %arg1: tensor<f32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<12x8xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %1 = stablehlo.compare GT, %arg0, %0, FLOAT : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xi1>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:2 = call @_where(%1, %arg0, %c) : (tensor<12x8xi1>, tensor<12x8xf32>, tensor<i32>) -> (tensor<12x8xf32>, tensor<12x8xf32>)
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%2#0 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<12x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %5 = stablehlo.compare GT, %arg0, %4, FLOAT : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xi1>
    %6 = stablehlo.convert %5 : (tensor<12x8xi1>) -> tensor<12x8xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.reduce(%6 init: %c_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<12x8xi32>, tensor<i32>) -> tensor<i32>
    %c_3 = stablehlo.constant dense<1> : tensor<i32>
    %8 = stablehlo.maximum %7, %c_3 : tensor<i32>
    %9 = stablehlo.convert %8 : (tensor<i32>) -> tensor<f32>
    %10 = stablehlo.divide %3, %9 : tensor<f32>
    %11 = stablehlo.divide %arg1, %9 : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %13 = call @_where_0(%1, %2#1, %12) : (tensor<12x8xi1>, tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    return %10, %13 : tensor<f32>, tensor<12x8xf32>
  }
  func.func private @_where(%arg0: tensor<12x8xi1>, %arg1: tensor<12x8xf32>, %arg2: tensor<i32>) -> (tensor<12x8xf32>, tensor<12x8xf32>) {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<12x8xi1>, tensor<12x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    return %2, %3 : tensor<12x8xf32>, tensor<12x8xf32>
  }
  func.func private @_where_0(%arg0: tensor<12x8xi1>, %arg1: tensor<12x8xf32>, %arg2: tensor<12x8xf32>) -> tensor<12x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<12x8xi1>, tensor<12x8xf32>
    return %1 : tensor<12x8xf32>
  }
}
