// RUN: shard-run %s --check=interpreter 2>&1 | FileCheck %s
// RUN: shard-run %s --check=interpreter --arch=x86-64-v3 2>&1 | FileCheck %s
// RUN: shard-run %s --check=interpreter --reproducible 2>&1 | FileCheck %s
// RUN: shard-run %s --check=interpreter --ranks=3 --threads=2 2>&1 | FileCheck %s
// Products of narrow numbers, of uneven sizes and in all four layouts; integers are exact.
// CHECK: output 0: ui32 [67, 75] {{.*}}bitwise equal
// CHECK: output 1: i32 [67, 75] {{.*}}bitwise equal
// CHECK: output 2: f32 [67, 75]
// CHECK-NOT: differ
// CHECK: output 3: i32 [3, 67, 75] {{.*}}bitwise equal
// CHECK: output 4: f32 [67, 75]
// CHECK-NOT: differ
// CHECK: output 5: i32 [40, 40] {{.*}}bitwise equal
sdy.mesh @mesh = <["x"=1]>
func.func @main(%a: tensor<67x83xui8> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<83x75xui8>,
    %c: tensor<83x67xi8>, %d: tensor<75x83xi8> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %e: tensor<83x67xbf16>, %f: tensor<83x75xbf16>, %g: tensor<3x67x83xi16>, %h: tensor<3x83x75xi16>,
    %i: tensor<67x83xf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %j: tensor<75x83xf16>)
    -> (tensor<67x75xui32>, tensor<67x75xi32>, tensor<67x75xf32>, tensor<3x67x75xi32>, tensor<67x75xf32>, tensor<40x40xi32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<67x83xui8>, tensor<83x75xui8>) -> tensor<67x75xui32>
  %1 = stablehlo.dot_general %c, %d, contracting_dims = [0] x [1] : (tensor<83x67xi8>, tensor<75x83xi8>) -> tensor<67x75xi32>
  %2 = stablehlo.dot_general %e, %f, contracting_dims = [0] x [0] : (tensor<83x67xbf16>, tensor<83x75xbf16>) -> tensor<67x75xf32>
  %3 = stablehlo.dot_general %g, %h, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x67x83xi16>, tensor<3x83x75xi16>) -> tensor<3x67x75xi32>
  %4 = stablehlo.dot_general %i, %j, contracting_dims = [1] x [1] : (tensor<67x83xf16>, tensor<75x83xf16>) -> tensor<67x75xf32>
  // Two products of the least number of 16 bits are 2^31 together: sums wrap around.
  %constant = stablehlo.constant dense<-32768> : tensor<40x34xi16>
  %least = stablehlo.optimization_barrier %constant : tensor<40x34xi16>
  %5 = stablehlo.dot_general %least, %least, contracting_dims = [1] x [1] : (tensor<40x34xi16>, tensor<40x34xi16>) -> tensor<40x40xi32>
  return %0, %1, %2, %3, %4, %5 : tensor<67x75xui32>, tensor<67x75xi32>, tensor<67x75xf32>, tensor<3x67x75xi32>, tensor<67x75xf32>, tensor<40x40xi32>
}
