// Sorts whose comparators say one order of values go to the runtime, others are loops: both as the text says,
// to the last bit, on uneven shards and with threads.
// RUN: shard-run %s --check=interpreter --rtol=0 --atol=0 --mesh=x=1 --threads=2 --seed=1
// RUN: shard-run %s --check=interpreter --rtol=0 --atol=0 --seed=2 --sizes=0:0=4,0,2
// RUN: shard-opt %s --shardc-pipeline | FileCheck %s
// CHECK-COUNT-7: call @shardrt_sort_lines(
//     CHECK-NOT: call @shardrt_sort_lines(
sdy.mesh @mesh = <["x"=3]>
func.func @main(%a: tensor<6x40xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<6x50xi32>, tensor<6x50xi32>, tensor<6x50xi32>, tensor<6x40xui32>, tensor<6x40xi32>, tensor<6x40xi1>,
        tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x40xf32>) {
  %five = stablehlo.constant dense<5> : tensor<6x40xi32>
  %few = stablehlo.remainder %a, %five : tensor<6x40xi32>
  %floats = stablehlo.convert %few : (tensor<6x40xi32>) -> tensor<6x40xf32>
  // NaNs of either sign and two payloads, infinities, zeros of either sign.
  %special = stablehlo.constant dense<[0x7FC00000, 0x80000000, 0xFFC00000, 0.0, 0x7F800000, 0x7FC00001, 0x80000000, 0xFF800000, 0.0, 0xFFC00000]> : tensor<10xf32>
  %specials = stablehlo.broadcast_in_dim %special, dims = [1] : (tensor<10xf32>) -> tensor<6x10xf32>
  %x = stablehlo.concatenate %specials, %floats, dim = 1 : (tensor<6x10xf32>, tensor<6x40xf32>) -> tensor<6x50xf32>
  %places = stablehlo.iota dim = 1 : tensor<6x50xi32>

  // As JAX compares: zeros are equal, and NaNs. With positions, and without anything beside the keys.
  %0:2 = "stablehlo.sort"(%x, %places) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<i32>, %s: tensor<i32>):
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %1 = stablehlo.compare EQ, %p, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.select %1, %zero, %p : tensor<i1>, tensor<f32>
    %3 = stablehlo.compare NE, %p, %p, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %4 = stablehlo.select %3, %nan, %2 : tensor<i1>, tensor<f32>
    %5 = stablehlo.compare EQ, %q, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %6 = stablehlo.select %5, %zero, %q : tensor<i1>, tensor<f32>
    %7 = stablehlo.compare NE, %q, %q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %8 = stablehlo.select %7, %nan, %6 : tensor<i1>, tensor<f32>
    %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %9 : tensor<i1>
  }) : (tensor<6x50xf32>, tensor<6x50xi32>) -> (tensor<6x50xf32>, tensor<6x50xi32>)
  %10 = stablehlo.bitcast_convert %0#0 : (tensor<6x50xf32>) -> tensor<6x50xi32>

  // Total order, by the second argument, and the key behind what moves with it.
  %11:2 = "stablehlo.sort"(%places, %x) <{dimension = 1 : i64}> ({
  ^bb0(%p: tensor<i32>, %q: tensor<i32>, %r: tensor<f32>, %s: tensor<f32>):
    %1 = stablehlo.compare LT, %s, %r, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<6x50xi32>, tensor<6x50xf32>) -> (tensor<6x50xi32>, tensor<6x50xf32>)

  // Unsigned; signed along the dim that is cut, with elements of another type beside it; booleans.
  %unsigned = stablehlo.convert %few : (tensor<6x40xi32>) -> tensor<6x40xui32>
  %12 = "stablehlo.sort"(%unsigned) <{dimension = 1 : i64}> ({
  ^bb0(%p: tensor<ui32>, %q: tensor<ui32>):
    %1 = stablehlo.compare GT, %p, %q, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<6x40xui32>) -> tensor<6x40xui32>
  %13:2 = "stablehlo.sort"(%few, %a) <{dimension = 1 : i64}> ({
  ^bb0(%p: tensor<i32>, %q: tensor<i32>, %r: tensor<i32>, %s: tensor<i32>):
    %1 = stablehlo.compare GT, %p, %q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<6x40xi32>, tensor<6x40xi32>) -> (tensor<6x40xi32>, tensor<6x40xi32>)
  %none = stablehlo.constant dense<0> : tensor<6x40xi32>
  %is = stablehlo.compare LT, %few, %none, SIGNED : (tensor<6x40xi32>, tensor<6x40xi32>) -> tensor<6x40xi1>
  %14 = "stablehlo.sort"(%is) <{dimension = 1 : i64}> ({
  ^bb0(%p: tensor<i1>, %q: tensor<i1>):
    %1 = stablehlo.compare LT, %p, %q, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<6x40xi1>) -> tensor<6x40xi1>

  // The largest few of either kind.
  %halves = stablehlo.convert %x : (tensor<6x50xf32>) -> tensor<6x50xbf16>
  %values, %at = chlo.top_k(%halves, k = 4) : tensor<6x50xbf16> -> (tensor<6x4xbf16>, tensor<6x4xi32>)
  %top, %where = chlo.top_k(%a, k = 4) : tensor<6x40xi32> -> (tensor<6x4xi32>, tensor<6x4xi32>)
  %15 = stablehlo.add %top, %where : tensor<6x4xi32>

  // Of these NaN would be neither before nor behind a number: loops.
  %16 = "stablehlo.sort"(%floats) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.compare LT, %p, %q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<6x40xf32>) -> tensor<6x40xf32>
  return %10, %0#1, %11#0, %12, %13#1, %14, %at, %15, %16
      : tensor<6x50xi32>, tensor<6x50xi32>, tensor<6x50xi32>, tensor<6x40xui32>, tensor<6x40xi32>, tensor<6x40xi1>,
        tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x40xf32>
}
