// The function that a tester looks for stays, the one that nobody needs goes.
// RUN: shard-reduce %s --opt-reduction-pass='opt-pass=symbol-dce test=%S/Inputs/has-a-cosine.sh' | FileCheck %s
// What is not interesting is not made: without @helper the cosine would be gone.
// RUN: shard-reduce %s --opt-reduction-pass='opt-pass=inline,symbol-dce,canonicalize test=%S/Inputs/has-a-cosine.sh' | FileCheck %s --check-prefix=KEPT
// CHECK-NOT: @nobodys
// CHECK:     func.func private @helper(
// CHECK:       stablehlo.cosine
// KEPT:      stablehlo.cosine
module {
  func.func private @nobodys(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.sine %x : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
  func.func private @helper(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.cosine %x : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = call @helper(%x) : (tensor<8xf32>) -> tensor<8xf32>
    return %x : tensor<8xf32>
  }
}
