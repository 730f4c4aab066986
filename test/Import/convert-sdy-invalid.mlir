// RUN: shard-opt %s --spmd-convert-sdy --split-input-file --verify-diagnostics

// expected-note @below {{the other is}}
sdy.mesh @a = <["x"=2]>
// expected-error-re @below {{unsupported: mesh {{.*}} differs from another of this module; a program runs on one mesh}}
sdy.mesh @b = <["x"=4]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>},
                %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@b, [{"x"}]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// Of as many devices, but no mesh has the axes of both.
// expected-error @below {{axis "y" of size 3 is used in parts that overlap: one begins every 2 ranks, another every 3, which is no multiple}}
sdy.mesh @a = <["x"=2, "y"=3]>
sdy.mesh @b = <["p"=3, "q"=2]>
func.func @main(%x: tensor<6xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>},
                %y: tensor<6xf32> {sdy.sharding = #sdy.sharding<@b, [{"p"}]>}) -> tensor<6xf32> {
  return %x : tensor<6xf32>
}

// -----

// expected-error @below {{axis "x" of size 12 is used in parts that overlap: one ends at 2, another at 3, which is no multiple}}
sdy.mesh @mesh = <["x"=12]>
func.func @main(%x: tensor<12x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {}]>},
                %y: tensor<12x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)3}, {}]>}) -> tensor<12x12xf32> {
  return %x : tensor<12x12xf32>
}
