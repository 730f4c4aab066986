// RUN: shard-opt %s --split-input-file --spmd-release-late --verify-diagnostics
// RUN: shard-opt %s --split-input-file --spmd-margins-in-place --verify-diagnostics

// expected-error @+1 {{module has no 'kernel.sites'; run --spmd-lower-communication first}}
module {
  spmd.mesh @mesh = <["x"=2]>
  func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {
    kernel.run_site 0 ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
    return
  }
}

// -----

module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, []>} {
  spmd.mesh @mesh = <["x"=2]>
  func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {
    // expected-error @+1 {{'kernel.run_site' op is site 0, but the module's 'kernel.sites' has 0}}
    kernel.run_site 0 ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
    return
  }
}

// -----

// expected-error @+1 {{site 0 moves elements of type 'tensor<2xf32>', which the runtime cannot}}
module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "shift", type = tensor<2xf32>>]>} {
  spmd.mesh @mesh = <["x"=2]>
}
