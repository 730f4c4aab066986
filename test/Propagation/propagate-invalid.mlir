// RUN: shard-opt %s --spmd-propagate --split-input-file --verify-diagnostics

// expected-error @below {{module has no spmd.mesh; run --spmd-import, which adds an empty one}}
module {
  func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}

// -----

// expected-note @below {{the first is @a}}
spmd.mesh @a = <["x"=2]>
// expected-error @below {{module has a second mesh @b, expected one; run --spmd-import to unite equal ones}}
spmd.mesh @b = <["x"=2]>

// -----

spmd.mesh @mesh = <["x"=2]>
// expected-error @below {{unsupported: 'tensor<?xf32>' has a dynamic shape; propagation needs static ones}}
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  return %a : tensor<?xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{sharding is over mesh @ghost, expected @mesh}}
  %0 = spmd.constrain %a <@ghost, [{"x"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
