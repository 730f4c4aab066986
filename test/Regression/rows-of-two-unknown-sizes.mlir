// RUN: shard-run %s --seed=224711 --check --rtol=0 --atol=0
// A row whose other two dims are both cut unevenly: one dim was made two of sizes known at run time alone, of which MLIR reads
// but one. The compiler crashed (program 5597 of seed 2027).
spmd.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func @main(%x: tensor<10x16x9xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"a"}, {"b" sizes [14, 2]}, {"c"}]>}, %i: tensor<i32>)
    -> (tensor<1x16x9xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"b" sizes [14, 2]}, {"c"}]>},
        tensor<10x16x9xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"b" sizes [14, 2]}, {"c"}]>}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<10> : tensor<i32>
  %row = stablehlo.dynamic_slice %x, %i, %zero, %zero, sizes = [1, 16, 9] : (tensor<10x16x9xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x9xf32>
  // Sums of the rows before each.
  %empty = stablehlo.constant dense<0.0> : tensor<10x16x9xf32>
  %none = stablehlo.constant dense<0.0> : tensor<16x9xf32>
  %w:3 = stablehlo.while(%k = %zero, %sum = %none, %sums = %empty) : tensor<i32>, tensor<16x9xf32>, tensor<10x16x9xf32>
   cond {
    %more = stablehlo.compare LT, %k, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %s = stablehlo.dynamic_slice %x, %k, %zero, %zero, sizes = [1, 16, 9] : (tensor<10x16x9xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x9xf32>
    %flat = stablehlo.reshape %s : (tensor<1x16x9xf32>) -> tensor<16x9xf32>
    %next = stablehlo.add %sum, %flat : tensor<16x9xf32>
    %part = stablehlo.reshape %next : (tensor<16x9xf32>) -> tensor<1x16x9xf32>
    %into = stablehlo.dynamic_update_slice %sums, %part, %k, %zero, %zero : (tensor<10x16x9xf32>, tensor<1x16x9xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<10x16x9xf32>
    %j = stablehlo.add %k, %one : tensor<i32>
    stablehlo.return %j, %next, %into : tensor<i32>, tensor<16x9xf32>, tensor<10x16x9xf32>
  }
  return %row, %w#2 : tensor<1x16x9xf32>, tensor<10x16x9xf32>
}
