// Several registers of one formula at a time, with what is left over in a mask;
// bf16 whose halves two registers give at once.
// RUN: shard-run %s --check=interpreter --range=-9,9
// RUN: shard-run %s --check=interpreter --range=-9,9 --arch=x86-64-v3
// RUN: shard-run %s --check=interpreter --range=-9,9 --threads=2 --repeat=2
// RUN: shard-run %s --check=interpreter --range=-9,9 --ranks=2 --sizes=0:0=4099,34
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4133xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<4133xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %c: tensor<4133xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4133xf32>, tensor<4133xbf16>, tensor<4133xf64>, tensor<4133xf16>) {
  %0 = chlo.erfc %a : tensor<4133xf32> -> tensor<4133xf32>
  %1 = chlo.erfc %b : tensor<4133xbf16> -> tensor<4133xbf16>
  %2 = stablehlo.tanh %c : tensor<4133xf64>
  %3 = stablehlo.convert %a : (tensor<4133xf32>) -> tensor<4133xf16>
  %4 = stablehlo.logistic %3 : tensor<4133xf16>
  return %0, %1, %2, %4 : tensor<4133xf32>, tensor<4133xbf16>, tensor<4133xf64>, tensor<4133xf16>
}
