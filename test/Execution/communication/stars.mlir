// RUN: shard-run %s --check --seed=1
// RUN: shard-run %s --check --seed=2 --mesh=i=3,j=1 --sizes=0:0=1,0,9
// RUN: shard-run %s --check --seed=3 --mesh=i=2,j=3 --sizes=0:0=3,7 --sizes=1:1=1,6,1
// RUN: shard-opt %s --spmd-import --spmd-raise --spmd-propagate --spmd-partition --spmd-communicate | FileCheck %s
// Stars with all kinds of edges, in a loop, on two cut dims: no corner travels that nobody reads. JAX printed it.
// CHECK: halo_exchange{{.*}} parts [#local.part<
  sdy.mesh @mesh = <["i"=2, "j"=2]> {stablehlo.mesh = {axes = [{name = "i", size = 2 : i64}, {name = "j", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {"j"}]>}, %arg1: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {"j"}]>}) -> (tensor<10x8xf32> {jax.result_info = "result[0]"}, tensor<10x8xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0, %iterArg_1 = %arg1) : tensor<i32>, tensor<10x8xf32>, tensor<10x8xf32>
    cond {
      %c_2 = stablehlo.constant dense<3> : tensor<i32>
      %1 = stablehlo.compare LT, %iterArg, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1:2 = func.call @closed_call(%iterArg_0, %iterArg_1) : (tensor<10x8xf32>, tensor<10x8xf32>) -> (tensor<10x8xf32>, tensor<10x8xf32>)
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %iterArg, %c_2 : tensor<i32>
      stablehlo.return %2, %1#0, %1#1 : tensor<i32>, tensor<10x8xf32>, tensor<10x8xf32>
    }
    return %0#1, %0#2 : tensor<10x8xf32>, tensor<10x8xf32>
  }
  func.func private @closed_call(%arg0: tensor<10x8xf32>, %arg1: tensor<10x8xf32>) -> (tensor<10x8xf32>, tensor<10x8xf32>) {
    %0 = call @_roll_static(%arg0) : (tensor<10x8xf32>) -> tensor<10x8xf32>
    %1 = call @_roll_static_0(%arg0) : (tensor<10x8xf32>) -> tensor<10x8xf32>
    %2 = stablehlo.add %0, %1 : tensor<10x8xf32>
    %3 = call @_roll_static_1(%arg0) : (tensor<10x8xf32>) -> tensor<10x8xf32>
    %4 = stablehlo.add %2, %3 : tensor<10x8xf32>
    %5 = call @_roll_static_2(%arg0) : (tensor<10x8xf32>) -> tensor<10x8xf32>
    %6 = stablehlo.add %4, %5 : tensor<10x8xf32>
    %cst = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10x8xf32>
    %8 = stablehlo.multiply %7, %6 : tensor<10x8xf32>
    %9 = stablehlo.subtract %8, %arg0 : tensor<10x8xf32>
    %cst_0 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<10x8xf32>
    %11 = stablehlo.multiply %10, %9 : tensor<10x8xf32>
    %12 = stablehlo.add %arg0, %11 : tensor<10x8xf32>
    %13 = call @_roll_static_3(%arg1) : (tensor<10x8xf32>) -> tensor<10x8xf32>
    %14 = call @_roll_static_2(%arg1) : (tensor<10x8xf32>) -> tensor<10x8xf32>
    %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<10x8xf32>
    %16 = stablehlo.multiply %15, %14 : tensor<10x8xf32>
    %17 = stablehlo.add %13, %16 : tensor<10x8xf32>
    %18 = call @_roll_static_4(%arg1) : (tensor<10x8xf32>) -> tensor<10x8xf32>
    %cst_2 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<10x8xf32>
    %20 = stablehlo.multiply %19, %18 : tensor<10x8xf32>
    %21 = stablehlo.add %17, %20 : tensor<10x8xf32>
    %cst_3 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<10x8xf32>
    %23 = stablehlo.multiply %22, %21 : tensor<10x8xf32>
    %24 = stablehlo.add %12, %23 : tensor<10x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %25 = call @_pad(%arg1, %c) : (tensor<10x8xf32>, tensor<i32>) -> tensor<12x10xf32>
    %26 = stablehlo.slice %25 [2:12, 1:9] : (tensor<12x10xf32>) -> tensor<10x8xf32>
    %27 = stablehlo.slice %25 [0:10, 1:9] : (tensor<12x10xf32>) -> tensor<10x8xf32>
    %28 = stablehlo.add %26, %27 : tensor<10x8xf32>
    %29 = stablehlo.slice %25 [1:11, 2:10] : (tensor<12x10xf32>) -> tensor<10x8xf32>
    %30 = stablehlo.add %28, %29 : tensor<10x8xf32>
    %31 = stablehlo.slice %25 [1:11, 0:8] : (tensor<12x10xf32>) -> tensor<10x8xf32>
    %32 = stablehlo.add %30, %31 : tensor<10x8xf32>
    %cst_4 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<10x8xf32>
    %34 = stablehlo.multiply %33, %arg1 : tensor<10x8xf32>
    %35 = stablehlo.subtract %32, %34 : tensor<10x8xf32>
    %cst_5 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<10x8xf32>
    %37 = stablehlo.multiply %36, %35 : tensor<10x8xf32>
    %38 = stablehlo.add %arg1, %37 : tensor<10x8xf32>
    %39 = call @_pad_5(%arg0) : (tensor<10x8xf32>) -> tensor<12x10xf32>
    %40 = stablehlo.slice %39 [2:12, 1:9] : (tensor<12x10xf32>) -> tensor<10x8xf32>
    %cst_6 = stablehlo.constant dense<3.000000e-01> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<10x8xf32>
    %42 = stablehlo.multiply %40, %41 : tensor<10x8xf32>
    %43 = stablehlo.slice %39 [0:10, 1:9] : (tensor<12x10xf32>) -> tensor<10x8xf32>
    %cst_7 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<10x8xf32>
    %45 = stablehlo.multiply %43, %44 : tensor<10x8xf32>
    %46 = stablehlo.add %42, %45 : tensor<10x8xf32>
    %47 = stablehlo.slice %39 [1:11, 2:10] : (tensor<12x10xf32>) -> tensor<10x8xf32>
    %cst_8 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<10x8xf32>
    %49 = stablehlo.multiply %47, %48 : tensor<10x8xf32>
    %50 = stablehlo.add %46, %49 : tensor<10x8xf32>
    %51 = stablehlo.slice %39 [1:11, 0:8] : (tensor<12x10xf32>) -> tensor<10x8xf32>
    %cst_9 = stablehlo.constant dense<4.000000e-01> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<10x8xf32>
    %53 = stablehlo.multiply %51, %52 : tensor<10x8xf32>
    %54 = stablehlo.add %50, %53 : tensor<10x8xf32>
    %55 = stablehlo.subtract %54, %arg0 : tensor<10x8xf32>
    %cst_10 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<10x8xf32>
    %57 = stablehlo.multiply %56, %55 : tensor<10x8xf32>
    %58 = stablehlo.add %38, %57 : tensor<10x8xf32>
    return %24, %58 : tensor<10x8xf32>, tensor<10x8xf32>
  }
  func.func private @_roll_static(%arg0: tensor<10x8xf32>) -> tensor<10x8xf32> {
    %0 = stablehlo.slice %arg0 [9:10, 0:8] : (tensor<10x8xf32>) -> tensor<1x8xf32>
    %1 = stablehlo.slice %arg0 [0:9, 0:8] : (tensor<10x8xf32>) -> tensor<9x8xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x8xf32>, tensor<9x8xf32>) -> tensor<10x8xf32>
    %3 = stablehlo.slice %2 [0:10, 0:8] : (tensor<10x8xf32>) -> tensor<10x8xf32>
    %4 = stablehlo.slice %2 [0:10, 0:0] : (tensor<10x8xf32>) -> tensor<10x0xf32>
    %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<10x8xf32>, tensor<10x0xf32>) -> tensor<10x8xf32>
    return %5 : tensor<10x8xf32>
  }
  func.func private @_roll_static_0(%arg0: tensor<10x8xf32>) -> tensor<10x8xf32> {
    %0 = stablehlo.slice %arg0 [1:10, 0:8] : (tensor<10x8xf32>) -> tensor<9x8xf32>
    %1 = stablehlo.slice %arg0 [0:1, 0:8] : (tensor<10x8xf32>) -> tensor<1x8xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<9x8xf32>, tensor<1x8xf32>) -> tensor<10x8xf32>
    %3 = stablehlo.slice %2 [0:10, 0:8] : (tensor<10x8xf32>) -> tensor<10x8xf32>
    %4 = stablehlo.slice %2 [0:10, 0:0] : (tensor<10x8xf32>) -> tensor<10x0xf32>
    %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<10x8xf32>, tensor<10x0xf32>) -> tensor<10x8xf32>
    return %5 : tensor<10x8xf32>
  }
  func.func private @_roll_static_1(%arg0: tensor<10x8xf32>) -> tensor<10x8xf32> {
    %0 = stablehlo.slice %arg0 [0:10, 0:8] : (tensor<10x8xf32>) -> tensor<10x8xf32>
    %1 = stablehlo.slice %arg0 [0:0, 0:8] : (tensor<10x8xf32>) -> tensor<0x8xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<10x8xf32>, tensor<0x8xf32>) -> tensor<10x8xf32>
    %3 = stablehlo.slice %2 [0:10, 7:8] : (tensor<10x8xf32>) -> tensor<10x1xf32>
    %4 = stablehlo.slice %2 [0:10, 0:7] : (tensor<10x8xf32>) -> tensor<10x7xf32>
    %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<10x1xf32>, tensor<10x7xf32>) -> tensor<10x8xf32>
    return %5 : tensor<10x8xf32>
  }
  func.func private @_roll_static_2(%arg0: tensor<10x8xf32>) -> tensor<10x8xf32> {
    %0 = stablehlo.slice %arg0 [0:10, 0:8] : (tensor<10x8xf32>) -> tensor<10x8xf32>
    %1 = stablehlo.slice %arg0 [0:0, 0:8] : (tensor<10x8xf32>) -> tensor<0x8xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<10x8xf32>, tensor<0x8xf32>) -> tensor<10x8xf32>
    %3 = stablehlo.slice %2 [0:10, 1:8] : (tensor<10x8xf32>) -> tensor<10x7xf32>
    %4 = stablehlo.slice %2 [0:10, 0:1] : (tensor<10x8xf32>) -> tensor<10x1xf32>
    %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<10x7xf32>, tensor<10x1xf32>) -> tensor<10x8xf32>
    return %5 : tensor<10x8xf32>
  }
  func.func private @_roll_static_3(%arg0: tensor<10x8xf32>) -> tensor<10x8xf32> {
    %0 = stablehlo.slice %arg0 [8:10, 0:8] : (tensor<10x8xf32>) -> tensor<2x8xf32>
    %1 = stablehlo.slice %arg0 [0:8, 0:8] : (tensor<10x8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<10x8xf32>
    %3 = stablehlo.slice %2 [0:10, 0:8] : (tensor<10x8xf32>) -> tensor<10x8xf32>
    %4 = stablehlo.slice %2 [0:10, 0:0] : (tensor<10x8xf32>) -> tensor<10x0xf32>
    %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<10x8xf32>, tensor<10x0xf32>) -> tensor<10x8xf32>
    return %5 : tensor<10x8xf32>
  }
  func.func private @_roll_static_4(%arg0: tensor<10x8xf32>) -> tensor<10x8xf32> {
    %0 = stablehlo.slice %arg0 [1:10, 0:8] : (tensor<10x8xf32>) -> tensor<9x8xf32>
    %1 = stablehlo.slice %arg0 [0:1, 0:8] : (tensor<10x8xf32>) -> tensor<1x8xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<9x8xf32>, tensor<1x8xf32>) -> tensor<10x8xf32>
    %3 = stablehlo.slice %2 [0:10, 1:8] : (tensor<10x8xf32>) -> tensor<10x7xf32>
    %4 = stablehlo.slice %2 [0:10, 0:1] : (tensor<10x8xf32>) -> tensor<10x1xf32>
    %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<10x7xf32>, tensor<10x1xf32>) -> tensor<10x8xf32>
    return %5 : tensor<10x8xf32>
  }
  func.func private @_pad(%arg0: tensor<10x8xf32>, %arg1: tensor<i32>) -> tensor<12x10xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [1, 1], high = [1, 1], interior = [0, 0] : (tensor<10x8xf32>, tensor<f32>) -> tensor<12x10xf32>
    return %1 : tensor<12x10xf32>
  }
  func.func private @_pad_5(%arg0: tensor<10x8xf32>) -> tensor<12x10xf32> {
    %0 = stablehlo.slice %arg0 [0:1, 0:8] : (tensor<10x8xf32>) -> tensor<1x8xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 2] : (tensor<1x8xf32>) -> tensor<1x1x8xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x1x8xf32>) -> tensor<1x8xf32>
    %3 = stablehlo.slice %arg0 [9:10, 0:8] : (tensor<10x8xf32>) -> tensor<1x8xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 2] : (tensor<1x8xf32>) -> tensor<1x1x8xf32>
    %5 = stablehlo.reshape %4 : (tensor<1x1x8xf32>) -> tensor<1x8xf32>
    %6 = stablehlo.concatenate %2, %arg0, %5, dim = 0 : (tensor<1x8xf32>, tensor<10x8xf32>, tensor<1x8xf32>) -> tensor<12x8xf32>
    %7 = stablehlo.slice %6 [0:12, 0:1] : (tensor<12x8xf32>) -> tensor<12x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<12x1xf32>) -> tensor<12x1x1xf32>
    %9 = stablehlo.reshape %8 : (tensor<12x1x1xf32>) -> tensor<12x1xf32>
    %10 = stablehlo.slice %6 [0:12, 7:8] : (tensor<12x8xf32>) -> tensor<12x1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<12x1xf32>) -> tensor<12x1x1xf32>
    %12 = stablehlo.reshape %11 : (tensor<12x1x1xf32>) -> tensor<12x1xf32>
    %13 = stablehlo.concatenate %9, %6, %12, dim = 1 : (tensor<12x1xf32>, tensor<12x8xf32>, tensor<12x1xf32>) -> tensor<12x10xf32>
    return %13 : tensor<12x10xf32>
  }
