// RUN: shard-opt %s --spmd-form-gpu-kernels --verify-diagnostics --split-input-file

func.func @long(%x: memref<8192xf32>, %y: memref<8192xf32>) {
  // expected-error@+1 {{transforms lines of 8192 elements, expected at most 4096: take factors off in stages before}}
  kernel.lines fourier dim 0 ins(%x, %x, %x, %x : memref<8192xf32>, memref<8192xf32>, memref<8192xf32>, memref<8192xf32>)
      outs(%y, %y : memref<8192xf32>, memref<8192xf32>)
  return
}

// -----

func.func @prime(%x: memref<514xf32>, %y: memref<514xf32>) {
  // expected-error@+1 {{transforms lines of 514 elements, of which each 257 are summed up one by one, expected at most 61: take this factor off in a stage before}}
  kernel.lines fourier dim 0 ins(%x, %x, %x, %x : memref<514xf32>, memref<514xf32>, memref<514xf32>, memref<514xf32>)
      outs(%y, %y : memref<514xf32>, memref<514xf32>)
  return
}
