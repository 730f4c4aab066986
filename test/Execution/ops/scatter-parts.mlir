// RUN: shard-run %s --threads=1 --seed=5 --check=interpreter
// RUN: shard-run %s --threads=2 --seed=5 --check=interpreter
// RUN: shard-run %s --threads=5 --seed=5 --check=interpreter
// RUN: shard-run %s --threads=3 --seed=5 --arch=x86-64-v3 --check=interpreter
// RUN: shard-opt %s --shardc-pipeline=threads=2 --mlir-print-ir-after=spmd-cut-loops -o /dev/null 2>&1 | FileCheck %s

// Updates of single elements and of short rows, shared by where they write: sums
// of numbers at places below, in and above a table, from an index that is no
// multiple of a word long; the last of those that write to one place; pairs of
// positions; rows of three numbers, of which the largest are kept; tokens of a batch;
// places that come of booleans, each a byte in memory.
// CHECK-COUNT-6: math.ctpop
func.func @main(%x: tensor<1000xf32>, %u: tensor<30011xf32>, %plane: tensor<70x90xf32>, %rows: tensor<30011x3xf32>, %isFar: tensor<30011xi1>)
    -> (tensor<1000xf32>, tensor<1000xf32>, tensor<70x90xf32>, tensor<500x3xf32>, tensor<300xi64>, tensor<1000xf32>) {
  %number = stablehlo.iota dim = 0 : tensor<30011xi32>
  %prime = stablehlo.constant dense<7919> : tensor<30011xi32>
  %span = stablehlo.constant dense<1031> : tensor<30011xi32>
  %product = stablehlo.multiply %number, %prime : tensor<30011xi32>
  %left = stablehlo.remainder %product, %span : tensor<30011xi32>
  // -15 to 1015.
  %fifteen = stablehlo.constant dense<15> : tensor<30011xi32>
  %some = stablehlo.subtract %left, %fifteen : tensor<30011xi32>
  %at = stablehlo.reshape %some : (tensor<30011xi32>) -> tensor<30011x1xi32>
  %sums = "stablehlo.scatter"(%x, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<1000xf32>, tensor<30011x1xi32>, tensor<30011xf32>) -> tensor<1000xf32>
  // As JAX has it: places below zero count from the end.
  %zeros = stablehlo.constant dense<0> : tensor<30011xi32>
  %all = stablehlo.constant dense<1000> : tensor<30011xi32>
  %isBelow = stablehlo.compare LT, %some, %zeros, SIGNED : (tensor<30011xi32>, tensor<30011xi32>) -> tensor<30011xi1>
  %behind = stablehlo.add %some, %all : tensor<30011xi32>
  %around = stablehlo.select %isBelow, %behind, %some : tensor<30011xi1>, tensor<30011xi32>
  %place = stablehlo.broadcast_in_dim %around, dims = [0] : (tensor<30011xi32>) -> tensor<30011x1xi32>
  %last = "stablehlo.scatter"(%x, %place, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<1000xf32>, tensor<30011x1xi32>, tensor<30011xf32>) -> tensor<1000xf32>
  %eighty = stablehlo.constant dense<80> : tensor<30011xi32>
  %row = stablehlo.remainder %product, %eighty : tensor<30011xi32>
  %column = stablehlo.remainder %left, %eighty : tensor<30011xi32>
  %first = stablehlo.reshape %row : (tensor<30011xi32>) -> tensor<30011x1xi32>
  %second = stablehlo.reshape %column : (tensor<30011xi32>) -> tensor<30011x1xi32>
  %pairs = stablehlo.concatenate %first, %second, dim = 1 : (tensor<30011x1xi32>, tensor<30011x1xi32>) -> tensor<30011x2xi32>
  %points = "stablehlo.scatter"(%plane, %pairs, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<70x90xf32>, tensor<30011x2xi32>, tensor<30011xf32>) -> tensor<70x90xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.broadcast_in_dim %low, dims = [] : (tensor<f32>) -> tensor<500x3xf32>
  %largest = "stablehlo.scatter"(%none, %at, %rows) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<500x3xf32>, tensor<30011x1xi32>, tensor<30011x3xf32>) -> tensor<500x3xf32>
  // How often each word is in a batch.
  %tokens = stablehlo.iota dim = 1 : tensor<90x300xi64>
  %texts = stablehlo.iota dim = 0 : tensor<90x300xi64>
  %square = stablehlo.multiply %tokens, %texts : tensor<90x300xi64>
  %size = stablehlo.constant dense<307> : tensor<90x300xi64>
  %words = stablehlo.remainder %square, %size : tensor<90x300xi64>
  %each = stablehlo.reshape %words : (tensor<90x300xi64>) -> tensor<90x300x1xi64>
  %one = stablehlo.constant dense<1> : tensor<90x300xi64>
  %nothing = stablehlo.constant dense<0> : tensor<300xi64>
  %counts = "stablehlo.scatter"(%nothing, %each, %one) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %s = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) : (tensor<300xi64>, tensor<90x300x1xi64>, tensor<90x300xi64>) -> tensor<300xi64>
  %bit = stablehlo.convert %isFar : (tensor<30011xi1>) -> tensor<30011xi32>
  %far = stablehlo.constant dense<900> : tensor<30011xi32>
  %nine = stablehlo.multiply %bit, %far : tensor<30011xi32>
  %nearOrFar = stablehlo.broadcast_in_dim %nine, dims = [0] : (tensor<30011xi32>) -> tensor<30011x1xi32>
  %halves = "stablehlo.scatter"(%x, %nearOrFar, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<1000xf32>, tensor<30011x1xi32>, tensor<30011xf32>) -> tensor<1000xf32>
  return %sums, %last, %points, %largest, %counts, %halves : tensor<1000xf32>, tensor<1000xf32>, tensor<70x90xf32>, tensor<500x3xf32>, tensor<300xi64>, tensor<1000xf32>
}
