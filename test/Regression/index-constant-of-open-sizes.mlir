// RUN: not shard-run %s --ranks=3 --dynamic=all 2>&1 | FileCheck %s
// The numbers that a program says are looked at where sizes are open: an index has no width, which crashed.
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<40x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<40x3x2xf32> {
    // CHECK: [[#@LINE+1]]:{{.*}} error: unsupported: result 0 of 'stablehlo.constant'{{.*}} has element type 'index'
    %shape = stablehlo.constant dense<[40, 3, 2]> : tensor<3xindex>
    %0 = stablehlo.dynamic_reshape %a, %shape : (tensor<40x6xf32>, tensor<3xindex>) -> tensor<40x3x2xf32>
    return %0 : tensor<40x3x2xf32>
  }
}
