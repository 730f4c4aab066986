// RUN: shard-opt %s --split-input-file --verify-diagnostics

spmd.mesh @mesh = <["x"=4]>
func.func @uneven(%x: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @below {{'spmd.manual' op operand 0 has dim 0 of 6 elements, which manual axes do not cut into 4 equal blocks}}
  %0 = spmd.manual(%x) in [#spmd.sharding<@mesh, [{"x"}]>] out [#spmd.sharding<@mesh, [{"x"}]>] along ["x"] {
  ^bb0(%block: tensor<2xf32>):
    spmd.return %block : tensor<2xf32>
  } : (tensor<6xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

spmd.mesh @mesh = <["x"=2, "y"=2]>
func.func @order(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{operand 0 has manual axis "x" behind a free one in dim 0; manual axes come first}}
  %0 = spmd.manual(%x) in [#spmd.sharding<@mesh, [{"y", "x"}]>] out [#spmd.sharding<@mesh, [{"x"}]>] along ["x"] {
  ^bb0(%block: tensor<4xf32>):
    spmd.return %block : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2, "y"=2]>
func.func @differing_blocks(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{operand 0 has blocks along manual axes that differ in dim 0: }}
  %0 = spmd.manual(%x) in [#spmd.sharding<@mesh, [{"x", "y" sizes [3, 1, 1, 3]}]>] out [#spmd.sharding<@mesh, [{"x"}]>] along ["x"] {
  ^bb0(%block: tensor<4xf32>):
    spmd.return %block : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @block_type(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{operand 0 is 'tensor<8xf32>' in the region, expected 'tensor<4xf32>', a block of 'tensor<8xf32>'}}
  %0 = spmd.manual(%x) in [#spmd.sharding<@mesh, [{"x"}]>] out [#spmd.sharding<@mesh, [{}]>] along ["x"] {
  ^bb0(%block: tensor<8xf32>):
    spmd.return %block : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @unknown_axis(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{has manual axis "z", but mesh @mesh is}}
  %0 = spmd.manual(%x) in [#spmd.sharding<@mesh, [{}]>] out [#spmd.sharding<@mesh, [{}]>] along ["z"] {
  ^bb0(%block: tensor<8xf32>):
    spmd.return %block : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @counts(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{has 1 results, 1 shardings of them, and 0 values in its region for them}}
  %0 = spmd.manual(%x) in [#spmd.sharding<@mesh, [{}]>] out [#spmd.sharding<@mesh, [{}]>] along ["x"] {
  ^bb0(%block: tensor<8xf32>):
    spmd.return
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
