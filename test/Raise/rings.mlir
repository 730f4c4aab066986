// RUN: shard-opt %s --split-input-file --spmd-raise-rings | FileCheck %s
// RUN: shard-opt %s --split-input-file --spmd-raise-rings=explain --verify-diagnostics -o /dev/null
// Two blocks of keys go past the queries of two ranks: attention of the whole tensors.
// CHECK-LABEL: func.func @two_blocks(
//   CHECK-NOT:   spmd.manual
//       CHECK:   %[[RAW:.*]] = stablehlo.dot_general {{.*}} -> tensor<8x8xf32>
//       CHECK:   stablehlo.reduce(%[[RAW]] init: {{.*}}) applies stablehlo.maximum across dimensions = [1]
//       CHECK:   %[[P:.*]] = stablehlo.divide
//       CHECK:   stablehlo.dot_general %[[P]], {{.*}} -> tensor<8x3xf32>
#rows = #spmd.sharding<@mesh, [{"x"}, {}]>
spmd.mesh @mesh = <["x"=2]>
func.func @two_blocks(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x3xf32>) -> tensor<8x3xf32> {
  %out = spmd.manual(%q, %k, %v) in [#rows, #rows, #rows] out [#rows] along ["x"] {
  ^bb0(%queries: tensor<4x4xf32>, %keys: tensor<4x4xf32>, %values: tensor<4x3xf32>):
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %s0 = stablehlo.dot_general %queries, %keys, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %e0 = stablehlo.exponential %s0 : tensor<4x4xf32>
    %l0 = stablehlo.reduce(%e0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %o0 = stablehlo.dot_general %e0, %values, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %keys1 = "stablehlo.collective_permute"(%keys) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %values1 = "stablehlo.collective_permute"(%values) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %s1 = stablehlo.dot_general %queries, %keys1, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %e1 = stablehlo.exponential %s1 : tensor<4x4xf32>
    %l1 = stablehlo.reduce(%e1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %o1 = stablehlo.dot_general %e1, %values1, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %o = stablehlo.add %o0, %o1 : tensor<4x3xf32>
    %l = stablehlo.add %l0, %l1 : tensor<4xf32>
    %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x3xf32>
    %result = stablehlo.divide %o, %b : tensor<4x3xf32>
    spmd.return %result : tensor<4x3xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  return %out : tensor<8x3xf32>
}

// -----

// What is divided by the sum of one block, twice, is none.
// CHECK-LABEL: func.func @divided_by_one_sum(
//       CHECK:   spmd.manual
#rows = #spmd.sharding<@mesh, [{"x"}, {}]>
spmd.mesh @mesh = <["x"=2]>
func.func @divided_by_one_sum(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x3xf32>) -> tensor<8x3xf32> {
  // expected-remark@+1 {{looks like attention round a ring, but is left as it is: what it gives is not divided by the sum of all blocks' exponentials alone}}
  %out = spmd.manual(%q, %k, %v) in [#rows, #rows, #rows] out [#rows] along ["x"] {
  ^bb0(%queries: tensor<4x4xf32>, %keys: tensor<4x4xf32>, %values: tensor<4x3xf32>):
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %s0 = stablehlo.dot_general %queries, %keys, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %e0 = stablehlo.exponential %s0 : tensor<4x4xf32>
    %l0 = stablehlo.reduce(%e0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %o0 = stablehlo.dot_general %e0, %values, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %keys1 = "stablehlo.collective_permute"(%keys) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %values1 = "stablehlo.collective_permute"(%values) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %s1 = stablehlo.dot_general %queries, %keys1, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %e1 = stablehlo.exponential %s1 : tensor<4x4xf32>
    %l1 = stablehlo.reduce(%e1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %o1 = stablehlo.dot_general %e1, %values1, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %o = stablehlo.add %o0, %o1 : tensor<4x3xf32>
    %l = stablehlo.add %l0, %l0 : tensor<4xf32>
    %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x3xf32>
    %result = stablehlo.divide %o, %b : tensor<4x3xf32>
    spmd.return %result : tensor<4x3xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  return %out : tensor<8x3xf32>
}

// -----

// Values of one block under the scores of another.
// CHECK-LABEL: func.func @values_stay(
//       CHECK:   spmd.manual
#rows = #spmd.sharding<@mesh, [{"x"}, {}]>
spmd.mesh @mesh = <["x"=2]>
func.func @values_stay(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x3xf32>) -> tensor<8x3xf32> {
  // expected-remark@+1 {{looks like attention round a ring, but is left as it is: keys and values of a block are not of one rank, or queries travel}}
  %out = spmd.manual(%q, %k, %v) in [#rows, #rows, #rows] out [#rows] along ["x"] {
  ^bb0(%queries: tensor<4x4xf32>, %keys: tensor<4x4xf32>, %values: tensor<4x3xf32>):
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %s0 = stablehlo.dot_general %queries, %keys, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %e0 = stablehlo.exponential %s0 : tensor<4x4xf32>
    %l0 = stablehlo.reduce(%e0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %o0 = stablehlo.dot_general %e0, %values, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %keys1 = "stablehlo.collective_permute"(%keys) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %s1 = stablehlo.dot_general %queries, %keys1, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %e1 = stablehlo.exponential %s1 : tensor<4x4xf32>
    %l1 = stablehlo.reduce(%e1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %o1 = stablehlo.dot_general %e1, %values, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %o = stablehlo.add %o0, %o1 : tensor<4x3xf32>
    %l = stablehlo.add %l0, %l1 : tensor<4xf32>
    %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x3xf32>
    %result = stablehlo.divide %o, %b : tensor<4x3xf32>
    spmd.return %result : tensor<4x3xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  return %out : tensor<8x3xf32>
}

// -----

// Keys are made inside of the region, of what is cut along the ring.
// CHECK-LABEL: func.func @keys_made_inside(
//       CHECK:   spmd.manual
#rows = #spmd.sharding<@mesh, [{"x"}, {}]>
#whole = #spmd.sharding<@mesh, [{}, {}]>
spmd.mesh @mesh = <["x"=2]>
func.func @keys_made_inside(%q: tensor<8x4xf32>, %x: tensor<8x6xf32>, %w: tensor<6x4xf32>, %v: tensor<8x3xf32>) -> tensor<8x3xf32> {
  %out = spmd.manual(%q, %x, %w, %v) in [#rows, #rows, #whole, #rows] out [#rows] along ["x"] {
  ^bb0(%queries: tensor<4x4xf32>, %tokens: tensor<4x6xf32>, %weights: tensor<6x4xf32>, %values: tensor<4x3xf32>):
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    // expected-remark@+1 {{looks like attention round a ring, but is left as it is: 'stablehlo.dot_general' makes keys or values inside of the region; make them before it}}
    %keys = stablehlo.dot_general %tokens, %weights, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
    %s0 = stablehlo.dot_general %queries, %keys, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %e0 = stablehlo.exponential %s0 : tensor<4x4xf32>
    %l0 = stablehlo.reduce(%e0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %o0 = stablehlo.dot_general %e0, %values, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %keys1 = "stablehlo.collective_permute"(%keys) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %values1 = "stablehlo.collective_permute"(%values) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %s1 = stablehlo.dot_general %queries, %keys1, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %e1 = stablehlo.exponential %s1 : tensor<4x4xf32>
    %l1 = stablehlo.reduce(%e1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %o1 = stablehlo.dot_general %e1, %values1, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %o = stablehlo.add %o0, %o1 : tensor<4x3xf32>
    %l = stablehlo.add %l0, %l1 : tensor<4xf32>
    %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x3xf32>
    %result = stablehlo.divide %o, %b : tensor<4x3xf32>
    spmd.return %result : tensor<4x3xf32>
  } : (tensor<8x4xf32>, tensor<8x6xf32>, tensor<6x4xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  return %out : tensor<8x3xf32>
}

// -----

// The first rank leaves out keys that are all after its queries, and its own block has a mask of places in it: causal attention of the whole.
// CHECK-LABEL: func.func @left_out_by_a_branch(
//   CHECK-NOT:   spmd.manual
//       CHECK:   %[[RAW:.*]] = stablehlo.dot_general {{.*}} -> tensor<8x8xf32>
//   CHECK-DAG:   %[[QUERY:.*]] = stablehlo.iota dim = 0 : tensor<8x8xi32>
//   CHECK-DAG:   %[[KEY:.*]] = stablehlo.iota dim = 1 : tensor<8x8xi32>
//       CHECK:   %[[KEEP:.*]] = stablehlo.compare GE, %[[QUERY]], %[[KEY]]
//       CHECK:   stablehlo.select %[[KEEP]], %[[RAW]],
#rows = #spmd.sharding<@mesh, [{"x"}, {}]>
spmd.mesh @mesh = <["x"=2]>
func.func @left_out_by_a_branch(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x3xf32>) -> tensor<8x3xf32> {
  %out = spmd.manual(%q, %k, %v) in [#rows, #rows, #rows] out [#rows] along ["x"] {
  ^bb0(%queries: tensor<4x4xf32>, %keys: tensor<4x4xf32>, %values: tensor<4x3xf32>):
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %s0 = stablehlo.dot_general %queries, %keys, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %i = stablehlo.iota dim = 0 : tensor<4x4xi32>
    %j = stablehlo.iota dim = 1 : tensor<4x4xi32>
    %keep = stablehlo.compare GE, %i, %j : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %none = stablehlo.constant dense<0xFF800000> : tensor<4x4xf32>
    %kept = stablehlo.select %keep, %s0, %none : tensor<4x4xi1>, tensor<4x4xf32>
    %e0 = stablehlo.exponential %kept : tensor<4x4xf32>
    %l0 = stablehlo.reduce(%e0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %o0 = stablehlo.dot_general %e0, %values, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %keys1 = "stablehlo.collective_permute"(%keys) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %values1 = "stablehlo.collective_permute"(%values) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %id = stablehlo.partition_id : tensor<ui32>
    %me = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %o:2 = "stablehlo.case"(%me) ({
      stablehlo.return %l0, %o0 : tensor<4xf32>, tensor<4x3xf32>
    }, {
      %s1 = stablehlo.dot_general %queries, %keys1, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %e1 = stablehlo.exponential %s1 : tensor<4x4xf32>
      %l1 = stablehlo.reduce(%e1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
      %o1 = stablehlo.dot_general %e1, %values1, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %l = stablehlo.add %l0, %l1 : tensor<4xf32>
      %o = stablehlo.add %o0, %o1 : tensor<4x3xf32>
      stablehlo.return %l, %o : tensor<4xf32>, tensor<4x3xf32>
    }) : (tensor<i32>) -> (tensor<4xf32>, tensor<4x3xf32>)
    %b = stablehlo.broadcast_in_dim %o#0, dims = [0] : (tensor<4xf32>) -> tensor<4x3xf32>
    %result = stablehlo.divide %o#1, %b : tensor<4x3xf32>
    spmd.return %result : tensor<4x3xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  return %out : tensor<8x3xf32>
}

// -----

// No mask says what the first rank leaves out.
// CHECK-LABEL: func.func @left_out_by_a_branch_alone(
//       CHECK:   spmd.manual
#rows = #spmd.sharding<@mesh, [{"x"}, {}]>
spmd.mesh @mesh = <["x"=2]>
func.func @left_out_by_a_branch_alone(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x3xf32>) -> tensor<8x3xf32> {
  // expected-remark@+1 {{looks like attention round a ring, but is left as it is: ranks leave out blocks that its mask does not}}
  %out = spmd.manual(%q, %k, %v) in [#rows, #rows, #rows] out [#rows] along ["x"] {
  ^bb0(%queries: tensor<4x4xf32>, %keys: tensor<4x4xf32>, %values: tensor<4x3xf32>):
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %s0 = stablehlo.dot_general %queries, %keys, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %e0 = stablehlo.exponential %s0 : tensor<4x4xf32>
    %l0 = stablehlo.reduce(%e0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %o0 = stablehlo.dot_general %e0, %values, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %keys1 = "stablehlo.collective_permute"(%keys) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %values1 = "stablehlo.collective_permute"(%values) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %id = stablehlo.partition_id : tensor<ui32>
    %me = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %o:2 = "stablehlo.case"(%me) ({
      stablehlo.return %l0, %o0 : tensor<4xf32>, tensor<4x3xf32>
    }, {
      %s1 = stablehlo.dot_general %queries, %keys1, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %e1 = stablehlo.exponential %s1 : tensor<4x4xf32>
      %l1 = stablehlo.reduce(%e1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
      %o1 = stablehlo.dot_general %e1, %values1, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %l = stablehlo.add %l0, %l1 : tensor<4xf32>
      %o = stablehlo.add %o0, %o1 : tensor<4x3xf32>
      stablehlo.return %l, %o : tensor<4xf32>, tensor<4x3xf32>
    }) : (tensor<i32>) -> (tensor<4xf32>, tensor<4x3xf32>)
    %b = stablehlo.broadcast_in_dim %o#0, dims = [0] : (tensor<4xf32>) -> tensor<4x3xf32>
    %result = stablehlo.divide %o#1, %b : tensor<4x3xf32>
    spmd.return %result : tensor<4x3xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  return %out : tensor<8x3xf32>
}
