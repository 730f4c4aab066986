// RUN: shard-opt %s --split-input-file --verify-diagnostics

// What a user may get wrong in an annotation is said before any pass runs.
spmd.mesh @mesh = <["x"=4]>
// expected-error @below {{argument 0: sizes along "x" add up to 1020, but dim 0 has 1024 elements}}
// expected-note @below {{sizes given here: [300, 200, 100, 420]}}
func.func @main(%x: tensor<1024xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [300, 200, 100, 420]}]>}) {
  return
}

// -----

spmd.mesh @mesh = <["x"=4]>
// expected-error @below {{argument 0: sharding names axis "z", but mesh @mesh has "x"}}
func.func @main(%x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"z"}]>}) {
  return
}

// -----

spmd.mesh @mesh = <["x"=4]>
// expected-error @below {{argument 0: sharding uses axis "x" twice; an axis cuts at most one dim}}
func.func @main(%x: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {"x"}]>}) {
  return
}
