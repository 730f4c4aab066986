// RUN: shard-run %s --ranks=1 --input=0x4xf32=1 --input=i32=2 --check=interpreter
// RUN: shard-run %s --ranks=3 --input=0x4xf32=1 --input=i32=0 --check --check=interpreter

// Both loops carry a tensor without elements. Its copies began and ended in the same buffer, which bufferization
// refused: 'scf.for' op not bufferizable under the given constraints: cannot avoid RaW conflict.
// From: shard-fuzz --empty, program 34 of seed 81100.
spmd.mesh @mesh = <["x"=3]>
func.func @main(%a: tensor<0x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>}, %n: tensor<i32>)
    -> tensor<0x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %z = stablehlo.constant dense<0.0> : tensor<0x4xf32>
  %w:2 = stablehlo.while(%i = %zero, %o = %z) : tensor<i32>, tensor<0x4xf32>
  cond {
    %b = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %b : tensor<i1>
  } do {
    %x:2 = stablehlo.while(%j = %zero, %p = %z) : tensor<i32>, tensor<0x4xf32>
    cond {
      %b = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %b : tensor<i1>
    } do {
      %s = stablehlo.sine %a : tensor<0x4xf32>
      %k = stablehlo.add %j, %one : tensor<i32>
      stablehlo.return %k, %s : tensor<i32>, tensor<0x4xf32>
    }
    %k = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %k, %x#1 : tensor<i32>, tensor<0x4xf32>
  }
  return %w#1 : tensor<0x4xf32>
}
