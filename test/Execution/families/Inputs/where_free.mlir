module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x4x12xf32>, %arg1: tensor<12x4x12xf32>) -> (tensor<12x4x12xf32> {jax.result_info = "result[0]"}, tensor<12x4x12xf32> {jax.result_info = "result[1]"}) {
    %0 = call @_flip(%arg0) : (tensor<12x4x12xf32>) -> tensor<12x4x12xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x4x12xf32>
    %2 = stablehlo.compare GT, %0, %1, FLOAT : (tensor<12x4x12xf32>, tensor<12x4x12xf32>) -> tensor<12x4x12xi1>
    %cst_0 = stablehlo.constant dense<-2.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<12x4x12xf32>
    %4 = stablehlo.multiply %3, %arg0 : tensor<12x4x12xf32>
    %5 = call @_where(%2, %arg0, %4) : (tensor<12x4x12xi1>, tensor<12x4x12xf32>, tensor<12x4x12xf32>) -> tensor<12x4x12xf32>
    %6:2 = call @_where_0(%2, %arg1) : (tensor<12x4x12xi1>, tensor<12x4x12xf32>) -> (tensor<12x4x12xf32>, tensor<12x4x12xf32>)
    %cst_1 = stablehlo.constant dense<-2.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<12x4x12xf32>
    %8 = stablehlo.multiply %7, %6#1 : tensor<12x4x12xf32>
    %9 = stablehlo.add %6#0, %8 : tensor<12x4x12xf32>
    return %5, %9 : tensor<12x4x12xf32>, tensor<12x4x12xf32>
  }
  func.func private @_flip(%arg0: tensor<12x4x12xf32>) -> tensor<12x4x12xf32> {
    %0 = stablehlo.reverse %arg0, dims = [2] : tensor<12x4x12xf32>
    return %0 : tensor<12x4x12xf32>
  }
  func.func private @_where(%arg0: tensor<12x4x12xi1>, %arg1: tensor<12x4x12xf32>, %arg2: tensor<12x4x12xf32>) -> tensor<12x4x12xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<12x4x12xi1>, tensor<12x4x12xf32>
    return %0 : tensor<12x4x12xf32>
  }
  func.func private @_where_0(%arg0: tensor<12x4x12xi1>, %arg1: tensor<12x4x12xf32>) -> (tensor<12x4x12xf32>, tensor<12x4x12xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x4x12xf32>
    %1 = stablehlo.select %arg0, %0, %arg1 : tensor<12x4x12xi1>, tensor<12x4x12xf32>
    %2 = stablehlo.select %arg0, %arg1, %0 : tensor<12x4x12xi1>, tensor<12x4x12xf32>
    return %2, %1 : tensor<12x4x12xf32>, tensor<12x4x12xf32>
  }
}
