module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x12x12x2xf32>, %arg1: tensor<1x23x23x2xf32>) -> (tensor<1x23x23x2xf32> {jax.result_info = "result[0]"}, tensor<1x12x12x2xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<23xi32>
    %1 = stablehlo.convert %0 : (tensor<23xi32>) -> tensor<23xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<23xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<23xf32>
    %4 = stablehlo.floor %3 : tensor<23xf32>
    %5 = stablehlo.convert %4 : (tensor<23xf32>) -> tensor<23xi32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<23xi32>
    %7 = stablehlo.add %5, %6 : tensor<23xi32>
    %c_0 = stablehlo.constant dense<11> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<23xi32>
    %9 = stablehlo.minimum %7, %8 : tensor<23xi32>
    %10 = stablehlo.convert %5 : (tensor<23xi32>) -> tensor<23xf32>
    %11 = stablehlo.subtract %3, %10 : tensor<23xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [1] : (tensor<23xf32>) -> tensor<1x23x1x1xf32>
    %13:2 = call @_take(%arg0, %5) : (tensor<1x12x12x2xf32>, tensor<23xi32>) -> (tensor<1x23x12x2xf32>, tensor<23x1xi32>)
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x23x1x1xf32>
    %15 = stablehlo.subtract %14, %12 : tensor<1x23x1x1xf32>
    %16 = stablehlo.convert %15 : tensor<1x23x1x1xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3] : (tensor<1x23x1x1xf32>) -> tensor<1x23x12x2xf32>
    %18 = stablehlo.multiply %13#0, %17 : tensor<1x23x12x2xf32>
    %19:2 = call @_take(%arg0, %9) : (tensor<1x12x12x2xf32>, tensor<23xi32>) -> (tensor<1x23x12x2xf32>, tensor<23x1xi32>)
    %20 = stablehlo.convert %12 : tensor<1x23x1x1xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<1x23x1x1xf32>) -> tensor<1x23x12x2xf32>
    %22 = stablehlo.multiply %19#0, %21 : tensor<1x23x12x2xf32>
    %23 = stablehlo.add %18, %22 : tensor<1x23x12x2xf32>
    %24 = stablehlo.reshape %12 : (tensor<1x23x1x1xf32>) -> tensor<1x1x23x1xf32>
    %25:2 = call @_take_0(%23, %5) : (tensor<1x23x12x2xf32>, tensor<23xi32>) -> (tensor<1x23x23x2xf32>, tensor<23x1xi32>)
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x1x23x1xf32>
    %27 = stablehlo.subtract %26, %24 : tensor<1x1x23x1xf32>
    %28 = stablehlo.convert %27 : tensor<1x1x23x1xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2, 3] : (tensor<1x1x23x1xf32>) -> tensor<1x23x23x2xf32>
    %30 = stablehlo.multiply %25#0, %29 : tensor<1x23x23x2xf32>
    %31:2 = call @_take_0(%23, %9) : (tensor<1x23x12x2xf32>, tensor<23xi32>) -> (tensor<1x23x23x2xf32>, tensor<23x1xi32>)
    %32 = stablehlo.convert %24 : tensor<1x1x23x1xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3] : (tensor<1x1x23x1xf32>) -> tensor<1x23x23x2xf32>
    %34 = stablehlo.multiply %31#0, %33 : tensor<1x23x23x2xf32>
    %35 = stablehlo.add %30, %34 : tensor<1x23x23x2xf32>
    %36 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3] : (tensor<1x1x23x1xf32>) -> tensor<1x23x23x2xf32>
    %37 = stablehlo.multiply %arg1, %36 : tensor<1x23x23x2xf32>
    %38 = call @_take_1(%31#1, %37) : (tensor<23x1xi32>, tensor<1x23x23x2xf32>) -> tensor<1x23x12x2xf32>
    %39 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2, 3] : (tensor<1x1x23x1xf32>) -> tensor<1x23x23x2xf32>
    %40 = stablehlo.multiply %arg1, %39 : tensor<1x23x23x2xf32>
    %41 = call @_take_1(%25#1, %40) : (tensor<23x1xi32>, tensor<1x23x23x2xf32>) -> tensor<1x23x12x2xf32>
    %42 = stablehlo.add %38, %41 : tensor<1x23x12x2xf32>
    %43 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<1x23x1x1xf32>) -> tensor<1x23x12x2xf32>
    %44 = stablehlo.multiply %42, %43 : tensor<1x23x12x2xf32>
    %45 = call @_take_2(%19#1, %44) : (tensor<23x1xi32>, tensor<1x23x12x2xf32>) -> tensor<1x12x12x2xf32>
    %46 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3] : (tensor<1x23x1x1xf32>) -> tensor<1x23x12x2xf32>
    %47 = stablehlo.multiply %42, %46 : tensor<1x23x12x2xf32>
    %48 = call @_take_2(%13#1, %47) : (tensor<23x1xi32>, tensor<1x23x12x2xf32>) -> tensor<1x12x12x2xf32>
    %49 = stablehlo.add %45, %48 : tensor<1x12x12x2xf32>
    return %35, %49 : tensor<1x23x23x2xf32>, tensor<1x12x12x2xf32>
  }
  func.func private @_take(%arg0: tensor<1x12x12x2xf32>, %arg1: tensor<23xi32>) -> (tensor<1x23x12x2xf32>, tensor<23x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<23xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<23xi32>, tensor<23xi32>) -> tensor<23xi1>
    %c_0 = stablehlo.constant dense<12> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<23xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<23xi32>
    %4 = call @_where(%1, %3, %arg1) : (tensor<23xi1>, tensor<23xi32>, tensor<23xi32>) -> tensor<23xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<23xi32>) -> tensor<23x1xi32>
    %c_1 = stablehlo.constant dense<11> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<23x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<23x1xi32>, tensor<23x1xi32>) -> tensor<23x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [1] : (tensor<1xi32>) -> tensor<1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x1xi32>) -> tensor<23x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<23x1xi32>, tensor<23x1xi32>) -> tensor<23x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<23x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [1] : (tensor<23x1xi1>, tensor<i1>) -> tensor<23xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2, 3], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 12, 2>}> : (tensor<1x12x12x2xf32>, tensor<23x1xi32>) -> tensor<1x23x12x2xf32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [1] : (tensor<23xi1>) -> tensor<1x23x12x2xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x23x12x2xf32>
    %16 = stablehlo.select %14, %13, %15 : tensor<1x23x12x2xi1>, tensor<1x23x12x2xf32>
    return %16, %5 : tensor<1x23x12x2xf32>, tensor<23x1xi32>
  }
  func.func private @_where(%arg0: tensor<23xi1>, %arg1: tensor<23xi32>, %arg2: tensor<23xi32>) -> tensor<23xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<23xi1>, tensor<23xi32>
    return %0 : tensor<23xi32>
  }
  func.func private @_take_0(%arg0: tensor<1x23x12x2xf32>, %arg1: tensor<23xi32>) -> (tensor<1x23x23x2xf32>, tensor<23x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<23xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<23xi32>, tensor<23xi32>) -> tensor<23xi1>
    %c_0 = stablehlo.constant dense<12> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<23xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<23xi32>
    %4 = call @_where(%1, %3, %arg1) : (tensor<23xi1>, tensor<23xi32>, tensor<23xi32>) -> tensor<23xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<23xi32>) -> tensor<23x1xi32>
    %c_1 = stablehlo.constant dense<11> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<23x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<23x1xi32>, tensor<23x1xi32>) -> tensor<23x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [1] : (tensor<1xi32>) -> tensor<1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x1xi32>) -> tensor<23x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<23x1xi32>, tensor<23x1xi32>) -> tensor<23x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<23x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [1] : (tensor<23x1xi1>, tensor<i1>) -> tensor<23xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 3], collapsed_slice_dims = [2], start_index_map = [2], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 23, 1, 2>}> : (tensor<1x23x12x2xf32>, tensor<23x1xi32>) -> tensor<1x23x23x2xf32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [2] : (tensor<23xi1>) -> tensor<1x23x23x2xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x23x23x2xf32>
    %16 = stablehlo.select %14, %13, %15 : tensor<1x23x23x2xi1>, tensor<1x23x23x2xf32>
    return %16, %5 : tensor<1x23x23x2xf32>, tensor<23x1xi32>
  }
  func.func private @_take_1(%arg0: tensor<23x1xi32>, %arg1: tensor<1x23x23x2xf32>) -> tensor<1x23x12x2xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x23x12x2xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1, 3], inserted_window_dims = [2], scatter_dims_to_operand_dims = [2], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<1x23x12x2xf32>, tensor<23x1xi32>, tensor<1x23x23x2xf32>) -> tensor<1x23x12x2xf32>
    return %1 : tensor<1x23x12x2xf32>
  }
  func.func private @_take_2(%arg0: tensor<23x1xi32>, %arg1: tensor<1x23x12x2xf32>) -> tensor<1x12x12x2xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x12x12x2xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 2, 3], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<1x12x12x2xf32>, tensor<23x1xi32>, tensor<1x23x12x2xf32>) -> tensor<1x12x12x2xf32>
    return %1 : tensor<1x12x12x2xf32>
  }
}
