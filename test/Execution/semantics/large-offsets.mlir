// Offsets of more than 2^28 elements, known when the program is compiled.
// RUN: shard-translate %s -o %t.so

func.func @main(%x: tensor<7x5xf32>, %y: tensor<5x300000000xf32>) -> tensor<7x300000000xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<7x5xf32>, tensor<5x300000000xf32>) -> tensor<7x300000000xf32>
  return %0 : tensor<7x300000000xf32>
}
