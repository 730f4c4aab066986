// A loop begins with a value that the loop around it carries on as well, both out of branches: a line search in L-BFGS, as JAX prints it.
// RUN: shard-run %s --check=interpreter
module @jit_f {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.iota dim = 0 : tensor<9xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:4 = stablehlo.while(%iterArg = %0, %iterArg_0 = %c, %iterArg_1 = %arg0, %iterArg_2 = %arg1) : tensor<9xi32>, tensor<i32>, tensor<4xf32>, tensor<4xf32>
    cond {
      %c_3 = stablehlo.constant dense<9> : tensor<i32>
      %2 = stablehlo.compare LT, %iterArg_0, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_0) : (tensor<9xi32>, tensor<i32>) -> tensor<i32>
      %3:2 = func.call @closed_call(%iterArg_1, %iterArg_2, %2) : (tensor<4xf32>, tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>)
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %4 = stablehlo.add %iterArg_0, %c_3 : tensor<i32>
      stablehlo.return %iterArg, %4, %3#0, %3#1 : tensor<9xi32>, tensor<i32>, tensor<4xf32>, tensor<4xf32>
    }
    return %1#2, %1#3 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<9xi32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<9xi32>, tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
    return %1 : tensor<i32>
  }
  func.func private @closed_call(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %c = stablehlo.constant dense<7> : tensor<i32>
    %0 = stablehlo.compare LT, %arg2, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1 = stablehlo.convert %0 : (tensor<i1>) -> tensor<i32>
    %2:2 = "stablehlo.case"(%1) ({
      stablehlo.return %arg0, %arg1 : tensor<4xf32>, tensor<4xf32>
    }, {
      %c_0 = stablehlo.constant dense<5> : tensor<i32>
      %3 = stablehlo.compare GT, %arg2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %4 = stablehlo.convert %3 : (tensor<i1>) -> tensor<i32>
      %5 = "stablehlo.case"(%4) ({
        %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
        %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
        %8 = stablehlo.multiply %arg0, %7 : tensor<4xf32>
        stablehlo.return %8 : tensor<4xf32>
      }, {
        stablehlo.return %arg1 : tensor<4xf32>
      }) : (tensor<i32>) -> tensor<4xf32>
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      %6:3 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %5, %iterArg_3 = %c_1) : tensor<4xf32>, tensor<4xf32>, tensor<i32>
      cond {
        %c_4 = stablehlo.constant dense<3> : tensor<i32>
        %7 = stablehlo.compare LT, %iterArg_3, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %7 : tensor<i1>
      } do {
        %c_4 = stablehlo.constant dense<1> : tensor<i32>
        %7 = stablehlo.compare EQ, %iterArg_3, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %8 = stablehlo.convert %7 : (tensor<i1>) -> tensor<i32>
        %9 = "stablehlo.case"(%8) ({
          %11 = stablehlo.sine %iterArg_2 : tensor<4xf32>
          stablehlo.return %11 : tensor<4xf32>
        }, {
          %11 = stablehlo.add %iterArg_2, %iterArg : tensor<4xf32>
          stablehlo.return %11 : tensor<4xf32>
        }) : (tensor<i32>) -> tensor<4xf32>
        %c_5 = stablehlo.constant dense<1> : tensor<i32>
        %10 = stablehlo.add %iterArg_3, %c_5 : tensor<i32>
        stablehlo.return %iterArg, %9, %10 : tensor<4xf32>, tensor<4xf32>, tensor<i32>
      }
      stablehlo.return %6#1, %5 : tensor<4xf32>, tensor<4xf32>
    }) : (tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>)
    return %2#0, %2#1 : tensor<4xf32>, tensor<4xf32>
  }
}

