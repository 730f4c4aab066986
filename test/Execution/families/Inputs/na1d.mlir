module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x12x2x4xf32>, %arg1: tensor<1x12x2x4xf32>, %arg2: tensor<1x12x2x4xf32>, %arg3: tensor<1x12x2x4xf32>) -> (tensor<1x12x2x4xf32> {jax.result_info = "result[0]"}, tensor<1x12x2x4xf32> {jax.result_info = "result[1]"}, tensor<1x12x2x4xf32> {jax.result_info = "result[2]"}, tensor<1x12x2x4xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<12xi32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %2 = stablehlo.subtract %0, %1 : tensor<12xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<9> : tensor<i32>
    %3 = call @clip(%2, %c_0, %c_1) : (tensor<12xi32>, tensor<i32>, tensor<i32>) -> tensor<12xi32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %5 = stablehlo.iota dim = 0 : tensor<3xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [1] : (tensor<3xi32>) -> tensor<1x3xi32>
    %7 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<12x1xi32>) -> tensor<12x3xi32>
    %8 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x3xi32>) -> tensor<12x3xi32>
    %9 = stablehlo.add %7, %8 : tensor<12x3xi32>
    %10:2 = call @_take(%arg1, %9) : (tensor<1x12x2x4xf32>, tensor<12x3xi32>) -> (tensor<1x12x3x2x4xf32>, tensor<12x3x1xi32>)
    %11:2 = call @_take(%arg2, %9) : (tensor<1x12x2x4xf32>, tensor<12x3xi32>) -> (tensor<1x12x3x2x4xf32>, tensor<12x3x1xi32>)
    %12 = stablehlo.dot_general %arg0, %10#0, batching_dims = [0, 1, 2] x [0, 1, 3], contracting_dims = [3] x [4], precision = [DEFAULT, DEFAULT] : (tensor<1x12x2x4xf32>, tensor<1x12x3x2x4xf32>) -> tensor<1x12x2x3xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x2x3xf32>, tensor<f32>) -> tensor<1x12x2xf32>
    %14 = stablehlo.reshape %13 : (tensor<1x12x2xf32>) -> tensor<1x12x2x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<1x12x2x1xf32>) -> tensor<1x12x2x3xf32>
    %16 = stablehlo.compare EQ, %12, %15, FLOAT : (tensor<1x12x2x3xf32>, tensor<1x12x2x3xf32>) -> tensor<1x12x2x3xi1>
    %17 = stablehlo.convert %16 : (tensor<1x12x2x3xi1>) -> tensor<1x12x2x3xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<1x12x2x3xf32>, tensor<f32>) -> tensor<1x12x2xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x12x2xf32>
    %20 = stablehlo.maximum %19, %13 : tensor<1x12x2xf32>
    %21 = stablehlo.compare EQ, %13, %20, FLOAT : (tensor<1x12x2xf32>, tensor<1x12x2xf32>) -> tensor<1x12x2xi1>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x12x2xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x12x2xf32>
    %24 = stablehlo.select %21, %22, %23 : tensor<1x12x2xi1>, tensor<1x12x2xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<1x12x2xf32>
    %26 = stablehlo.compare EQ, %25, %20, FLOAT : (tensor<1x12x2xf32>, tensor<1x12x2xf32>) -> tensor<1x12x2xi1>
    %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<1x12x2xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1x12x2xf32>
    %29 = stablehlo.select %26, %27, %28 : tensor<1x12x2xi1>, tensor<1x12x2xf32>
    %30 = stablehlo.divide %24, %29 : tensor<1x12x2xf32>
    %31 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2] : (tensor<1x12x2xf32>) -> tensor<1x12x2x1xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<1x12x2x1xf32>) -> tensor<1x12x2x3xf32>
    %33 = stablehlo.subtract %12, %32 : tensor<1x12x2x3xf32>
    %34 = stablehlo.exponential %33 : tensor<1x12x2x3xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.reduce(%34 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<1x12x2x3xf32>, tensor<f32>) -> tensor<1x12x2xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2] : (tensor<1x12x2xf32>) -> tensor<1x12x2x1xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2, 3] : (tensor<1x12x2x1xf32>) -> tensor<1x12x2x3xf32>
    %38 = stablehlo.divide %34, %37 : tensor<1x12x2x3xf32>
    %39 = stablehlo.multiply %36, %36 : tensor<1x12x2x1xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<1x12x2x1xf32>
    %41 = stablehlo.divide %40, %39 : tensor<1x12x2x1xf32>
    %42 = stablehlo.dot_general %38, %11#0, batching_dims = [0, 1, 2] x [0, 1, 3], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x2x3xf32>, tensor<1x12x3x2x4xf32>) -> tensor<1x12x2x4xf32>
    %43 = stablehlo.dot_general %arg3, %38, batching_dims = [0, 1, 2] x [0, 1, 2], contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<1x12x2x4xf32>, tensor<1x12x2x3xf32>) -> tensor<1x12x2x4x3xf32>
    %44 = stablehlo.transpose %43, dims = [0, 1, 4, 2, 3] : (tensor<1x12x2x4x3xf32>) -> tensor<1x12x3x2x4xf32>
    %45 = stablehlo.dot_general %arg3, %11#0, batching_dims = [0, 1, 2] x [0, 1, 3], contracting_dims = [3] x [4], precision = [DEFAULT, DEFAULT] : (tensor<1x12x2x4xf32>, tensor<1x12x3x2x4xf32>) -> tensor<1x12x2x3xf32>
    %46 = stablehlo.broadcast_in_dim %41, dims = [0, 1, 2, 3] : (tensor<1x12x2x1xf32>) -> tensor<1x12x2x3xf32>
    %47 = stablehlo.multiply %45, %46 : tensor<1x12x2x3xf32>
    %48 = stablehlo.multiply %47, %34 : tensor<1x12x2x3xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %49 = stablehlo.reduce(%48 init: %cst_11) applies stablehlo.add across dimensions = [3] : (tensor<1x12x2x3xf32>, tensor<f32>) -> tensor<1x12x2xf32>
    %50 = stablehlo.reshape %49 : (tensor<1x12x2xf32>) -> tensor<1x12x2x1xf32>
    %51 = stablehlo.negate %50 : tensor<1x12x2x1xf32>
    %52 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2, 3] : (tensor<1x12x2x1xf32>) -> tensor<1x12x2x3xf32>
    %53 = stablehlo.divide %45, %52 : tensor<1x12x2x3xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.reduce(%51 init: %cst_12) applies stablehlo.add across dimensions = [0, 3] : (tensor<1x12x2x1xf32>, tensor<f32>) -> tensor<12x2xf32>
    %55 = stablehlo.broadcast_in_dim %54, dims = [1, 2] : (tensor<12x2xf32>) -> tensor<1x12x2xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2] : (tensor<1x12x2xf32>) -> tensor<1x12x2x3xf32>
    %57 = stablehlo.add %53, %56 : tensor<1x12x2x3xf32>
    %58 = stablehlo.multiply %57, %34 : tensor<1x12x2x3xf32>
    %59 = stablehlo.dot_general %58, %arg0, batching_dims = [0, 1, 2] x [0, 1, 2], contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<1x12x2x3xf32>, tensor<1x12x2x4xf32>) -> tensor<1x12x2x3x4xf32>
    %60 = stablehlo.transpose %59, dims = [0, 1, 3, 2, 4] : (tensor<1x12x2x3x4xf32>) -> tensor<1x12x3x2x4xf32>
    %61 = stablehlo.dot_general %58, %10#0, batching_dims = [0, 1, 2] x [0, 1, 3], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x12x2x3xf32>, tensor<1x12x3x2x4xf32>) -> tensor<1x12x2x4xf32>
    %62 = call @_take_0(%11#1, %44) : (tensor<12x3x1xi32>, tensor<1x12x3x2x4xf32>) -> tensor<1x12x2x4xf32>
    %63 = call @_take_0(%10#1, %60) : (tensor<12x3x1xi32>, tensor<1x12x3x2x4xf32>) -> tensor<1x12x2x4xf32>
    return %42, %61, %63, %62 : tensor<1x12x2x4xf32>, tensor<1x12x2x4xf32>, tensor<1x12x2x4xf32>, tensor<1x12x2x4xf32>
  }
  func.func private @clip(%arg0: tensor<12xi32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<12xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<12xi32>
    %3 = stablehlo.convert %arg2 : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %5 = stablehlo.minimum %4, %2 : tensor<12xi32>
    return %5 : tensor<12xi32>
  }
  func.func private @_take(%arg0: tensor<1x12x2x4xf32>, %arg1: tensor<12x3xi32>) -> (tensor<1x12x3x2x4xf32>, tensor<12x3x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<12x3xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<12x3xi32>, tensor<12x3xi32>) -> tensor<12x3xi1>
    %c_0 = stablehlo.constant dense<12> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<12x3xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<12x3xi32>
    %4 = call @_where(%1, %3, %arg1) : (tensor<12x3xi1>, tensor<12x3xi32>, tensor<12x3xi32>) -> tensor<12x3xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<12x3xi32>) -> tensor<12x3x1xi32>
    %c_1 = stablehlo.constant dense<11> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<12x3x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<12x3x1xi32>, tensor<12x3x1xi32>) -> tensor<12x3x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<12x3x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<12x3x1xi32>, tensor<12x3x1xi32>) -> tensor<12x3x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<12x3x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<12x3x1xi1>, tensor<i1>) -> tensor<12x3xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 3, 4], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 2, 4>}> : (tensor<1x12x2x4xf32>, tensor<12x3x1xi32>) -> tensor<1x12x3x2x4xf32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [1, 2] : (tensor<12x3xi1>) -> tensor<1x12x3x2x4xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x12x3x2x4xf32>
    %16 = stablehlo.select %14, %13, %15 : tensor<1x12x3x2x4xi1>, tensor<1x12x3x2x4xf32>
    return %16, %5 : tensor<1x12x3x2x4xf32>, tensor<12x3x1xi32>
  }
  func.func private @_where(%arg0: tensor<12x3xi1>, %arg1: tensor<12x3xi32>, %arg2: tensor<12x3xi32>) -> tensor<12x3xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<12x3xi1>, tensor<12x3xi32>
    return %0 : tensor<12x3xi32>
  }
  func.func private @_take_0(%arg0: tensor<12x3x1xi32>, %arg1: tensor<1x12x3x2x4xf32>) -> tensor<1x12x2x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x12x2x4xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 3, 4], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<1x12x2x4xf32>, tensor<12x3x1xi32>, tensor<1x12x3x2x4xf32>) -> tensor<1x12x2x4xf32>
    return %1 : tensor<1x12x2x4xf32>
  }
}
