// RUN: shard-run %s --seed=379536 --check --rtol=0 --atol=0

// What a loop in a loop gathers has no elements. Its copies began and ended in the same buffer, which bufferization refused.
// From: shard-fuzz --empty, program 37 of seed 291942.
spmd.mesh @mesh = <["batch"=1, "model"=2]>
func.func @main(%arg0: tensor<8xi16> {spmd.sharding = #spmd.sharding<@mesh, [{"batch", "model"}]>},
                %arg1: tensor<8xi32>,
                %arg2: tensor<0x1xi32>,
                %arg3: tensor<i32>,
                %arg4: tensor<i32>)
    -> (tensor<8xi16>,
        tensor<0xi32>) {
  %0:2 = "stablehlo.scatter"(%arg0, %arg1, %arg1, %arg0, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p_0: tensor<i16>, %m_0: tensor<i32>, %q_0: tensor<i16>, %n_0: tensor<i32>):
  %g_0 = stablehlo.compare GT, %p_0, %q_0 : (tensor<i16>, tensor<i16>) -> tensor<i1>
  %e_0 = stablehlo.compare EQ, %p_0, %q_0 : (tensor<i16>, tensor<i16>) -> tensor<i1>
  %y_0 = stablehlo.maximum %m_0, %n_0 : tensor<i32>
  %z_0 = stablehlo.select %g_0, %m_0, %n_0 : tensor<i1>, tensor<i32>
  %a_0 = stablehlo.maximum %p_0, %q_0 : tensor<i16>
  %b_0 = stablehlo.select %e_0, %y_0, %z_0 : tensor<i1>, tensor<i32>
  stablehlo.return %a_0, %b_0 : tensor<i16>, tensor<i32>
  }) : (tensor<8xi16>, tensor<8xi32>, tensor<8xi32>, tensor<8xi16>, tensor<8xi32>) -> (tensor<8xi16>, tensor<8xi32>)
  %zero_n0 = stablehlo.constant dense<0> : tensor<i32>
  %one_n0 = stablehlo.constant dense<1> : tensor<i32>
  %p_n0 = stablehlo.maximum %arg3, %zero_n0 : tensor<i32>
  %q_n0 = stablehlo.minimum %p_n0, %one_n0 : tensor<i32>
  %r_n0 = stablehlo.add %q_n0, %q_n0 : tensor<i32>
  %n_n0 = stablehlo.add %r_n0, %one_n0 : tensor<i32>
  %z0_n0 = stablehlo.constant dense<0> : tensor<0xi32>
  %w_n0:4 = stablehlo.while(%i_n0 = %zero_n0, %c0_n0 = %arg1, %c1_n0 = %arg2, %o0_n0 = %z0_n0) : tensor<i32>, tensor<8xi32>, tensor<0x1xi32>, tensor<0xi32>
  cond {
  %b_n0 = stablehlo.compare LT, %i_n0, %n_n0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %b_n0 : tensor<i1>
  } do {
  %zero_n1 = stablehlo.constant dense<0> : tensor<i32>
  %one_n1 = stablehlo.constant dense<1> : tensor<i32>
  %p_n1 = stablehlo.maximum %arg4, %zero_n1 : tensor<i32>
  %q_n1 = stablehlo.minimum %p_n1, %one_n1 : tensor<i32>
  %r_n1 = stablehlo.add %q_n1, %q_n1 : tensor<i32>
  %n_n1 = stablehlo.add %r_n1, %one_n1 : tensor<i32>
  %z0_n1 = stablehlo.constant dense<0> : tensor<0xi32>
  %w_n1:4 = stablehlo.while(%i_n1 = %zero_n1, %c0_n1 = %c0_n0, %c1_n1 = %c1_n0, %o0_n1 = %z0_n1) : tensor<i32>, tensor<8xi32>, tensor<0x1xi32>, tensor<0xi32>
  cond {
  %b_n1 = stablehlo.compare LT, %i_n1, %n_n1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %b_n1 : tensor<i1>
  } do {
  %1 = "stablehlo.gather"(%c0_n1, %c1_n1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<8xi32>, tensor<0x1xi32>) -> tensor<0xi32>
  %j_n1 = stablehlo.add %i_n1, %one_n1 : tensor<i32>
  stablehlo.return %j_n1, %c0_n1, %c1_n1, %1 : tensor<i32>, tensor<8xi32>, tensor<0x1xi32>, tensor<0xi32>
  }
  %j_n0 = stablehlo.add %i_n0, %one_n0 : tensor<i32>
  stablehlo.return %j_n0, %c0_n0, %c1_n0, %w_n1#3 : tensor<i32>, tensor<8xi32>, tensor<0x1xi32>, tensor<0xi32>
  }
  return %0#0, %w_n0#3 : tensor<8xi16>, tensor<0xi32>
}
