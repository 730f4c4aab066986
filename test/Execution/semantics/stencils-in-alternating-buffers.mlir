// RUN: shard-run %s --check
// RUN: shard-run %s --check --sizes=0:0=0,7,24,1
// RUN: shard-run %s --check --mesh=x=3
// RUN: shard-run %s --check --mesh=x=1

// Loops that write over what they exchange, two fields each: what is written is read again in the same turn; one loop is in
// another, so that it begins where it ended; one has no turns; and the block from before a loop is wanted behind it.
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func private @roll(%y: tensor<32x16xf32>) -> tensor<32x16xf32> {
    %a = stablehlo.slice %y [30:32, 0:16] : (tensor<32x16xf32>) -> tensor<2x16xf32>
    %b = stablehlo.slice %y [0:30, 0:16] : (tensor<32x16xf32>) -> tensor<30x16xf32>
    %r = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2x16xf32>, tensor<30x16xf32>) -> tensor<32x16xf32>
    return %r : tensor<32x16xf32>
  }
  func.func private @roll_back(%y: tensor<32x16xf32>) -> tensor<32x16xf32> {
    %a = stablehlo.slice %y [1:32, 0:16] : (tensor<32x16xf32>) -> tensor<31x16xf32>
    %b = stablehlo.slice %y [0:1, 0:16] : (tensor<32x16xf32>) -> tensor<1x16xf32>
    %r = stablehlo.concatenate %a, %b, dim = 0 : (tensor<31x16xf32>, tensor<1x16xf32>) -> tensor<32x16xf32>
    return %r : tensor<32x16xf32>
  }
  func.func private @turns(%x: tensor<32x16xf32>, %z: tensor<32x16xf32>, %n: tensor<i32>)
      -> (tensor<32x16xf32>, tensor<32x16xf32>, tensor<f32>) {
    %i0 = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %half = stablehlo.constant dense<0.5> : tensor<32x16xf32>
    %0:4 = stablehlo.while(%i = %i0, %y = %x, %w = %z, %sum = %none)
        : tensor<i32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<f32>
    cond {
      %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %r = func.call @roll(%y) : (tensor<32x16xf32>) -> tensor<32x16xf32>
      %t = stablehlo.subtract %r, %y : tensor<32x16xf32>
      %u = stablehlo.multiply %t, %half : tensor<32x16xf32>
      %s = func.call @roll_back(%w) : (tensor<32x16xf32>) -> tensor<32x16xf32>
      %v0 = stablehlo.add %s, %u : tensor<32x16xf32>
      %v = stablehlo.multiply %v0, %half : tensor<32x16xf32>
      %part = stablehlo.reduce(%v init: %none) applies stablehlo.maximum across dimensions = [0, 1]
          : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
      %more = stablehlo.add %sum, %part : tensor<f32>
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %u, %v, %more : tensor<i32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<f32>
    }
    return %0#1, %0#2, %0#3 : tensor<32x16xf32>, tensor<32x16xf32>, tensor<f32>
  }
  func.func @main(%x: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<32x16xf32>, tensor<32x16xf32>, tensor<f32>, tensor<32x16xf32>, tensor<32x16xf32>) {
    %i0 = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %twice = stablehlo.add %x, %x : tensor<32x16xf32>
    %0:4 = stablehlo.while(%i = %i0, %y = %twice, %w = %x, %sum = %none)
        : tensor<i32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<f32>
    cond {
      %more = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %1:3 = func.call @turns(%y, %w, %three)
          : (tensor<32x16xf32>, tensor<32x16xf32>, tensor<i32>) -> (tensor<32x16xf32>, tensor<32x16xf32>, tensor<f32>)
      %s = stablehlo.add %sum, %1#2 : tensor<f32>
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %1#0, %1#1, %s : tensor<i32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<f32>
    }
    %3:3 = func.call @turns(%twice, %0#1, %three)
        : (tensor<32x16xf32>, tensor<32x16xf32>, tensor<i32>) -> (tensor<32x16xf32>, tensor<32x16xf32>, tensor<f32>)
    %2:3 = func.call @turns(%3#1, %x, %i0)
        : (tensor<32x16xf32>, tensor<32x16xf32>, tensor<i32>) -> (tensor<32x16xf32>, tensor<32x16xf32>, tensor<f32>)
    return %0#1, %3#0, %3#2, %2#0, %twice
        : tensor<32x16xf32>, tensor<32x16xf32>, tensor<f32>, tensor<32x16xf32>, tensor<32x16xf32>
  }
}
