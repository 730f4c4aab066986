// RUN: %npz write %t.npz 'in0=<f4:4x3:-5,-4,-3,-2,-1,0,1,2,3,4,5,6' 'in1=<f4:3x5:-7,-6,-5,-4,-3,-2,-1,0,1,2,3,4,5,6,7' 'out0=<f4:4x5:34,22,10,-2,-14,16,13,10,7,4,-2,4,10,16,22,-20,-5,10,25,40'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 --mesh=x=3
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 --mesh=x=8
// Rows of the left and columns of the right operand both along one axis, and the result in columns. Elsewhere (upstream's
// `shard`) no diagnostic, an illegal program and exit code 0.
spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4x3xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %b: tensor<3x5xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<4x5xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
