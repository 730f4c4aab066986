// RUN: shard-opt %s --split-input-file --verify-diagnostics

func.func @dim(%x: memref<4xf32>) {
  // expected-error@+1 {{has no dim 1 in 'memref<4xf32>'}}
  kernel.lines fourier dim 1 ins(%x, %x, %x, %x : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>) outs(%x, %x : memref<4xf32>, memref<4xf32>)
  return
}

// -----

func.func @tables(%x: memref<4xf32>, %t: memref<5xf32>) {
  // expected-error@+1 {{has a table of 'memref<5xf32>' for lines of 'memref<4xf32>'}}
  kernel.lines fourier dim 0 ins(%x, %x, %x, %t : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<5xf32>) outs(%x, %x : memref<4xf32>, memref<4xf32>)
  return
}

// -----

func.func @dynamic_transform(%x: memref<?xf32>, %t: memref<4xf32>) {
  // expected-error@+1 {{has a table of 'memref<4xf32>' for lines of 'memref<?xf32>'}}
  kernel.lines fourier dim 0 ins(%x, %x, %t, %t : memref<?xf32>, memref<?xf32>, memref<4xf32>, memref<4xf32>) outs(%x, %x : memref<?xf32>, memref<?xf32>)
  return
}

// -----

func.func @shapes(%x: memref<4xf32>, %y: memref<5xf32>) {
  // expected-error@+1 {{has inputs of 'memref<4xf32>' and of 'memref<5xf32>', expected one shape}}
  kernel.lines sort dim 0 ins(%x, %y : memref<4xf32>, memref<5xf32>) outs(%x, %y : memref<4xf32>, memref<5xf32>) body {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %l = arith.cmpf olt, %a, %b : f32
    kernel.yield %l : i1
  }
  return
}

// -----

func.func @longer(%x: memref<4xf32>, %y: memref<5xf32>) {
  // expected-error@+1 {{has init 'memref<5xf32>', longer than lines of 'memref<4xf32>'}}
  kernel.lines sort dim 0 ins(%x : memref<4xf32>) outs(%y : memref<5xf32>) body {
  ^bb0(%a: f32, %b: f32):
    %l = arith.cmpf olt, %a, %b : f32
    kernel.yield %l : i1
  }
  return
}

// -----

func.func @positions(%x: memref<4xf32>) {
  // expected-error@+1 {{has an init of 'f32', expected integers}}
  kernel.lines sort dim 0 positions ins(%x : memref<4xf32>) outs(%x, %x : memref<4xf32>, memref<4xf32>) body {
  ^bb0(%a: f32, %b: f32):
    %l = arith.cmpf olt, %a, %b : f32
    kernel.yield %l : i1
  }
  return
}

// -----

func.func @yield(%x: memref<4xf32>) {
  // expected-error@+1 {{has a body that does not yield ('i1')}}
  kernel.lines sort dim 0 ins(%x : memref<4xf32>) outs(%x : memref<4xf32>) body {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  }
  return
}

// -----

func.func @starts(%x: memref<4xf32>, %i: i32) {
  // expected-error@+1 {{has starts of ('i32'), expected ('f32')}}
  kernel.lines scan dim 0 ins(%x : memref<4xf32>) starts(%i : i32) outs(%x : memref<4xf32>) body {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  }
  return
}

// -----

func.func @backward(%x: memref<4xf32>) {
  // expected-error@+1 {{goes backward, which scans alone do}}
  kernel.lines sort dim 0 backward ins(%x : memref<4xf32>) outs(%x : memref<4xf32>) body {
  ^bb0(%a: f32, %b: f32):
    %l = arith.cmpf olt, %a, %b : f32
    kernel.yield %l : i1
  }
  return
}

// -----

func.func @whole_length(%x: memref<8xf32>, %y: memref<5xcomplex<f32>>, %t: memref<9xf32>, %f: f32) {
  // expected-error@+1 {{has init 'memref<5xcomplex<f32>>' for lines of 'memref<8xf32>' and tables of 9}}
  kernel.lines fourier dim 0 ins(%x, %t, %t : memref<8xf32>, memref<9xf32>, memref<9xf32>) starts(%f : f32) outs(%y : memref<5xcomplex<f32>>)
  return
}

// -----

func.func @whole_both_real(%x: memref<8xf32>, %f: f32) {
  // expected-error@+1 {{has init 'memref<8xf32>' for lines of 'memref<8xf32>' and tables of 8}}
  kernel.lines fourier dim 0 ins(%x, %x, %x : memref<8xf32>, memref<8xf32>, memref<8xf32>) starts(%f : f32) outs(%x : memref<8xf32>)
  return
}

// -----

func.func @blocks(%x: memref<4xf32>) {
  // expected-error@+1 {{expected a body of one block}}
  kernel.lines sort dim 0 ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
  return
}

// -----

func.func @body(%x: memref<4xf32>) {
  // expected-error@+1 {{has a body of ('f32'), expected ('f32', 'f32')}}
  kernel.lines sort dim 0 ins(%x : memref<4xf32>) outs(%x : memref<4xf32>) body {
  ^bb0(%a: f32):
    %l = arith.cmpf olt, %a, %a : f32
    kernel.yield %l : i1
  }
  return
}

// -----

func.func @scan_with_positions(%x: memref<4xf32>, %p: memref<4xi32>, %s: f32) {
  // expected-error@+1 {{has positions, which sorts alone give}}
  kernel.lines scan dim 0 positions ins(%x : memref<4xf32>) starts(%s : f32) outs(%x, %p : memref<4xf32>, memref<4xi32>) body {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  }
  return
}

// -----

func.func @sort_with_starts(%x: memref<4xf32>, %s: f32) {
  // expected-error@+1 {{has starts, which scans alone have}}
  kernel.lines sort dim 0 ins(%x : memref<4xf32>) starts(%s : f32) outs(%x : memref<4xf32>) body {
  ^bb0(%a: f32, %b: f32):
    %l = arith.cmpf olt, %a, %b : f32
    kernel.yield %l : i1
  }
  return
}

// -----

func.func @transform_with_body(%x: memref<4xf32>) {
  // expected-error@+1 {{has a body, which a transform has not}}
  kernel.lines fourier dim 0 ins(%x, %x, %x, %x : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>) outs(%x, %x : memref<4xf32>, memref<4xf32>) body {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  }
  return
}

// -----

func.func @parts(%x: memref<4xf32>, %y: memref<4xf64>) {
  // expected-error@+1 {{has parts and tables of 'f32', 'f64', expected one float type}}
  kernel.lines fourier dim 0 ins(%x, %y, %x, %x : memref<4xf32>, memref<4xf64>, memref<4xf32>, memref<4xf32>) outs(%x, %y : memref<4xf32>, memref<4xf64>)
  return
}

// -----

func.func @whole_without_factor(%x: memref<4xcomplex<f32>>, %t: memref<4xf32>) {
  // expected-error@+1 {{of numbers and two tables has 0 starts and 1 inits, expected a factor and a result}}
  kernel.lines fourier dim 0 ins(%x, %t, %t : memref<4xcomplex<f32>>, memref<4xf32>, memref<4xf32>) outs(%x : memref<4xcomplex<f32>>)
  return
}

// -----

func.func @factor(%x: memref<4xcomplex<f32>>, %t: memref<4xf32>, %s: f64) {
  // expected-error@+1 {{has a factor of 'f64', expected 'f32'}}
  kernel.lines fourier dim 0 ins(%x, %t, %t : memref<4xcomplex<f32>>, memref<4xf32>, memref<4xf32>) starts(%s : f64) outs(%x : memref<4xcomplex<f32>>)
  return
}
