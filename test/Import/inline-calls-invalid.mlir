// RUN: shard-opt %s --spmd-inline-calls --split-input-file --verify-diagnostics

// expected-error @below {{module has no function @main, where a program begins}}
module {
  // expected-note @below {{there is @start; rename it to @main}}
  func.func @start(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// expected-note @below {{by way of @main}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @even(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// expected-error @below {{function @even calls itself, which a compiled program cannot}}
// expected-note @below {{by way of @even}}
func.func private @even(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @odd(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// expected-note @below {{by way of @odd}}
func.func private @odd(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @even(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @elsewhere(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{calls @elsewhere, which has no body}}
  %0 = call @elsewhere(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<2xf32>) -> !stablehlo.future<tensor<1xf32>> {
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%y: tensor<2xf32>):
    %1 = stablehlo.slice %y [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    stablehlo.return %1 : tensor<1xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<1xf32>>
  // expected-error @below {{unsupported: hands on '!stablehlo.future<tensor<1xf32>>'; await it with async_done where it is begun}}
  return %0 : !stablehlo.future<tensor<1xf32>>
}

// -----

// expected-error @below {{function @main has no body}}
func.func private @main(tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error @below {{function @main has 2 blocks, expected one; StableHLO branches with regions}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}
