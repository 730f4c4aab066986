// RUN: shard-run %s --check=interpreter
// RUN: shard-run %s --check=interpreter --reproducible
// RUN: shard-run %s --check=interpreter --ranks=3 --sizes=0:1=500,0,503 --sizes=1:0=2,0,1 --verify-partition
// RUN: shard-run %s --check=interpreter --ranks=4 --sizes=0:1=255,256,257,235 --verify-partition

// A product of many complex numbers goes in lanes: of rows, of all, of a row that is cut somewhere and empty on one
// rank, from another number than one. Columns have lanes already. The numbers have a modulus of one.
sdy.mesh @mesh = <["x"=1]>
func.func @main(%x: tensor<5x1003xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %xw: tensor<3x700xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<5xcomplex<f32>>, tensor<complex<f32>>, tensor<1003xcomplex<f32>>, tensor<5xcomplex<f32>>, tensor<complex<f64>>) {
  %cos = stablehlo.cosine %x : tensor<5x1003xf32>
  %sin = stablehlo.sine %x : tensor<5x1003xf32>
  %z = stablehlo.complex %cos, %sin : tensor<5x1003xcomplex<f32>>
  %two = stablehlo.constant dense<(2.0, 1.0)> : tensor<complex<f32>>
  %one = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f32>>
  %0 = stablehlo.reduce(%z init: %two) applies stablehlo.multiply across dimensions = [1] : (tensor<5x1003xcomplex<f32>>, tensor<complex<f32>>) -> tensor<5xcomplex<f32>>
  %1 = stablehlo.reduce(%z init: %one) applies stablehlo.multiply across dimensions = [0, 1] : (tensor<5x1003xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  %2 = stablehlo.reduce(%z init: %one) applies stablehlo.multiply across dimensions = [0] : (tensor<5x1003xcomplex<f32>>, tensor<complex<f32>>) -> tensor<1003xcomplex<f32>>
  %t = stablehlo.transpose %z, dims = [1, 0] : (tensor<5x1003xcomplex<f32>>) -> tensor<1003x5xcomplex<f32>>
  %3 = stablehlo.reduce(%t init: %one) applies stablehlo.multiply across dimensions = [0] : (tensor<1003x5xcomplex<f32>>, tensor<complex<f32>>) -> tensor<5xcomplex<f32>>
  %cosw = stablehlo.cosine %xw : tensor<3x700xf64>
  %sinw = stablehlo.sine %xw : tensor<3x700xf64>
  %w = stablehlo.complex %cosw, %sinw : tensor<3x700xcomplex<f64>>
  %onew = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f64>>
  %4 = stablehlo.reduce(%w init: %onew) applies stablehlo.multiply across dimensions = [0, 1] : (tensor<3x700xcomplex<f64>>, tensor<complex<f64>>) -> tensor<complex<f64>>
  return %0, %1, %2, %3, %4 : tensor<5xcomplex<f32>>, tensor<complex<f32>>, tensor<1003xcomplex<f32>>, tensor<5xcomplex<f32>>, tensor<complex<f64>>
}
