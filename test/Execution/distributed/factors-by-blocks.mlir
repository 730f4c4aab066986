// RUN: shard-run %s --check=interpreter --seed=1
// RUN: shard-run %s --check=interpreter --seed=2 --mesh=x=2 --threads=2
// RUN: shard-run %s --check=interpreter --seed=3 --sizes=0:0=0,1,2 --sizes=1:0=3,0,0
// RUN: shard-run %s --check --seed=4 --reproducible --threads=2
// LU factors of two full blocks of columns and one that is not, of square, wide, tall and complex matrices, and of one whose last
// thirty columns are all alike; and reflectors of QR with their product.
sdy.mesh @mesh = <["x"=3]>
func.func @main(%a: tensor<3x70x131xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>},
                %b: tensor<3x66x66xcomplex<f64>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>})
    -> (tensor<3x70x70xf64>, tensor<3x70xi32>, tensor<3x70xi32>, tensor<3x70x131xf64>, tensor<3x131x70xf64>, tensor<3x131xi32>,
        tensor<3x66x66xcomplex<f64>>, tensor<3xi32>, tensor<3x131x70xf64>, tensor<3x131x70xf64>, tensor<3x66x66xcomplex<f64>>) {
  %square = stablehlo.slice %a [0:3, 0:70, 0:70] : (tensor<3x70x131xf64>) -> tensor<3x70x70xf64>
  %tall = stablehlo.transpose %a, dims = [0, 2, 1] : (tensor<3x70x131xf64>) -> tensor<3x131x70xf64>
  %s:4 = solver.lu %square : (tensor<3x70x70xf64>) -> (tensor<3x70x70xf64>, tensor<3x70xi32>, tensor<3x70xi32>, tensor<3xi32>)
  %w:4 = solver.lu %a : (tensor<3x70x131xf64>) -> (tensor<3x70x131xf64>, tensor<3x70xi32>, tensor<3x70xi32>, tensor<3xi32>)
  %t:4 = solver.lu %tall : (tensor<3x131x70xf64>) -> (tensor<3x131x70xf64>, tensor<3x70xi32>, tensor<3x131xi32>, tensor<3xi32>)
  %c:4 = solver.lu %b : (tensor<3x66x66xcomplex<f64>>) -> (tensor<3x66x66xcomplex<f64>>, tensor<3x66xi32>, tensor<3x66xi32>, tensor<3xi32>)
  // Multiples of 1/8, so that the last column is exactly zero when its pivot is looked for.
  %i = stablehlo.iota dim = 1 : tensor<3x70x70xf64>
  %j = stablehlo.iota dim = 2 : tensor<3x70x70xf64>
  %forty = stablehlo.constant dense<40.0> : tensor<3x70x70xf64>
  %first = stablehlo.minimum %j, %forty : tensor<3x70x70xf64>
  %alike = stablehlo.compare LE, %i, %first : (tensor<3x70x70xf64>, tensor<3x70x70xf64>) -> tensor<3x70x70xi1>
  %one = stablehlo.constant dense<1.0> : tensor<3x70x70xf64>
  %none = stablehlo.constant dense<0.0> : tensor<3x70x70xf64>
  %zero = stablehlo.multiply %square, %none : tensor<3x70x70xf64>
  %singular = stablehlo.select %alike, %one, %zero : tensor<3x70x70xi1>, tensor<3x70x70xf64>
  %n:4 = solver.lu %singular : (tensor<3x70x70xf64>) -> (tensor<3x70x70xf64>, tensor<3x70xi32>, tensor<3x70xi32>, tensor<3xi32>)
  %q:2 = solver.qr %tall : (tensor<3x131x70xf64>) -> (tensor<3x131x70xf64>, tensor<3x70xf64>)
  %p = solver.householder_product %q#0, %q#1 : (tensor<3x131x70xf64>, tensor<3x70xf64>) -> tensor<3x131x70xf64>
  %k:2 = solver.qr %b : (tensor<3x66x66xcomplex<f64>>) -> (tensor<3x66x66xcomplex<f64>>, tensor<3x66xcomplex<f64>>)
  %r = solver.householder_product %k#0, %k#1 : (tensor<3x66x66xcomplex<f64>>, tensor<3x66xcomplex<f64>>) -> tensor<3x66x66xcomplex<f64>>
  return %s#0, %s#1, %s#2, %w#0, %t#0, %t#2, %c#0, %n#3, %q#0, %p, %r
    : tensor<3x70x70xf64>, tensor<3x70xi32>, tensor<3x70xi32>, tensor<3x70x131xf64>, tensor<3x131x70xf64>, tensor<3x131xi32>,
      tensor<3x66x66xcomplex<f64>>, tensor<3xi32>, tensor<3x131x70xf64>, tensor<3x131x70xf64>, tensor<3x66x66xcomplex<f64>>
}
