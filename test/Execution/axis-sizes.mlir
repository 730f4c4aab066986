// A whole axis in proportion: what is cut along it, before and after, and with another axis.
// RUN: shard-run %s --check --sizes=x=3,1,2,2
// RUN: shard-run %s --check --sizes=x=3,1,2,2 --even-borders
// RUN: shard-run %s --check --mesh=x=3 --sizes=x=0,5,1
// RUN: shard-run %s --check --mesh=x=2,y=2 --sizes=x=3,1 --sizes=y=1,4
// RUN: shard-translate %s --sizes=x=3,1,2,2 --emit=header -o - | FileCheck %s
// RUN: not shard-run %s --sizes=x=3,1 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not shard-run %s --sizes=z=3,1 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not shard-run %s --sizes=x=0,0,0,0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not shard-run %s --sizes=x=3,1,-2,2 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// CHECK: input0_dim0_boundaries[5] = {0, 6, 8, 12, 16};
// CHECK: output0_dim0_boundaries[5] = {0, 6, 8, 12, 16};
// COUNT: sizes option gives 2 sizes for axis "x", which has 4 coordinates
// AXIS: sizes option names axis "z", but mesh @mesh has "x"=4, "y"=1
// ZERO: sizes option gives axis "x" nothing but zeros
// NEGATIVE: --sizes=x=3,1,-2,2: expected ARG:DIM=
sdy.mesh @mesh = <["x"=4, "y"=1]>
func.func public @main(%x: tensor<16x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<16x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.slice %x [0:15, 0:10] : (tensor<16x10xf32>) -> tensor<15x10xf32>
  %1 = stablehlo.pad %0, %zero, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<15x10xf32>, tensor<f32>) -> tensor<16x10xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<16x10xf32>
  %3 = sdy.sharding_constraint %2 <@mesh, [{"y"}, {"x"}]> : tensor<16x10xf32>
  %4 = stablehlo.sine %3 : tensor<16x10xf32>
  return %4 : tensor<16x10xf32>
}
