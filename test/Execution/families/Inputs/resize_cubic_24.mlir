module @jit_program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x12x12x2xf32>, %arg1: tensor<1x24x24x2xf32>) -> (tensor<1x24x24x2xf32> {jax.result_info = "result[0]"}, tensor<1x12x12x2xf32> {jax.result_info = "result[1]"}) {
    %0:3 = call @_resize(%arg0) : (tensor<1x12x12x2xf32>) -> (tensor<1x24x24x2xf32>, tensor<12x24xf32>, tensor<12x24xf32>)
    %1 = call @_resize_3(%0#1, %0#2, %arg1) : (tensor<12x24xf32>, tensor<12x24xf32>, tensor<1x24x24x2xf32>) -> tensor<1x12x12x2xf32>
    return %0#0, %1 : tensor<1x24x24x2xf32>, tensor<1x12x12x2xf32>
  }
  func.func private @_resize(%arg0: tensor<1x12x12x2xf32>) -> (tensor<1x24x24x2xf32>, tensor<12x24xf32>, tensor<12x24xf32>) {
    %0 = stablehlo.iota dim = 0 : tensor<24xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %2 = stablehlo.add %0, %1 : tensor<24xf32>
    %cst_0 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<24xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %6 = stablehlo.subtract %4, %5 : tensor<24xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %8 = stablehlo.subtract %6, %7 : tensor<24xf32>
    %9 = stablehlo.iota dim = 0 : tensor<12xf32>
    %10 = stablehlo.broadcast_in_dim %8, dims = [1] : (tensor<24xf32>) -> tensor<1x24xf32>
    %11 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<12xf32>) -> tensor<12x1xf32>
    %12 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<1x24xf32>) -> tensor<12x24xf32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<12x1xf32>) -> tensor<12x24xf32>
    %14 = stablehlo.subtract %12, %13 : tensor<12x24xf32>
    %15 = stablehlo.abs %14 : tensor<12x24xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %17 = stablehlo.divide %15, %16 : tensor<12x24xf32>
    %cst_4 = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %19 = stablehlo.multiply %18, %17 : tensor<12x24xf32>
    %cst_5 = stablehlo.constant dense<2.500000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %21 = stablehlo.subtract %19, %20 : tensor<12x24xf32>
    %22 = stablehlo.multiply %21, %17 : tensor<12x24xf32>
    %23 = stablehlo.multiply %22, %17 : tensor<12x24xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %25 = stablehlo.add %23, %24 : tensor<12x24xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %27 = stablehlo.compare GE, %17, %26, FLOAT : (tensor<12x24xf32>, tensor<12x24xf32>) -> tensor<12x24xi1>
    %cst_8 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %29 = stablehlo.multiply %28, %17 : tensor<12x24xf32>
    %cst_9 = stablehlo.constant dense<2.500000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %31 = stablehlo.add %29, %30 : tensor<12x24xf32>
    %32 = stablehlo.multiply %31, %17 : tensor<12x24xf32>
    %cst_10 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %34 = stablehlo.subtract %32, %33 : tensor<12x24xf32>
    %35 = stablehlo.multiply %34, %17 : tensor<12x24xf32>
    %cst_11 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %37 = stablehlo.add %35, %36 : tensor<12x24xf32>
    %38 = call @_where(%27, %37, %25) : (tensor<12x24xi1>, tensor<12x24xf32>, tensor<12x24xf32>) -> tensor<12x24xf32>
    %cst_12 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %40 = stablehlo.compare GE, %17, %39, FLOAT : (tensor<12x24xf32>, tensor<12x24xf32>) -> tensor<12x24xi1>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = call @_where_0(%40, %cst_13, %38) : (tensor<12x24xi1>, tensor<f32>, tensor<12x24xf32>) -> tensor<12x24xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.reduce(%41 init: %cst_14) applies stablehlo.add across dimensions = [0] : (tensor<12x24xf32>, tensor<f32>) -> tensor<24xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [1] : (tensor<24xf32>) -> tensor<1x24xf32>
    %44 = stablehlo.abs %43 : tensor<1x24xf32>
    %cst_15 = stablehlo.constant dense<1.1920929E-4> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<1x24xf32>
    %46 = stablehlo.compare GT, %44, %45, FLOAT : (tensor<1x24xf32>, tensor<1x24xf32>) -> tensor<1x24xi1>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<1x24xf32>
    %48 = stablehlo.compare NE, %43, %47, FLOAT : (tensor<1x24xf32>, tensor<1x24xf32>) -> tensor<1x24xi1>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %49 = call @_where_1(%48, %43, %c) : (tensor<1x24xi1>, tensor<1x24xf32>, tensor<i32>) -> tensor<1x24xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0, 1] : (tensor<1x24xf32>) -> tensor<12x24xf32>
    %51 = stablehlo.divide %41, %50 : tensor<12x24xf32>
    %c_17 = stablehlo.constant dense<0> : tensor<i32>
    %52 = call @_where_2(%46, %51, %c_17) : (tensor<1x24xi1>, tensor<12x24xf32>, tensor<i32>) -> tensor<12x24xf32>
    %cst_18 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %54 = stablehlo.compare GE, %8, %53, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_19 = stablehlo.constant dense<1.150000e+01> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %56 = stablehlo.compare LE, %8, %55, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %57 = stablehlo.and %54, %56 : tensor<24xi1>
    %58 = stablehlo.broadcast_in_dim %57, dims = [1] : (tensor<24xi1>) -> tensor<1x24xi1>
    %c_20 = stablehlo.constant dense<0> : tensor<i32>
    %59 = call @_where_2(%58, %52, %c_20) : (tensor<1x24xi1>, tensor<12x24xf32>, tensor<i32>) -> tensor<12x24xf32>
    %60 = stablehlo.iota dim = 0 : tensor<24xf32>
    %cst_21 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %62 = stablehlo.add %60, %61 : tensor<24xf32>
    %cst_22 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %64 = stablehlo.multiply %62, %63 : tensor<24xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %66 = stablehlo.subtract %64, %65 : tensor<24xf32>
    %cst_24 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %68 = stablehlo.subtract %66, %67 : tensor<24xf32>
    %69 = stablehlo.iota dim = 0 : tensor<12xf32>
    %70 = stablehlo.broadcast_in_dim %68, dims = [1] : (tensor<24xf32>) -> tensor<1x24xf32>
    %71 = stablehlo.broadcast_in_dim %69, dims = [0] : (tensor<12xf32>) -> tensor<12x1xf32>
    %72 = stablehlo.broadcast_in_dim %70, dims = [0, 1] : (tensor<1x24xf32>) -> tensor<12x24xf32>
    %73 = stablehlo.broadcast_in_dim %71, dims = [0, 1] : (tensor<12x1xf32>) -> tensor<12x24xf32>
    %74 = stablehlo.subtract %72, %73 : tensor<12x24xf32>
    %75 = stablehlo.abs %74 : tensor<12x24xf32>
    %cst_25 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %77 = stablehlo.divide %75, %76 : tensor<12x24xf32>
    %cst_26 = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %79 = stablehlo.multiply %78, %77 : tensor<12x24xf32>
    %cst_27 = stablehlo.constant dense<2.500000e+00> : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %81 = stablehlo.subtract %79, %80 : tensor<12x24xf32>
    %82 = stablehlo.multiply %81, %77 : tensor<12x24xf32>
    %83 = stablehlo.multiply %82, %77 : tensor<12x24xf32>
    %cst_28 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %85 = stablehlo.add %83, %84 : tensor<12x24xf32>
    %cst_29 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %87 = stablehlo.compare GE, %77, %86, FLOAT : (tensor<12x24xf32>, tensor<12x24xf32>) -> tensor<12x24xi1>
    %cst_30 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %89 = stablehlo.multiply %88, %77 : tensor<12x24xf32>
    %cst_31 = stablehlo.constant dense<2.500000e+00> : tensor<f32>
    %90 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %91 = stablehlo.add %89, %90 : tensor<12x24xf32>
    %92 = stablehlo.multiply %91, %77 : tensor<12x24xf32>
    %cst_32 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %94 = stablehlo.subtract %92, %93 : tensor<12x24xf32>
    %95 = stablehlo.multiply %94, %77 : tensor<12x24xf32>
    %cst_33 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %97 = stablehlo.add %95, %96 : tensor<12x24xf32>
    %98 = call @_where(%87, %97, %85) : (tensor<12x24xi1>, tensor<12x24xf32>, tensor<12x24xf32>) -> tensor<12x24xf32>
    %cst_34 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %99 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %100 = stablehlo.compare GE, %77, %99, FLOAT : (tensor<12x24xf32>, tensor<12x24xf32>) -> tensor<12x24xi1>
    %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %101 = call @_where_0(%100, %cst_35, %98) : (tensor<12x24xi1>, tensor<f32>, tensor<12x24xf32>) -> tensor<12x24xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %102 = stablehlo.reduce(%101 init: %cst_36) applies stablehlo.add across dimensions = [0] : (tensor<12x24xf32>, tensor<f32>) -> tensor<24xf32>
    %103 = stablehlo.broadcast_in_dim %102, dims = [1] : (tensor<24xf32>) -> tensor<1x24xf32>
    %104 = stablehlo.abs %103 : tensor<1x24xf32>
    %cst_37 = stablehlo.constant dense<1.1920929E-4> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<1x24xf32>
    %106 = stablehlo.compare GT, %104, %105, FLOAT : (tensor<1x24xf32>, tensor<1x24xf32>) -> tensor<1x24xi1>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %107 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<1x24xf32>
    %108 = stablehlo.compare NE, %103, %107, FLOAT : (tensor<1x24xf32>, tensor<1x24xf32>) -> tensor<1x24xi1>
    %c_39 = stablehlo.constant dense<1> : tensor<i32>
    %109 = call @_where_1(%108, %103, %c_39) : (tensor<1x24xi1>, tensor<1x24xf32>, tensor<i32>) -> tensor<1x24xf32>
    %110 = stablehlo.broadcast_in_dim %109, dims = [0, 1] : (tensor<1x24xf32>) -> tensor<12x24xf32>
    %111 = stablehlo.divide %101, %110 : tensor<12x24xf32>
    %c_40 = stablehlo.constant dense<0> : tensor<i32>
    %112 = call @_where_2(%106, %111, %c_40) : (tensor<1x24xi1>, tensor<12x24xf32>, tensor<i32>) -> tensor<12x24xf32>
    %cst_41 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %113 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %114 = stablehlo.compare GE, %68, %113, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_42 = stablehlo.constant dense<1.150000e+01> : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %116 = stablehlo.compare LE, %68, %115, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %117 = stablehlo.and %114, %116 : tensor<24xi1>
    %118 = stablehlo.broadcast_in_dim %117, dims = [1] : (tensor<24xi1>) -> tensor<1x24xi1>
    %c_43 = stablehlo.constant dense<0> : tensor<i32>
    %119 = call @_where_2(%118, %112, %c_43) : (tensor<1x24xi1>, tensor<12x24xf32>, tensor<i32>) -> tensor<12x24xf32>
    %120 = stablehlo.dot_general %59, %arg0, contracting_dims = [0] x [1], precision = [HIGHEST, HIGHEST] : (tensor<12x24xf32>, tensor<1x12x12x2xf32>) -> tensor<24x1x12x2xf32>
    %121 = stablehlo.dot_general %120, %119, contracting_dims = [2] x [0], precision = [HIGHEST, HIGHEST] : (tensor<24x1x12x2xf32>, tensor<12x24xf32>) -> tensor<24x1x2x24xf32>
    %122 = stablehlo.transpose %121, dims = [1, 0, 3, 2] : (tensor<24x1x2x24xf32>) -> tensor<1x24x24x2xf32>
    return %122, %59, %119 : tensor<1x24x24x2xf32>, tensor<12x24xf32>, tensor<12x24xf32>
  }
  func.func private @_where(%arg0: tensor<12x24xi1>, %arg1: tensor<12x24xf32>, %arg2: tensor<12x24xf32>) -> tensor<12x24xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<12x24xi1>, tensor<12x24xf32>
    return %0 : tensor<12x24xf32>
  }
  func.func private @_where_0(%arg0: tensor<12x24xi1>, %arg1: tensor<f32>, %arg2: tensor<12x24xf32>) -> tensor<12x24xf32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<12x24xi1>, tensor<12x24xf32>
    return %2 : tensor<12x24xf32>
  }
  func.func private @_where_1(%arg0: tensor<1x24xi1>, %arg1: tensor<1x24xf32>, %arg2: tensor<i32>) -> tensor<1x24xf32> {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x24xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<1x24xi1>, tensor<1x24xf32>
    return %2 : tensor<1x24xf32>
  }
  func.func private @_where_2(%arg0: tensor<1x24xi1>, %arg1: tensor<12x24xf32>, %arg2: tensor<i32>) -> tensor<12x24xf32> {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<1x24xi1>) -> tensor<12x24xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<12x24xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<12x24xi1>, tensor<12x24xf32>
    return %3 : tensor<12x24xf32>
  }
  func.func private @_resize_3(%arg0: tensor<12x24xf32>, %arg1: tensor<12x24xf32>, %arg2: tensor<1x24x24x2xf32>) -> tensor<1x12x12x2xf32> {
    %0 = stablehlo.transpose %arg2, dims = [1, 0, 3, 2] : (tensor<1x24x24x2xf32>) -> tensor<24x1x2x24xf32>
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [3] x [1], precision = [HIGHEST, HIGHEST] : (tensor<24x1x2x24xf32>, tensor<12x24xf32>) -> tensor<24x1x2x12xf32>
    %2 = stablehlo.transpose %1, dims = [0, 1, 3, 2] : (tensor<24x1x2x12xf32>) -> tensor<24x1x12x2xf32>
    %3 = stablehlo.dot_general %2, %arg0, contracting_dims = [0] x [1], precision = [HIGHEST, HIGHEST] : (tensor<24x1x12x2xf32>, tensor<12x24xf32>) -> tensor<1x12x2x12xf32>
    %4 = stablehlo.transpose %3, dims = [0, 3, 1, 2] : (tensor<1x12x2x12xf32>) -> tensor<1x12x12x2xf32>
    return %4 : tensor<1x12x12x2xf32>
  }
}
