// RUN: shard-run %s --check --seed=1
// RUN: shard-run %s --check --seed=2 --mesh=x=3
// RUN: shard-run %s --check --seed=3 --sizes=0:0=1,0,30,1 --sizes=1:0=8,9,7,8
// RUN: shard-opt %s --spmd-import --spmd-raise --spmd-propagate --spmd-partition --spmd-communicate | FileCheck %s
// jax.lax.associative_scan of (a, b) -> (a a', a' b + b') along the cut dim, as JAX prints it: each level reads every
// other row and puts one row before the rest. Rows stay where they are but for one or two at each cut.
// CHECK-NOT: all_gather
// CHECK-NOT: all_to_all
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<32x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<32x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<32x6xf32> {jax.result_info = "result[0]"}, tensor<32x6xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.slice %arg0 [0:31:2, 0:6] : (tensor<32x6xf32>) -> tensor<16x6xf32>
    %1 = stablehlo.slice %arg1 [0:31:2, 0:6] : (tensor<32x6xf32>) -> tensor<16x6xf32>
    %2 = stablehlo.slice %arg0 [1:32:2, 0:6] : (tensor<32x6xf32>) -> tensor<16x6xf32>
    %3 = stablehlo.slice %arg1 [1:32:2, 0:6] : (tensor<32x6xf32>) -> tensor<16x6xf32>
    %4 = stablehlo.multiply %0, %2 : tensor<16x6xf32>
    %5 = stablehlo.multiply %2, %1 : tensor<16x6xf32>
    %6 = stablehlo.add %5, %3 : tensor<16x6xf32>
    %7 = stablehlo.slice %4 [0:15:2, 0:6] : (tensor<16x6xf32>) -> tensor<8x6xf32>
    %8 = stablehlo.slice %6 [0:15:2, 0:6] : (tensor<16x6xf32>) -> tensor<8x6xf32>
    %9 = stablehlo.slice %4 [1:16:2, 0:6] : (tensor<16x6xf32>) -> tensor<8x6xf32>
    %10 = stablehlo.slice %6 [1:16:2, 0:6] : (tensor<16x6xf32>) -> tensor<8x6xf32>
    %11 = stablehlo.multiply %7, %9 : tensor<8x6xf32>
    %12 = stablehlo.multiply %9, %8 : tensor<8x6xf32>
    %13 = stablehlo.add %12, %10 : tensor<8x6xf32>
    %14 = stablehlo.slice %11 [0:7:2, 0:6] : (tensor<8x6xf32>) -> tensor<4x6xf32>
    %15 = stablehlo.slice %13 [0:7:2, 0:6] : (tensor<8x6xf32>) -> tensor<4x6xf32>
    %16 = stablehlo.slice %11 [1:8:2, 0:6] : (tensor<8x6xf32>) -> tensor<4x6xf32>
    %17 = stablehlo.slice %13 [1:8:2, 0:6] : (tensor<8x6xf32>) -> tensor<4x6xf32>
    %18 = stablehlo.multiply %14, %16 : tensor<4x6xf32>
    %19 = stablehlo.multiply %16, %15 : tensor<4x6xf32>
    %20 = stablehlo.add %19, %17 : tensor<4x6xf32>
    %21 = stablehlo.slice %18 [0:3:2, 0:6] : (tensor<4x6xf32>) -> tensor<2x6xf32>
    %22 = stablehlo.slice %20 [0:3:2, 0:6] : (tensor<4x6xf32>) -> tensor<2x6xf32>
    %23 = stablehlo.slice %18 [1:4:2, 0:6] : (tensor<4x6xf32>) -> tensor<2x6xf32>
    %24 = stablehlo.slice %20 [1:4:2, 0:6] : (tensor<4x6xf32>) -> tensor<2x6xf32>
    %25 = stablehlo.multiply %21, %23 : tensor<2x6xf32>
    %26 = stablehlo.multiply %23, %22 : tensor<2x6xf32>
    %27 = stablehlo.add %26, %24 : tensor<2x6xf32>
    %28 = stablehlo.slice %25 [0:1:2, 0:6] : (tensor<2x6xf32>) -> tensor<1x6xf32>
    %29 = stablehlo.slice %27 [0:1:2, 0:6] : (tensor<2x6xf32>) -> tensor<1x6xf32>
    %30 = stablehlo.slice %25 [1:2:2, 0:6] : (tensor<2x6xf32>) -> tensor<1x6xf32>
    %31 = stablehlo.slice %27 [1:2:2, 0:6] : (tensor<2x6xf32>) -> tensor<1x6xf32>
    %32 = stablehlo.multiply %28, %30 : tensor<1x6xf32>
    %33 = stablehlo.multiply %30, %29 : tensor<1x6xf32>
    %34 = stablehlo.add %33, %31 : tensor<1x6xf32>
    %35 = stablehlo.slice %32 [0:0, 0:6] : (tensor<1x6xf32>) -> tensor<0x6xf32>
    %36 = stablehlo.slice %34 [0:0, 0:6] : (tensor<1x6xf32>) -> tensor<0x6xf32>
    %37 = stablehlo.slice %25 [2:2:2, 0:6] : (tensor<2x6xf32>) -> tensor<0x6xf32>
    %38 = stablehlo.slice %27 [2:2:2, 0:6] : (tensor<2x6xf32>) -> tensor<0x6xf32>
    %39 = stablehlo.multiply %35, %37 : tensor<0x6xf32>
    %40 = stablehlo.multiply %37, %36 : tensor<0x6xf32>
    %41 = stablehlo.add %40, %38 : tensor<0x6xf32>
    %42 = stablehlo.slice %25 [0:1, 0:6] : (tensor<2x6xf32>) -> tensor<1x6xf32>
    %43 = stablehlo.concatenate %42, %39, dim = 0 : (tensor<1x6xf32>, tensor<0x6xf32>) -> tensor<1x6xf32>
    %44 = stablehlo.slice %27 [0:1, 0:6] : (tensor<2x6xf32>) -> tensor<1x6xf32>
    %45 = stablehlo.concatenate %44, %41, dim = 0 : (tensor<1x6xf32>, tensor<0x6xf32>) -> tensor<1x6xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.pad %43, %cst, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<1x6xf32>, tensor<f32>) -> tensor<2x6xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %47 = stablehlo.pad %32, %cst_0, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<1x6xf32>, tensor<f32>) -> tensor<2x6xf32>
    %48 = stablehlo.add %46, %47 : tensor<2x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %49 = stablehlo.pad %45, %cst_1, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<1x6xf32>, tensor<f32>) -> tensor<2x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.pad %34, %cst_2, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<1x6xf32>, tensor<f32>) -> tensor<2x6xf32>
    %51 = stablehlo.add %49, %50 : tensor<2x6xf32>
    %52 = stablehlo.slice %48 [0:1, 0:6] : (tensor<2x6xf32>) -> tensor<1x6xf32>
    %53 = stablehlo.slice %51 [0:1, 0:6] : (tensor<2x6xf32>) -> tensor<1x6xf32>
    %54 = stablehlo.slice %18 [2:4:2, 0:6] : (tensor<4x6xf32>) -> tensor<1x6xf32>
    %55 = stablehlo.slice %20 [2:4:2, 0:6] : (tensor<4x6xf32>) -> tensor<1x6xf32>
    %56 = stablehlo.multiply %52, %54 : tensor<1x6xf32>
    %57 = stablehlo.multiply %54, %53 : tensor<1x6xf32>
    %58 = stablehlo.add %57, %55 : tensor<1x6xf32>
    %59 = stablehlo.slice %18 [0:1, 0:6] : (tensor<4x6xf32>) -> tensor<1x6xf32>
    %60 = stablehlo.concatenate %59, %56, dim = 0 : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<2x6xf32>
    %61 = stablehlo.slice %20 [0:1, 0:6] : (tensor<4x6xf32>) -> tensor<1x6xf32>
    %62 = stablehlo.concatenate %61, %58, dim = 0 : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<2x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %63 = stablehlo.pad %60, %cst_3, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<2x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %64 = stablehlo.pad %48, %cst_4, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<2x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    %65 = stablehlo.add %63, %64 : tensor<4x6xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %66 = stablehlo.pad %62, %cst_5, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<2x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %67 = stablehlo.pad %51, %cst_6, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<2x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    %68 = stablehlo.add %66, %67 : tensor<4x6xf32>
    %69 = stablehlo.slice %65 [0:3, 0:6] : (tensor<4x6xf32>) -> tensor<3x6xf32>
    %70 = stablehlo.slice %68 [0:3, 0:6] : (tensor<4x6xf32>) -> tensor<3x6xf32>
    %71 = stablehlo.slice %11 [2:8:2, 0:6] : (tensor<8x6xf32>) -> tensor<3x6xf32>
    %72 = stablehlo.slice %13 [2:8:2, 0:6] : (tensor<8x6xf32>) -> tensor<3x6xf32>
    %73 = stablehlo.multiply %69, %71 : tensor<3x6xf32>
    %74 = stablehlo.multiply %71, %70 : tensor<3x6xf32>
    %75 = stablehlo.add %74, %72 : tensor<3x6xf32>
    %76 = stablehlo.slice %11 [0:1, 0:6] : (tensor<8x6xf32>) -> tensor<1x6xf32>
    %77 = stablehlo.concatenate %76, %73, dim = 0 : (tensor<1x6xf32>, tensor<3x6xf32>) -> tensor<4x6xf32>
    %78 = stablehlo.slice %13 [0:1, 0:6] : (tensor<8x6xf32>) -> tensor<1x6xf32>
    %79 = stablehlo.concatenate %78, %75, dim = 0 : (tensor<1x6xf32>, tensor<3x6xf32>) -> tensor<4x6xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %80 = stablehlo.pad %77, %cst_7, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<8x6xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %81 = stablehlo.pad %65, %cst_8, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<8x6xf32>
    %82 = stablehlo.add %80, %81 : tensor<8x6xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %83 = stablehlo.pad %79, %cst_9, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<8x6xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %84 = stablehlo.pad %68, %cst_10, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<8x6xf32>
    %85 = stablehlo.add %83, %84 : tensor<8x6xf32>
    %86 = stablehlo.slice %82 [0:7, 0:6] : (tensor<8x6xf32>) -> tensor<7x6xf32>
    %87 = stablehlo.slice %85 [0:7, 0:6] : (tensor<8x6xf32>) -> tensor<7x6xf32>
    %88 = stablehlo.slice %4 [2:16:2, 0:6] : (tensor<16x6xf32>) -> tensor<7x6xf32>
    %89 = stablehlo.slice %6 [2:16:2, 0:6] : (tensor<16x6xf32>) -> tensor<7x6xf32>
    %90 = stablehlo.multiply %86, %88 : tensor<7x6xf32>
    %91 = stablehlo.multiply %88, %87 : tensor<7x6xf32>
    %92 = stablehlo.add %91, %89 : tensor<7x6xf32>
    %93 = stablehlo.slice %4 [0:1, 0:6] : (tensor<16x6xf32>) -> tensor<1x6xf32>
    %94 = stablehlo.concatenate %93, %90, dim = 0 : (tensor<1x6xf32>, tensor<7x6xf32>) -> tensor<8x6xf32>
    %95 = stablehlo.slice %6 [0:1, 0:6] : (tensor<16x6xf32>) -> tensor<1x6xf32>
    %96 = stablehlo.concatenate %95, %92, dim = 0 : (tensor<1x6xf32>, tensor<7x6xf32>) -> tensor<8x6xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %97 = stablehlo.pad %94, %cst_11, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<8x6xf32>, tensor<f32>) -> tensor<16x6xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %98 = stablehlo.pad %82, %cst_12, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<8x6xf32>, tensor<f32>) -> tensor<16x6xf32>
    %99 = stablehlo.add %97, %98 : tensor<16x6xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %100 = stablehlo.pad %96, %cst_13, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<8x6xf32>, tensor<f32>) -> tensor<16x6xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %101 = stablehlo.pad %85, %cst_14, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<8x6xf32>, tensor<f32>) -> tensor<16x6xf32>
    %102 = stablehlo.add %100, %101 : tensor<16x6xf32>
    %103 = stablehlo.slice %99 [0:15, 0:6] : (tensor<16x6xf32>) -> tensor<15x6xf32>
    %104 = stablehlo.slice %102 [0:15, 0:6] : (tensor<16x6xf32>) -> tensor<15x6xf32>
    %105 = stablehlo.slice %arg0 [2:32:2, 0:6] : (tensor<32x6xf32>) -> tensor<15x6xf32>
    %106 = stablehlo.slice %arg1 [2:32:2, 0:6] : (tensor<32x6xf32>) -> tensor<15x6xf32>
    %107 = stablehlo.multiply %103, %105 : tensor<15x6xf32>
    %108 = stablehlo.multiply %105, %104 : tensor<15x6xf32>
    %109 = stablehlo.add %108, %106 : tensor<15x6xf32>
    %110 = stablehlo.slice %arg0 [0:1, 0:6] : (tensor<32x6xf32>) -> tensor<1x6xf32>
    %111 = stablehlo.concatenate %110, %107, dim = 0 : (tensor<1x6xf32>, tensor<15x6xf32>) -> tensor<16x6xf32>
    %112 = stablehlo.slice %arg1 [0:1, 0:6] : (tensor<32x6xf32>) -> tensor<1x6xf32>
    %113 = stablehlo.concatenate %112, %109, dim = 0 : (tensor<1x6xf32>, tensor<15x6xf32>) -> tensor<16x6xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %114 = stablehlo.pad %111, %cst_15, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<16x6xf32>, tensor<f32>) -> tensor<32x6xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %115 = stablehlo.pad %99, %cst_16, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<16x6xf32>, tensor<f32>) -> tensor<32x6xf32>
    %116 = stablehlo.add %114, %115 : tensor<32x6xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %117 = stablehlo.pad %113, %cst_17, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<16x6xf32>, tensor<f32>) -> tensor<32x6xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %118 = stablehlo.pad %102, %cst_18, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<16x6xf32>, tensor<f32>) -> tensor<32x6xf32>
    %119 = stablehlo.add %117, %118 : tensor<32x6xf32>
    return %116, %119 : tensor<32x6xf32>, tensor<32x6xf32>
  }
