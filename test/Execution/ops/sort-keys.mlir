// Sorts by several keys, or by both parts of complex numbers, are as many sorts of the runtime; what only looks like
// one is a loop. All as the text says, to the last bit, on uneven shards and with threads.
// RUN: shard-run %s --check=interpreter --rtol=0 --atol=0 --mesh=x=1 --threads=2 --seed=1
// RUN: shard-run %s --check=interpreter --rtol=0 --atol=0 --seed=2 --sizes=0:0=4,0,2
// RUN: shard-opt %s --shardc-pipeline | FileCheck %s
// CHECK-COUNT-7: call @shardrt_sort_lines(
//     CHECK-NOT: call @shardrt_sort_lines(
sdy.mesh @mesh = <["x"=3]>
func.func @main(%a: tensor<6x40xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xi32>, tensor<6x40xi32>, tensor<6x40xi32>, tensor<6x40xf32>, tensor<6x40xi32>, tensor<6x40xi32>) {
  %three = stablehlo.constant dense<3> : tensor<6x40xi32>
  %few = stablehlo.remainder %a, %three : tensor<6x40xi32>
  %five = stablehlo.constant dense<5> : tensor<6x40xi32>
  %more = stablehlo.remainder %a, %five : tensor<6x40xi32>
  %floats = stablehlo.convert %more : (tensor<6x40xi32>) -> tensor<6x40xf32>
  // NaNs of either sign, infinities, zeros of either sign, and numbers of which there are several.
  %special = stablehlo.constant dense<[0x7FC00000, 0x80000000, 0xFFC00000, 0.0, 0x7F800000, 1.0, 0x80000000, 0xFF800000, 0.0, 1.0]> : tensor<10xf32>
  %specials = stablehlo.broadcast_in_dim %special, dims = [1] : (tensor<10xf32>) -> tensor<6x10xf32>
  %rest = stablehlo.slice %floats [0:6, 0:30] : (tensor<6x40xf32>) -> tensor<6x30xf32>
  %x = stablehlo.concatenate %specials, %rest, dim = 1 : (tensor<6x10xf32>, tensor<6x30xf32>) -> tensor<6x40xf32>
  %y = stablehlo.reverse %x, dims = [1] : tensor<6x40xf32>
  %z = stablehlo.complex %x, %y : tensor<6x40xcomplex<f32>>
  %places = stablehlo.iota dim = 1 : tensor<6x40xi32>

  // Complex numbers as JAX compares them: two sorts.
  %0:2 = "stablehlo.sort"(%z, %places) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%p: tensor<complex<f32>>, %q: tensor<complex<f32>>, %r: tensor<i32>, %s: tensor<i32>):
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %pr0 = stablehlo.real %p : (tensor<complex<f32>>) -> tensor<f32>
    %prz = stablehlo.compare EQ, %pr0, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %pra = stablehlo.select %prz, %zero, %pr0 : tensor<i1>, tensor<f32>
    %prn = stablehlo.compare NE, %pr0, %pr0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %pr = stablehlo.select %prn, %nan, %pra : tensor<i1>, tensor<f32>
    %pi0 = stablehlo.imag %p : (tensor<complex<f32>>) -> tensor<f32>
    %piz = stablehlo.compare EQ, %pi0, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %pia = stablehlo.select %piz, %zero, %pi0 : tensor<i1>, tensor<f32>
    %pin = stablehlo.compare NE, %pi0, %pi0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %pi = stablehlo.select %pin, %nan, %pia : tensor<i1>, tensor<f32>
    %qr0 = stablehlo.real %q : (tensor<complex<f32>>) -> tensor<f32>
    %qrz = stablehlo.compare EQ, %qr0, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %qra = stablehlo.select %qrz, %zero, %qr0 : tensor<i1>, tensor<f32>
    %qrn = stablehlo.compare NE, %qr0, %qr0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %qr = stablehlo.select %qrn, %nan, %qra : tensor<i1>, tensor<f32>
    %qi0 = stablehlo.imag %q : (tensor<complex<f32>>) -> tensor<f32>
    %qiz = stablehlo.compare EQ, %qi0, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %qia = stablehlo.select %qiz, %zero, %qi0 : tensor<i1>, tensor<f32>
    %qin = stablehlo.compare NE, %qi0, %qi0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %qi = stablehlo.select %qin, %nan, %qia : tensor<i1>, tensor<f32>
    %i = stablehlo.compare LT, %pi, %qi, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %r1 = stablehlo.compare LT, %pr, %qr, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %e = stablehlo.compare EQ, %pr, %qr, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %b = stablehlo.and %e, %i : tensor<i1>
    %o = stablehlo.or %r1, %b : tensor<i1>
    stablehlo.return %o : tensor<i1>
  }) : (tensor<6x40xcomplex<f32>>, tensor<6x40xi32>) -> (tensor<6x40xcomplex<f32>>, tensor<6x40xi32>)
  %re = stablehlo.real %0#0 : (tensor<6x40xcomplex<f32>>) -> tensor<6x40xf32>
  %im = stablehlo.imag %0#0 : (tensor<6x40xcomplex<f32>>) -> tensor<6x40xf32>

  // Three keys, the second one descending, `or` and `and` the other way round: three sorts.
  %1:4 = "stablehlo.sort"(%few, %x, %more, %places) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%p0: tensor<i32>, %q0: tensor<i32>, %p1: tensor<f32>, %q1: tensor<f32>, %p2: tensor<i32>, %q2: tensor<i32>, %r: tensor<i32>, %s: tensor<i32>):
    %l0 = stablehlo.compare LT, %p0, %q0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %e0 = stablehlo.compare EQ, %q0, %p0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %l1 = stablehlo.compare GT, %p1, %q1, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %e1 = stablehlo.compare EQ, %p1, %q1, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %l2 = stablehlo.compare LT, %p2, %q2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %b1 = stablehlo.and %l2, %e1 : tensor<i1>
    %o1 = stablehlo.or %b1, %l1 : tensor<i1>
    %b0 = stablehlo.and %e0, %o1 : tensor<i1>
    %o0 = stablehlo.or %b0, %l0 : tensor<i1>
    stablehlo.return %o0 : tensor<i1>
  }) : (tensor<6x40xi32>, tensor<6x40xf32>, tensor<6x40xi32>, tensor<6x40xi32>) -> (tensor<6x40xi32>, tensor<6x40xf32>, tensor<6x40xi32>, tensor<6x40xi32>)

  // Descending by real parts alone; of those that are equal the first stays first: one sort.
  %2:2 = "stablehlo.sort"(%z, %places) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%p: tensor<complex<f32>>, %q: tensor<complex<f32>>, %r: tensor<i32>, %s: tensor<i32>):
    %pr = stablehlo.real %p : (tensor<complex<f32>>) -> tensor<f32>
    %qr = stablehlo.real %q : (tensor<complex<f32>>) -> tensor<f32>
    %o = stablehlo.compare GT, %pr, %qr, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %o : tensor<i1>
  }) : (tensor<6x40xcomplex<f32>>, tensor<6x40xi32>) -> (tensor<6x40xcomplex<f32>>, tensor<6x40xi32>)

  // A sum of what two operands have is no key: a loop.
  %3:2 = "stablehlo.sort"(%few, %more) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%p0: tensor<i32>, %q0: tensor<i32>, %p1: tensor<i32>, %q1: tensor<i32>):
    %ps = stablehlo.add %p0, %p1 : tensor<i32>
    %qs = stablehlo.add %q0, %q1 : tensor<i32>
    %o0 = stablehlo.compare LT, %ps, %qs, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %o0 : tensor<i1>
  }) : (tensor<6x40xi32>, tensor<6x40xi32>) -> (tensor<6x40xi32>, tensor<6x40xi32>)

  // Numbers that are the same, where bits are compared: -0 is before 0, and both are one key for what is behind. No
  // order by keys either, but an order: the second key is that of the first again.
  %4:2 = "stablehlo.sort"(%x, %more) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%p0: tensor<f32>, %q0: tensor<f32>, %p1: tensor<i32>, %q1: tensor<i32>):
    %l0 = stablehlo.compare LT, %p0, %q0, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %e0 = stablehlo.compare EQ, %p0, %q0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %l1 = stablehlo.compare LT, %p0, %q0, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %b0 = stablehlo.and %e0, %l1 : tensor<i1>
    %o0 = stablehlo.or %l0, %b0 : tensor<i1>
    stablehlo.return %o0 : tensor<i1>
  }) : (tensor<6x40xf32>, tensor<6x40xi32>) -> (tensor<6x40xf32>, tensor<6x40xi32>)

  // One key: one sort.
  %5:2 = "stablehlo.sort"(%few, %places) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%p0: tensor<i32>, %q0: tensor<i32>, %r: tensor<i32>, %s: tensor<i32>):
    %l0 = stablehlo.compare LT, %p0, %q0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l0 : tensor<i1>
  }) : (tensor<6x40xi32>, tensor<6x40xi32>) -> (tensor<6x40xi32>, tensor<6x40xi32>)
  return %re, %im, %0#1, %1#3, %2#1, %4#0, %3#1, %5#1 : tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xi32>, tensor<6x40xi32>, tensor<6x40xi32>, tensor<6x40xf32>, tensor<6x40xi32>, tensor<6x40xi32>
}
