// RUN: shard-opt %s --split-input-file --verify-diagnostics
// What one stage leaves for another has a name, a type and a place.

// expected-error @below {{'func.func' op 'spmd.local_vew' is unknown; SpmdDialect.td declares all attributes of spmd}}
func.func @name(%x: tensor<4xf32>) attributes {spmd.local_vew} {
  return
}

// -----

// expected-error @below {{'func.func' op argument 0: 'spmd.nme' is unknown}}
func.func @name_of_argument(%x: tensor<4xf32> {spmd.nme = "x"}) {
  return
}

// -----

// expected-error @below {{'func.func' op argument 0: 'spmd.name' is 3 : i64, expected a string}}
func.func @type(%x: tensor<4xf32> {spmd.name = 3 : i64}) {
  return
}

// -----

// expected-error @below {{'func.func' op argument 0: 'spmd.donated' is -2 : i64, expected the number of a result, or -1}}
func.func @donated(%x: tensor<4xf32> {spmd.donated = -2 : i64}) {
  return
}

// -----

// expected-error @below {{'func.func' op argument 0: 'spmd.check' is an attribute of functions' results}}
func.func @place_of_check(%x: tensor<4xf32> {spmd.check = #spmd.check<kind = eq>}) {
  return
}

// -----

// expected-error @below {{'func.func' op result 0: 'spmd.donated' is an attribute of functions' arguments}}
func.func @place_of_donated(%x: tensor<4xf32>) -> (tensor<4xf32> {spmd.donated = 0 : i64}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{'func.func' op argument 0: 'spmd.global_type' is f32, expected the type of a whole tensor}}
func.func @global_type(%x: tensor<4xf32> {spmd.global_type = f32}) {
  return
}

// -----

func.func @group(%x: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.negate' op 'spmd.group' is an attribute of 'spmd.constrain'}}
  %0 = stablehlo.negate %x {spmd.group = 1 : i64} : tensor<4xf32>
  return
}

// -----

// expected-error @below {{'func.func' op 'spmd.whole_sum' is an attribute of ops that sum}}
func.func @whole_sum() attributes {spmd.whole_sum} {
  return
}

// -----

func.func @mark(%x: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.negate' op 'spmd.whole_sum' is true, expected no value}}
  %0 = stablehlo.negate %x {spmd.whole_sum = true} : tensor<4xf32>
  return
}

// -----

func.func @way(%x: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.negate' op 'pairs.way' is an attribute of ops on all pairs}}
  %0 = stablehlo.negate %x {pairs.way = #pairs.way<ring>} : tensor<4xf32>
  return
}

// -----

// expected-error @below {{'func.func' op 'local.memory_plan' is {fits = true}, expected a #local.memory_plan}}
func.func @memory_plan() attributes {local.memory_plan = {fits = true}} {
  return
}

// -----

func.func @again(%x: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.negate' op 'local.again' is an attribute of 'stablehlo.optimization_barrier' and 'scf.execute_region'}}
  %0 = stablehlo.negate %x {local.again = 1 : i64} : tensor<4xf32>
  return
}

// -----

// expected-error @below {{'builtin.module' op 'kernel.sites' is [], expected a #kernel.site_table}}
module attributes {kernel.sites = []} {
}

// -----

// expected-error @below {{'builtin.module' op 'kernel.entry_inputs' is [1], expected a list of dictionaries}}
module attributes {kernel.entry_inputs = [1]} {
}

// -----

// expected-error @below {{'func.func' op 'kernel.arena_bytes' is an attribute of modules}}
func.func @arena_bytes() attributes {kernel.arena_bytes = 64 : i64} {
  return
}

// -----

// expected-error @below {{'builtin.module' op 'kernel.arena_bytes' is -1 : i64, expected a number of at least 0}}
module attributes {kernel.arena_bytes = -1 : i64} {
}

// -----

// expected-error @below {{'builtin.module' op 'kernel.kernels' is}}
module attributes {kernel.kernels = [["add"]]} {
}

// -----

func.func @parts(%n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @below {{'scf.for' op 'kernel.parts' is 0 : i64, expected a number of at least 1}}
  scf.for %i = %zero to %n step %one {
  } {kernel.parts = 0 : i64}
  return
}

// -----

func.func @any_order(%x: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.add' op 'kernel.any_order' is an attribute of arithmetic}}
  %0 = stablehlo.add %x, %x {kernel.any_order} : tensor<4xf32>
  return
}

// -----

func.func @tensor_float(%x: f32) {
  // expected-error @below {{'arith.mulf' op 'kernel.tensor_float' is "high", expected a #kernel.tensor_float}}
  %0 = arith.mulf %x, %x {kernel.tensor_float = "high"} : f32
  return
}

// -----

func.func @unknown_tensor_float(%x: f32) {
  // expected-error @below {{to be one of: default, high, tf32, tf32x3}}
  // expected-error @below {{failed to parse Kernel_TensorFloatKindAttr}}
  %0 = arith.mulf %x, %x {kernel.tensor_float = #kernel.tensor_float<bf16>} : f32
  return
}

// -----

func.func @unknown_direction(%x: tensor<4xf32>) {
  // expected-error @below {{to be one of: forward, backward, none}}
  // expected-error @below {{failed to parse Spmd_FlowDirectionAttr}}
  %0 = stablehlo.negate %x {spmd.direction = #spmd.direction<both>} : tensor<4xf32>
  return
}

// -----

func.func @unknown_way(%x: tensor<4xf32>) {
  // expected-error @below {{to be one of: ring, zigzag, gather, heads}}
  // expected-error @below {{failed to parse Pairs_PairWayAttr}}
  %0 = stablehlo.negate %x {pairs.way = #pairs.way<tree>} : tensor<4xf32>
  return
}

// -----

func.func @unknown_gpu(%x: f32) {
  // expected-error @below {{to be one of: sm_90a, sm_100a}}
  // expected-error @below {{failed to parse Kernel_KernelGpuAttr}}
  %0 = arith.mulf %x, %x {kernel.gpu = #kernel.gpu<sm_80>} : f32
  return
}

// -----

func.func @unknown_comparison(%x: tensor<4xf32>) {
  // expected-error @below {{to be one of: signed, unsigned, total, numbers}}
  // expected-error @below {{failed to parse Kernel_LineOrderAttr parameter 'comparison'}}
  %0 = stablehlo.negate %x {kernel.line_order = #kernel.line_order<comparison = backwards>} : tensor<4xf32>
  return
}

// -----

// expected-error @below {{to be one of: expected, eq, almost_eq, close}}
// expected-error @below {{failed to parse Spmd_CheckAttr parameter 'kind'}}
func.func @unknown_check(%x: tensor<4xf32>) -> (tensor<4xf32> {spmd.check = #spmd.check<kind = near>}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{check of kind eq has a tolerance, which is of almost_eq alone}}
func.func @tolerance_of_eq(%x: tensor<4xf32>) -> (tensor<4xf32> {spmd.check = #spmd.check<kind = eq, tolerance = 0.5 : f64>}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{check of kind almost_eq has no tolerance}}
func.func @no_tolerance(%x: tensor<4xf32>) -> (tensor<4xf32> {spmd.check = #spmd.check<kind = almost_eq>}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{check of kind almost_eq has tolerance 5.000000e-01 : f32, expected an f64 of at least 0}}
func.func @type_of_tolerance(%x: tensor<4xf32>) -> (tensor<4xf32> {spmd.check = #spmd.check<kind = almost_eq, tolerance = 0.5 : f32>}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{check of kind almost_eq has tolerance 0x7FF8000000000000 : f64, expected an f64 of at least 0}}
func.func @tolerance_is_no_number(%x: tensor<4xf32>) -> (tensor<4xf32> {spmd.check = #spmd.check<kind = almost_eq, tolerance = 0x7FF8000000000000 : f64>}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{check of kind eq has distances in ulps, which are of close alone}}
func.func @ulps_of_eq(%x: tensor<4xf32>) -> (tensor<4xf32> {spmd.check = #spmd.check<kind = eq, max_ulps = 3>}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{check of kind close has distances from 4 to 3 ulps, expected min_ulps <= max_ulps}}
func.func @no_distance(%x: tensor<4xf32>) -> (tensor<4xf32> {spmd.check = #spmd.check<kind = close, min_ulps = 4, max_ulps = 3>}) {
  return %x : tensor<4xf32>
}

// -----

func.func @gpu(%x: f32) {
  // expected-error @below {{'arith.mulf' op 'kernel.gpu' is an attribute of launches and kernels}}
  %0 = arith.mulf %x, %x {kernel.gpu = #kernel.gpu<sm_90a>} : f32
  return
}

// -----

func.func @partitioned_call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.custom_call' op 'spmd.partitioned_call' is -1 : i64, expected a number of at least 0}}
  %0 = stablehlo.custom_call @CustomSPMDPartitioning(%x) {spmd.partitioned_call = -1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @order_of_no_lines(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.negate' op 'kernel.line_order' is an attribute of 'kernel.lines'}}
  %0 = stablehlo.negate %x {kernel.line_order = #kernel.line_order<comparison = total>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @unknown_order(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @below {{'kernel.lines' op 'kernel.line_order' is "numbers descending", expected a #kernel.line_order}}
  %0 = kernel.lines sort dim 0 ins(%x : tensor<4xi32>) outs(%y : tensor<4xi32>) {kernel.line_order = "numbers descending"} body {
  ^bb0(%a: i32, %b: i32):
    %before = arith.cmpi slt, %a, %b : i32
    kernel.yield %before : i1
  } -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

#row = affine_map<(i, j) -> (i)>
#both = affine_map<(i, j) -> (i, j)>
func.func @starts_of_one_output(%a: memref<4x8xf32>, %b: memref<4xf32>, %c: memref<4xf32>) {
  // expected-error @below {{'linalg.generic' op 'kernel.starts' is [0.000000e+00 : f32], expected for each output a number of its elements' type, or unit}}
  linalg.generic {indexing_maps = [#both, #row, #row], iterator_types = ["parallel", "reduction"], kernel.starts = [0.0 : f32]}
      ins(%a : memref<4x8xf32>) outs(%b, %c : memref<4xf32>, memref<4xf32>) {
  ^bb0(%x: f32, %sum: f32, %most: f32):
    %0 = arith.addf %sum, %x : f32
    %1 = arith.maximumf %most, %x : f32
    linalg.yield %0, %1 : f32, f32
  }
  return
}

// -----

#row = affine_map<(i, j) -> (i)>
#both = affine_map<(i, j) -> (i, j)>
func.func @starts_of_other_type(%a: memref<4x8xf32>, %b: memref<4xf32>) {
  // expected-error @below {{'linalg.generic' op 'kernel.starts' is [0 : i32], expected for each output a number of its elements' type, or unit}}
  linalg.generic {indexing_maps = [#both, #row], iterator_types = ["parallel", "reduction"], kernel.starts = [0 : i32]}
      ins(%a : memref<4x8xf32>) outs(%b : memref<4xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %0 = arith.addf %sum, %x : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

func.func @starts(%x: f32) {
  // expected-error @below {{'arith.addf' op 'kernel.starts' is an attribute of 'linalg.generic' and 'pairs.pair_step'}}
  %0 = arith.addf %x, %x {kernel.starts = [0.0 : f32]} : f32
  return
}

// -----

func.func @complex_part(%a: memref<4xcomplex<f32>>) {
  // expected-error @below {{'builtin.unrealized_conversion_cast' op 'kernel.complex_part' is 2 : i64, expected 0, 1 or -1}}
  %0 = builtin.unrealized_conversion_cast %a : memref<4xcomplex<f32>> to memref<4xf32, strided<[2]>> {kernel.complex_part = 2 : i64}
  return
}

// -----

func.func @library_call(%x: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.sine' op 'kernel.library_call' is an attribute of arithmetic}}
  %0 = stablehlo.sine %x {kernel.library_call} : tensor<4xf32>
  return
}

// -----

// expected-error @below {{'builtin.module' op 'kernel.sits' is unknown; KernelDialect.td declares all attributes of kernel}}
module attributes {kernel.sits} {
}

// -----

func.func @of_local(%x: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.negate' op 'local.agin' is unknown; LocalDialect.td declares all attributes of local}}
  %0 = stablehlo.negate %x {local.agin = 1 : i64} : tensor<4xf32>
  return
}

// -----

func.func @of_pairs(%x: tensor<4xf32>) {
  // expected-error @below {{'stablehlo.negate' op 'pairs.wy' is unknown; PairsDialect.td declares all attributes of pairs}}
  %0 = stablehlo.negate %x {pairs.wy} : tensor<4xf32>
  return
}

// -----

// expected-error @below {{'func.func' op argument 0: 'kernel.in_place' is -1 : i64, expected the number of an argument}}
func.func @in_place(%x: memref<4xf32> {kernel.in_place = -1 : i64}) {
  return
}

// -----

// expected-error @below {{'func.func' op result 0: 'kernel.arena' is an attribute of functions' arguments}}
func.func @place_of_arena(%x: memref<4xi8>) -> (memref<4xi8> {kernel.arena}) {
  return %x : memref<4xi8>
}
