// Results in parts are for callers of the library; the tool, which gathers whole values, says so.
// RUN: bash -c 'shard-run %s --partial-results 2>%t.txt; echo code $? >> %t.txt'
// RUN: FileCheck %s < %t.txt
// CHECK: error: unsupported: results that leave in parts, which the program was compiled for (--partial-results): the tool does not combine them
// CHECK: code 77
// RUN: shard-run %s --check
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  %0 = stablehlo.negate %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
