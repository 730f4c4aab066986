// RUN: shard-opt %s --split-input-file --verify-diagnostics

func.func @kind(%a: memref<4x4xf32>) -> i1 {
  // expected-error @+1 {{is of kind "sort", expected "product", "convolution", "transform" or "attention"}}
  %0 = kernel.library_call "sort" ins(%a : memref<4x4xf32>) outs(%a : memref<4x4xf32>) dims [[[0], [1]], [[0], [1]]] numbers []
  return %0 : i1
}

// -----

func.func @required_on_some(%a: memref<4x4xf32>) -> i1 {
  // expected-error @+1 {{is "required", but asked for on GPUs with "tcgen05" alone; expected one of the two}}
  %0 = kernel.library_call "product" ins(%a, %a : memref<4x4xf32>, memref<4x4xf32>) outs(%a : memref<4x4xf32>) dims [[[], [0], [1]], [[], [0], [1]], [[], [0], [1]]] numbers [0, 0] required tcgen05
  return %0 : i1
}

// -----

func.func @epilogue(%a: memref<4x4xf32>) -> i1 {
  // expected-error @+1 {{has epilogue ["tanh"], expected "bias", "relu" and "gelu"}}
  %0 = kernel.library_call "product" ins(%a, %a : memref<4x4xf32>, memref<4x4xf32>) outs(%a : memref<4x4xf32>) dims [[[], [0], [1]], [[], [0], [1]], [[], [0], [1]]] numbers [0, 0] epilogue ["tanh"]
  return %0 : i1
}

// -----

func.func @epilogue_of_a_transform(%a: memref<4x4xf32>) -> i1 {
  // expected-error @+1 {{has an epilogue, which only products have}}
  %0 = kernel.library_call "transform" ins(%a : memref<4x4xf32>) outs(%a : memref<4x4xf32>) dims [[[0], [1]], [[0], [1]]] numbers [0, 1] epilogue ["relu"]
  return %0 : i1
}

// -----

func.func @inputs(%a: memref<4x4xf32>) -> i1 {
  // expected-error @+1 {{has 2 inputs, expected 3}}
  %0 = kernel.library_call "product" ins(%a, %a : memref<4x4xf32>, memref<4x4xf32>) outs(%a : memref<4x4xf32>) dims [[[], [0], [1]], [[], [0], [1]], [[], [0], [1]]] numbers [0, 2] epilogue ["bias"]
  return %0 : i1
}

// -----

func.func @numbers(%a: memref<4x4xf32>) -> i1 {
  // expected-error @+1 {{has 13 numbers, at most 12 are known}}
  %0 = kernel.library_call "transform" ins(%a : memref<4x4xf32>) outs(%a : memref<4x4xf32>) dims [[[0], [1]], [[0], [1]]] numbers [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  return %0 : i1
}

// -----

func.func @result(%a: tensor<4x4xf32>) -> i1 {
  // expected-error @+1 {{has init of type 'tensor<4x4xf32>', expected a result of that type if it is a tensor}}
  %0 = kernel.library_call "transform" ins(%a : tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) dims [[[0], [1]], [[0], [1]]] numbers [0, 1]
  return %0 : i1
}

// -----

func.func @lists(%a: memref<4x4xf32>) -> i1 {
  // expected-error @+1 {{has dims of 1 operands, expected 2}}
  %0 = kernel.library_call "transform" ins(%a : memref<4x4xf32>) outs(%a : memref<4x4xf32>) dims [[[0], [1]]] numbers [0, 1]
  return %0 : i1
}

// -----

func.func @no_list(%a: memref<4x4xf32>) -> i1 {
  // expected-error @+1 {{has dims [0, 1] of operand 0, expected at most 6 lists of numbers}}
  %0 = kernel.library_call "transform" ins(%a : memref<4x4xf32>) outs(%a : memref<4x4xf32>) dims [[0, 1], [[0], [1]]] numbers [0, 1]
  return %0 : i1
}

// -----

func.func @twice(%a: memref<4x4xf32>) -> i1 {
  // expected-error @+1 {{names dim 0 of operand 1, which has 2 dims, each named once}}
  %0 = kernel.library_call "transform" ins(%a : memref<4x4xf32>) outs(%a : memref<4x4xf32>) dims [[[0], [1]], [[0], [0]]] numbers [0, 1]
  return %0 : i1
}

// -----

func.func @left_out(%a: memref<4x4xf32>) -> i1 {
  // expected-error @+1 {{leaves out dim 1 of operand 0, of 4 elements}}
  %0 = kernel.library_call "transform" ins(%a : memref<4x4xf32>) outs(%a : memref<4x4xf32>) dims [[[0], []], [[0], [1]]] numbers [0, 1]
  return %0 : i1
}

// -----

func.func @inits(%a: memref<4x4xf16>) -> i1 {
  // expected-error @+1 {{has 1 inits, expected 3}}
  %0 = kernel.library_call "attention" ins(%a, %a, %a : memref<4x4xf16>, memref<4x4xf16>, memref<4x4xf16>) outs(%a : memref<4x4xf16>) dims [[[], [], [0], [1]], [[], [], [0], [1]], [[], [], [0], [1]], [[], [], [0], [1]]] numbers [0, 0, 0]
  return %0 : i1
}
