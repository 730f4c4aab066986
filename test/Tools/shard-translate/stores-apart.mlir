// RUN: shard-translate %s --emit=llvmir --arch=x86-64-v4 -o - | FileCheck %s
// RUN: shard-run %s --check=interpreter
// RUN: %if avx512 %{ shard-run %s --arch=x86-64-v4 --threads=2 --check=interpreter %}

// Running sums of rows of 20: each row is a chain of sums and stores, which go side
// by side. Vectors of 16 rows would be stored by scatters, which take longer than as
// many stores. Rows of 4 are interleaved in registers.
// CHECK-LABEL: define {{.*}}@shardc_main
// CHECK: shufflevector
// CHECK-NOT: masked.scatter
func.func @main(%long: tensor<1003x20xf32>, %short: tensor<1003x4xf32>) -> (tensor<1003x20xf32>, tensor<1003x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%long, %zero) <{padding = dense<[[0, 0], [19, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 20>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<1003x20xf32>, tensor<f32>) -> tensor<1003x20xf32>
  %1 = "stablehlo.reduce_window"(%short, %zero) <{padding = dense<[[0, 0], [3, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 4>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<1003x4xf32>, tensor<f32>) -> tensor<1003x4xf32>
  return %0, %1 : tensor<1003x20xf32>, tensor<1003x4xf32>
}
