// RUN: shard-opt %s --spmd-refine-shapes=open --verify-diagnostics

// What a reshape asks of an open extent is said of the argument, not of the number that stands for it.
func.func @main(%x: tensor<4x?xf32>) -> tensor<12x3xf32> {
  // expected-error-re @below {{unsupported: 'stablehlo.reshape' at {{.*}}:6 is to 'tensor<12x3xf32>', which fits some extents of argument 0, dim 1, alone; give shapes of the arguments (--shapes)}}
  %0 = stablehlo.reshape %x : (tensor<4x?xf32>) -> tensor<12x3xf32>
  return %0 : tensor<12x3xf32>
}
