// What the runtime cannot combine is refused with its line when a program is compiled, not when it is loaded.
// RUN: bash -c 'shard-translate %s -o %t.so 2>%t.txt; echo code $? >> %t.txt'
// RUN: FileCheck %s < %t.txt
// CHECK: lower-communication-invalid.mlir:[[#@LINE+5]]:{{.*}}: error: {{.*}} op unsupported: ranks do not combine elements of 'f8E5M2'; convert to a wider type first
// CHECK: code 77
sdy.mesh @mesh = <["x"=3]>
func.func @main(%x: tensor<9xf8E5M2> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<f8E5M2> {
  %zero = stablehlo.constant dense<0.0> : tensor<f8E5M2>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<9xf8E5M2>, tensor<f8E5M2>) -> tensor<f8E5M2>
  return %sum : tensor<f8E5M2>
}
