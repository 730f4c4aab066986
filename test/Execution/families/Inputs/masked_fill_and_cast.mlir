module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x8xf32>, %arg1: tensor<12x8xf32>) -> (tensor<12x8xf32> {jax.result_info = "result[0]"}, tensor<12x8xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %1 = stablehlo.compare GT, %arg0, %0, FLOAT : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2:2 = call @_where(%1, %cst_0, %arg0) : (tensor<12x8xi1>, tensor<f32>, tensor<12x8xf32>) -> (tensor<12x8xf32>, tensor<12x8xf32>)
    %3 = stablehlo.convert %2#0 : (tensor<12x8xf32>) -> tensor<12x8xbf16>
    %4 = stablehlo.convert %3 : (tensor<12x8xbf16>) -> tensor<12x8xf32>
    %5 = stablehlo.convert %arg1 : (tensor<12x8xf32>) -> tensor<12x8xbf16>
    %6 = stablehlo.convert %5 : (tensor<12x8xbf16>) -> tensor<12x8xf32>
    %7 = call @_where_0(%1, %2#1, %6) : (tensor<12x8xi1>, tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    return %4, %7 : tensor<12x8xf32>, tensor<12x8xf32>
  }
  func.func private @_where(%arg0: tensor<12x8xi1>, %arg1: tensor<f32>, %arg2: tensor<12x8xf32>) -> (tensor<12x8xf32>, tensor<12x8xf32>) {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<12x8xi1>, tensor<12x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    return %2, %3 : tensor<12x8xf32>, tensor<12x8xf32>
  }
  func.func private @_where_0(%arg0: tensor<12x8xi1>, %arg1: tensor<12x8xf32>, %arg2: tensor<12x8xf32>) -> tensor<12x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %1 = stablehlo.select %arg0, %0, %arg2 : tensor<12x8xi1>, tensor<12x8xf32>
    return %1 : tensor<12x8xf32>
  }
}
