// RUN: shard-opt %s --split-input-file --verify-diagnostics

func.func @wide(%a: memref<4x5xf32>, %w: memref<4xf32>) {
  // expected-error@+1 {{has 'memref<4x5xf32>', expected no more columns than rows}}
  kernel.svd ins(%a : memref<4x5xf32>) outs(%w : memref<4xf32>)
  return
}

// -----

func.func @left(%a: memref<5x4xf32>, %w: memref<4xf32>) {
  // expected-error@+1 {{has 2 inits, expected singular values and perhaps both vectors}}
  kernel.svd ins(%a : memref<5x4xf32>) outs(%w, %a : memref<4xf32>, memref<5x4xf32>)
  return
}

// -----

func.func @right(%a: memref<5x4xf32>, %w: memref<4xf32>) {
  // expected-error@+1 {{has init 'memref<5x4xf32>' for matrices of 'memref<5x4xf32>'}}
  kernel.svd ins(%a : memref<5x4xf32>) outs(%w, %a, %a : memref<4xf32>, memref<5x4xf32>, memref<5x4xf32>)
  return
}

// -----

func.func @vector(%a: memref<4xf32>, %w: memref<4xf32>) {
  // expected-error@+1 {{has 'memref<4xf32>', expected matrices}}
  kernel.eigh ins(%a : memref<4xf32>) outs(%w : memref<4xf32>)
  return
}

// -----

func.func @oblong(%a: memref<4x5xf32>, %w: memref<4xf32>) {
  // expected-error@+1 {{has 'memref<4x5xf32>', expected square matrices}}
  kernel.eigh ins(%a : memref<4x5xf32>) outs(%w : memref<4xf32>)
  return
}

// -----

func.func @integers(%a: memref<4x4xi32>, %w: memref<4xi32>) {
  // expected-error@+1 {{has elements of 'i32', expected f32, f64 or complex numbers of these}}
  kernel.eigh ins(%a : memref<4x4xi32>) outs(%w : memref<4xi32>)
  return
}

// -----

func.func @nothing(%a: memref<4x4xf32>) {
  // expected-error@+1 {{has 3 inits, expected eigenvalues and perhaps vectors}}
  kernel.eigh ins(%a : memref<4x4xf32>) outs(%a, %a, %a : memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>)
  return
}

// -----

func.func @values(%a: memref<4x4xcomplex<f32>>, %w: memref<4xcomplex<f32>>) {
  // expected-error@+1 {{has init 'memref<4xcomplex<f32>>' for matrices of 'memref<4x4xcomplex<f32>>'}}
  kernel.eigh ins(%a : memref<4x4xcomplex<f32>>) outs(%w : memref<4xcomplex<f32>>)
  return
}

// -----

func.func @vectors(%a: memref<2x4x4xf32>, %w: memref<2x4xf32>, %v: memref<2x4x3xf32>) {
  // expected-error@+1 {{has init 'memref<2x4x3xf32>' for matrices of 'memref<2x4x4xf32>'}}
  kernel.eigh ins(%a : memref<2x4x4xf32>) outs(%w, %v : memref<2x4xf32>, memref<2x4x3xf32>)
  return
}

// -----

func.func @no_taus(%a: memref<4x5xf32>) {
  // expected-error@+1 {{has 1 inits, expected 2}}
  kernel.qr ins(%a : memref<4x5xf32>) outs(%a : memref<4x5xf32>)
  return
}

// -----

func.func @taus(%a: memref<4x5xf32>, %t: memref<5xf32>) {
  // expected-error@+1 {{has init 'memref<5xf32>' for matrices of 'memref<4x5xf32>'}}
  kernel.qr ins(%a : memref<4x5xf32>) outs(%a, %t : memref<4x5xf32>, memref<5xf32>)
  return
}

// -----

func.func @unknown_rows(%a: memref<?x5xf32>, %t: memref<5xf32>) {
  // expected-error@+1 {{has 'memref<?x5xf32>', expected static matrices}}
  kernel.qr ins(%a : memref<?x5xf32>) outs(%a, %t : memref<?x5xf32>, memref<5xf32>)
  return
}

// -----

func.func @oblong_form(%a: memref<4x5xf32>, %t: memref<3xf32>) {
  // expected-error@+1 {{has 'memref<4x5xf32>', expected square matrices}}
  kernel.hessenberg ins(%a : memref<4x5xf32>) outs(%a, %t : memref<4x5xf32>, memref<3xf32>)
  return
}

// -----

func.func @too_many(%a: memref<4x3xf32>, %t: memref<4xf32>) {
  // expected-error@+1 {{has taus 'memref<4xf32>', expected at most 3 for each matrix}}
  kernel.householder_product ins(%a, %t : memref<4x3xf32>, memref<4xf32>) outs(%a : memref<4x3xf32>)
  return
}
