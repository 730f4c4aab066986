// RUN: shard-opt %s --split-input-file --verify-diagnostics

func.func @dim(%x: memref<4xf32>) {
  // expected-error@+1 {{has no dim 1 in 'memref<4xf32>'}}
  spmd.lines fourier dim 1 ins(%x, %x, %x, %x : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>) outs(%x, %x : memref<4xf32>, memref<4xf32>)
  return
}

// -----

func.func @tables(%x: memref<4xf32>, %t: memref<5xf32>) {
  // expected-error@+1 {{has a table of 'memref<5xf32>' for lines of 'memref<4xf32>'}}
  spmd.lines fourier dim 0 ins(%x, %x, %x, %t : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<5xf32>) outs(%x, %x : memref<4xf32>, memref<4xf32>)
  return
}

// -----

func.func @dynamic_transform(%x: memref<?xf32>, %t: memref<4xf32>) {
  // expected-error@+1 {{has a table of 'memref<4xf32>' for lines of 'memref<?xf32>'}}
  spmd.lines fourier dim 0 ins(%x, %x, %t, %t : memref<?xf32>, memref<?xf32>, memref<4xf32>, memref<4xf32>) outs(%x, %x : memref<?xf32>, memref<?xf32>)
  return
}

// -----

func.func @shapes(%x: memref<4xf32>, %y: memref<5xf32>) {
  // expected-error@+1 {{has inputs of 'memref<4xf32>' and of 'memref<5xf32>', expected one shape}}
  spmd.lines sort dim 0 ins(%x, %y : memref<4xf32>, memref<5xf32>) outs(%x, %y : memref<4xf32>, memref<5xf32>) body {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %l = arith.cmpf olt, %a, %b : f32
    spmd.yield %l : i1
  }
  return
}

// -----

func.func @longer(%x: memref<4xf32>, %y: memref<5xf32>) {
  // expected-error@+1 {{has init 'memref<5xf32>', longer than lines of 'memref<4xf32>'}}
  spmd.lines sort dim 0 ins(%x : memref<4xf32>) outs(%y : memref<5xf32>) body {
  ^bb0(%a: f32, %b: f32):
    %l = arith.cmpf olt, %a, %b : f32
    spmd.yield %l : i1
  }
  return
}

// -----

func.func @positions(%x: memref<4xf32>) {
  // expected-error@+1 {{has an init of 'f32', expected integers}}
  spmd.lines sort dim 0 positions ins(%x : memref<4xf32>) outs(%x, %x : memref<4xf32>, memref<4xf32>) body {
  ^bb0(%a: f32, %b: f32):
    %l = arith.cmpf olt, %a, %b : f32
    spmd.yield %l : i1
  }
  return
}

// -----

func.func @yield(%x: memref<4xf32>) {
  // expected-error@+1 {{has a body that does not yield ('i1')}}
  spmd.lines sort dim 0 ins(%x : memref<4xf32>) outs(%x : memref<4xf32>) body {
  ^bb0(%a: f32, %b: f32):
    spmd.yield %a : f32
  }
  return
}

// -----

func.func @starts(%x: memref<4xf32>, %i: i32) {
  // expected-error@+1 {{has starts of ('i32'), expected ('f32')}}
  spmd.lines scan dim 0 ins(%x : memref<4xf32>) starts(%i : i32) outs(%x : memref<4xf32>) body {
  ^bb0(%a: f32, %b: f32):
    spmd.yield %a : f32
  }
  return
}

// -----

func.func @backward(%x: memref<4xf32>) {
  // expected-error@+1 {{goes backward, which scans alone do}}
  spmd.lines sort dim 0 backward ins(%x : memref<4xf32>) outs(%x : memref<4xf32>) body {
  ^bb0(%a: f32, %b: f32):
    %l = arith.cmpf olt, %a, %b : f32
    spmd.yield %l : i1
  }
  return
}

// -----

func.func @whole_length(%x: memref<8xf32>, %y: memref<5xcomplex<f32>>, %t: memref<9xf32>, %f: f32) {
  // expected-error@+1 {{has init 'memref<5xcomplex<f32>>' for lines of 'memref<8xf32>' and tables of 9}}
  spmd.lines fourier dim 0 ins(%x, %t, %t : memref<8xf32>, memref<9xf32>, memref<9xf32>) starts(%f : f32) outs(%y : memref<5xcomplex<f32>>)
  return
}

// -----

func.func @whole_both_real(%x: memref<8xf32>, %f: f32) {
  // expected-error@+1 {{has init 'memref<8xf32>' for lines of 'memref<8xf32>' and tables of 8}}
  spmd.lines fourier dim 0 ins(%x, %x, %x : memref<8xf32>, memref<8xf32>, memref<8xf32>) starts(%f : f32) outs(%x : memref<8xf32>)
  return
}
