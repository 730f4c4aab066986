// RUN: shard-opt %s --spmd-lower-communication --verify-diagnostics
// What the runtime cannot combine, and --spmd-widen-reductions has not made f32, is refused with its line when a program is compiled, not when
// it is loaded.
spmd.mesh @mesh = <["x"=3]>
func.func @main(%x: tensor<9xf8E5M2>) -> tensor<9xf8E5M2> attributes {spmd.local_view} {
  // expected-error @+1 {{'local.all_reduce' op unsupported: ranks do not combine elements of 'f8E5M2'; convert to a wider type first}}
  %sum = local.all_reduce sum %x along ["x"] on @mesh : tensor<9xf8E5M2>
  return %sum : tensor<9xf8E5M2>
}
