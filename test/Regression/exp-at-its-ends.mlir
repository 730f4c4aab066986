// RUN: %npz write %t.npz 'in0=<f4:32:100,-200,0,inf,-inf' 'out0=<f4:32:inf,0,1,inf,0'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=1e-6 --atol=0
// exp overflows to infinity and vanishes to zero, on vectors too.
func.func @main(%x: tensor<32xf32>) -> tensor<32xf32> {
  %0 = stablehlo.exponential %x : tensor<32xf32>
  return %0 : tensor<32xf32>
}
