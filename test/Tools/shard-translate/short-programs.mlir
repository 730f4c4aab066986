// A program that is over in some microseconds gets a few of LLVM's passes. What LLVM would do beyond takes milliseconds, as long as a
// thousand runs: here, to find out what a function does with its arguments. What busy tiles of a product execute does not count, however much it
// is: LLVM leaves them as they are.
// RUN: split-file %s %t
// RUN: shard-translate %t/short.mlir --emit=llvmir --arch=x86-64-v4 -o - | FileCheck %s --check-prefix=SHORT
// RUN: shard-translate %t/tiles.mlir --emit=llvmir --arch=x86-64-v4 -o - | FileCheck %s --check-prefix=SHORT
// RUN: shard-translate %t/long.mlir --emit=llvmir --arch=x86-64-v4 -o - | FileCheck %s --check-prefix=LONG
// RUN: shard-translate %t/loop.mlir --emit=llvmir --arch=x86-64-v4 -o - | FileCheck %s --check-prefix=LONG
// RUN: shard-translate %t/open.mlir --emit=llvmir --arch=x86-64-v4 -o - | FileCheck %s --check-prefix=LONG
// RUN: shard-run %t/short.mlir --check=interpreter
// RUN: shard-run %t/tiles.mlir --check=interpreter
// RUN: shard-run %t/loop.mlir --check=interpreter

// SHORT: define {{.*}}@shardc_main(ptr %0, ptr %1, ptr %2)
// LONG:  define {{.*}}@shardc_main(ptr %0, ptr readonly captures(none) %1,

//--- short.mlir
func.func @main(%a: tensor<40x17xf32>) -> tensor<40x17xf32> {
  %0 = stablehlo.reverse %a, dims = [1] : tensor<40x17xf32>
  return %0 : tensor<40x17xf32>
}

//--- tiles.mlir
// 16,384 multiply-adds of 16 numbers, each with a load: with what stands beside them more than 2^16 instructions if counted.
func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

//--- long.mlir
func.func @main(%a: tensor<40000x17xf32>) -> tensor<40000x17xf32> {
  %0 = stablehlo.reverse %a, dims = [1] : tensor<40000x17xf32>
  return %0 : tensor<40000x17xf32>
}

//--- loop.mlir
// The same few elements, a thousand times.
func.func @main(%a: tensor<40x17xf32>) -> tensor<40x17xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %times = stablehlo.constant dense<1001> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<40x17xf32>
  cond {
    %more = stablehlo.compare LT, %i, %times : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %y = stablehlo.reverse %x, dims = [1] : tensor<40x17xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %y : tensor<i32>, tensor<40x17xf32>
  }
  return %0#1 : tensor<40x17xf32>
}

//--- open.mlir
// As often as it is told to.
func.func @main(%a: tensor<40x17xf32>, %times: tensor<i32>) -> tensor<40x17xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<40x17xf32>
  cond {
    %more = stablehlo.compare LT, %i, %times : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %y = stablehlo.reverse %x, dims = [1] : tensor<40x17xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %y : tensor<i32>, tensor<40x17xf32>
  }
  return %0#1 : tensor<40x17xf32>
}
