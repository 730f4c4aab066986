// RUN: shard-opt %s --split-input-file --spmd-call-runtime=threads=1 --verify-diagnostics

module attributes {kernel.entry_inputs = [{}, {}], kernel.entry_outputs = [], kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = gather_rows, report = "gather_rows", type = f32, rows = <>>]>} {
  spmd.mesh @mesh = <["x"=2]>
  func.func @main(%x: memref<4xf32>, %y: memref<4xf32>, %arena: memref<?xi8>) {
    // expected-error @below {{'kernel.run_site' op is about rows, but has no plan of them}}
    kernel.run_site 0 ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
    return
  }
}

// -----

// The runtime sorts numbers as they are said to be ordered; other comparisons are loops, which are there by now.
module attributes {kernel.entry_inputs = [{}, {}, {}], kernel.entry_outputs = [], kernel.sites = #kernel.site_table<<[]>, []>} {
  func.func @main(%x: memref<2x5xf32>, %keys: memref<2x4xf32>, %places: memref<2x4xi32>, %arena: memref<?xi8>) {
    // expected-error @below {{'kernel.lines' op is for kernels of GPUs: the runtime transforms numbers that are whole, and sorts lines whose kernel.line_order is said}}
    kernel.lines sort dim 1 positions ins(%x : memref<2x5xf32>) outs(%keys, %places : memref<2x4xf32>, memref<2x4xi32>) body {
    ^bb0(%a: f32, %b: f32):
      %before = arith.cmpf ogt, %a, %b : f32
      kernel.yield %before : i1
    }
    return
  }
}

// -----

module attributes {kernel.entry_inputs = [{}], kernel.entry_outputs = [], kernel.sites = #kernel.site_table<<[]>, []>} {
  // expected-error @below {{argument 0 of the entry is 'tensor<4xf32>', expected a memref}}
  func.func @main(%x: tensor<4xf32>, %arena: memref<?xi8>) {
    return
  }
}

// -----

module attributes {kernel.entry_inputs = [{}], kernel.entry_outputs = [], kernel.sites = #kernel.site_table<<[]>, []>} {
  // expected-error @below {{argument 1 of the entry is 'memref<2x4xf32>', expected no more than one 'memref<?xi8>', the arena, behind the 1 inputs and 0 outputs that the module's attributes name}}
  func.func @main(%x: memref<2x5xf32>, %y: memref<2x4xf32>, %arena: memref<?xi8>) {
    return
  }
}

// -----

module attributes {kernel.entry_inputs = [{}], kernel.entry_outputs = [], kernel.sites = #kernel.site_table<<[]>, []>} {
  // expected-error @below {{argument 0 of the entry is 'memref<?xf32>', but the module's attributes do not say how its dims are cut}}
  func.func @main(%x: memref<?xf32>, %arena: memref<?xi8>) {
    return
  }
}

// -----

module attributes {kernel.entry_inputs = [{}], kernel.entry_outputs = [], kernel.sites = #kernel.site_table<<[]>, []>} {
  func.func @main(%x: memref<4xf32>, %arena: memref<?xi8>) {
    // expected-error @below {{'kernel.received' op is written by no site that reads an argument; run --spmd-plan-arena first}}
    %received = kernel.received %x by 0 : memref<4xf32>
    return
  }
}
