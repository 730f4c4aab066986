// RUN: shard-opt %s --split-input-file --verify-diagnostics

func.func @rank(%a: tensor<6xf32>) {
  // expected-error @below {{has an operand of type 'tensor<6xf32>', expected matrices of known size in its last two dims}}
  %0:2 = solver.qr %a : (tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>)
  return
}

// -----

func.func @square(%a: tensor<4x6xf32>) {
  // expected-error @below {{has an operand of type 'tensor<4x6xf32>', expected square matrices}}
  %0:2 = solver.eigh %a, lower = true : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4xf32>)
  return
}

// -----

func.func @wide(%a: tensor<4x6xf32>) {
  // expected-error @below {{has an operand of type 'tensor<4x6xf32>', expected no fewer rows than columns}}
  %0:3 = solver.orthogonalize %a : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6x6xf32>)
  return
}

// -----

func.func @pivots(%a: tensor<4x6xf32>) {
  // expected-error @below {{has pivots of type 'tensor<6xi32>', expected 'tensor<4xi32>'}}
  %0:4 = solver.lu %a : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xi32>, tensor<4xi32>, tensor<i32>)
  return
}

// -----

func.func @hessenberg(%a: tensor<4x6xf32>) {
  // expected-error @below {{has an operand of type 'tensor<4x6xf32>', expected square matrices}}
  %0:2 = solver.hessenberg %a : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<3xf32>)
  return
}

// -----

func.func @schur(%a: tensor<6x6xf32>, %b: tensor<6x5xf32>) {
  // expected-error @below {{has q of type 'tensor<6x5xf32>', expected 'tensor<6x6xf32>'}}
  %0:2 = solver.schur %a, %b : (tensor<6x6xf32>, tensor<6x5xf32>) -> (tensor<6x6xf32>, tensor<6x6xf32>)
  return
}

// -----

func.func @eigenvectors(%a: tensor<6x6xf32>) {
  // expected-error @below {{has an operand of type 'tensor<6x6xf32>', expected complex numbers}}
  %0 = solver.eigenvectors %a, %a : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  return
}

// -----

func.func @fixed(%a: tensor<6x6xf32>, %f: tensor<5xi32>) {
  // expected-error @below {{has fixed of type 'tensor<5xi32>', expected 'tensor<6xi32>'}}
  %0:3 = solver.pivoted_qr %a, %f : (tensor<6x6xf32>, tensor<5xi32>) -> (tensor<6x6xf32>, tensor<6xi32>, tensor<6xf32>)
  return
}

// -----

func.func @more_pivots_than_rows(%p: tensor<4x7xi32>) -> tensor<4x6xi32> {
  // expected-error @below {{turns 'tensor<4x7xi32>' into 'tensor<4x6xi32>', expected no more pivots than rows, in equal batches}}
  %0 = solver.permutation %p : (tensor<4x7xi32>) -> tensor<4x6xi32>
  return %0 : tensor<4x6xi32>
}

// -----

func.func @more_taus_than_columns(%a: tensor<6x4xf32>, %t: tensor<5xf32>) -> tensor<6x4xf32> {
  // expected-error @below {{has 'tensor<6x4xf32>' and taus of type 'tensor<5xf32>', expected no more taus than columns and no more columns than rows}}
  %0 = solver.householder_product %a, %t : (tensor<6x4xf32>, tensor<5xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
