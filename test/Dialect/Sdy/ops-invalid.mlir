// RUN: shard-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{mesh has two axes named "x"}}
sdy.mesh @m = <["x"=2, "x"=4]>

// -----

// expected-error @+1 {{mesh axis "x" has size 0, expected at least 1}}
sdy.mesh @m = <["x"=0]>

// -----

// expected-error @+1 {{mesh has more than 65536 devices}}
sdy.mesh @m = <["x"=65536, "y"=2]>

// -----

sdy.mesh @largest = <["x"=32768, "y"=2]>

// -----

// expected-error @+1 {{mesh has 3 device ids, but its axes span 2 devices}}
sdy.mesh @m = <["x"=2], device_ids=[0, 1, 2]>

// -----

// expected-error @+1 {{device ids must be 0 to 1, each once; 0 comes twice}}
sdy.mesh @m = <["x"=2], device_ids=[0, 0]>

// -----

// expected-error @+1 {{'func.func' op argument 0: mesh @nowhere is unknown; define it with sdy.mesh}}
func.func @unknown_mesh(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@nowhere, [{"x"}]>}) {
  return
}

// -----

sdy.mesh @m = <["x"=2, "y"=4]>
// expected-error @+1 {{'func.func' op argument 1: axis "z" is unknown; mesh @m has "x", "y"}}
func.func @unknown_axis(%a: tensor<8xf32>, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"z"}]>}) {
  return
}

// -----

sdy.mesh @m = <["x"=2, "y"=4]>
// expected-error @+1 {{'func.func' op result 0: sharding has 1 dims, but the value of type 'tensor<8x4xf32>' has 2}}
func.func private @dims() -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>})

// -----

sdy.mesh @m = <["x"=2, "y"=4]>
func.func @axis_twice(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{axis "x" is used twice}}
  %0 = sdy.sharding_constraint %a <@m, [{"x"}, {"x"}]> : tensor<8x4xf32>
  return
}

// -----

sdy.mesh @m = <["x"=2, "y"=4]>
func.func @axis_twice_replicated(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{axis "x" is used twice}}
  %0 = sdy.sharding_constraint %a <@m, [{"x"}, {}], replicated={"x"}> : tensor<8x4xf32>
  return
}

// -----

sdy.mesh @m = <["x"=8]>
func.func @parts_overlap(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{axis "x":(2)4 is used twice}}
  %0 = sdy.sharding_constraint %a <@m, [{"x":(1)4}, {"x":(2)4}]> : tensor<8x4xf32>
  return
}

// -----

sdy.mesh @m = <["x"=8]>
func.func @part_size(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{part "x":(1)3 does not divide axis "x" of size 8}}
  %0 = sdy.sharding_constraint %a <@m, [{"x":(1)3}, {}]> : tensor<8x4xf32>
  return
}

// -----

sdy.mesh @m = <["x"=8]>
func.func @part_whole(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{part "x":(1)8 is the whole axis; write "x"}}
  %0 = sdy.sharding_constraint %a <@m, [{"x":(1)8}, {}]> : tensor<8x4xf32>
  return
}

// -----

sdy.mesh @m = <["x"=8]>
func.func @parts_merge(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{parts "x":(1)2 and "x":(2)2 are adjacent; merge them}}
  %0 = sdy.sharding_constraint %a <@m, [{"x":(1)2, "x":(2)2}, {}]> : tensor<8x4xf32>
  return
}

// -----

sdy.mesh @m = <["x"=8]>
func.func @priority(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{dim 1 is closed and has no axes, so it can have no priority}}
  %0 = sdy.sharding_constraint %a <@m, [{"x"}, {}p1]> : tensor<8x4xf32>
  return
}

// -----

func.func @priority_text(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{expected a priority such as p1, got 'q1'}}
  %0 = sdy.sharding_constraint %a <@m, [{"x"}q1, {}]> : tensor<8x4xf32>
  return
}

// -----

func.func @open_last(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{'?' must come last in a dim's axes}}
  %0 = sdy.sharding_constraint %a <@m, [{?, "x"}, {}]> : tensor<8x4xf32>
  return
}

// -----

func.func @list_name(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{expected 'replicated' or 'unreduced', each at most once, got 'partial'}}
  %0 = sdy.sharding_constraint %a <@m, [{}, {}], partial={"x"}> : tensor<8x4xf32>
  return
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @per_value_count(%a: tensor<8xf32>) {
  // expected-error @+1 {{has 2 shardings for 1 results, expected as many}}
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}]>, <@m, [{}]>]>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @per_value_kind(%a: tensor<8xf32>) {
  // expected-error @+1 {{'sdy.sharding' is #sdy.sharding<@m, [{}]>, expected #sdy.sharding_per_value<[...]>}}
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding<@m, [{}]>} : tensor<8xf32>
  return
}

// -----

func.func @misspelt(%a: tensor<8xf32>) {
  // expected-error @+1 {{attribute 'sdy.shardings' is unknown; ops carry 'sdy.sharding' and 'sdy.sharding_rule'}}
  %0 = stablehlo.negate %a {sdy.shardings = 1 : i32} : tensor<8xf32>
  return
}

// -----

func.func @rule_dims(%a: tensor<8xf32>) {
  // expected-error @+1 {{sharding rule maps 2 dims of operand 0, which has type 'tensor<8xf32>'}}
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=8}>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @rule_factor(%a: tensor<8xf32>) {
  // expected-error @+1 {{sharding rule gives no size for a factor of result 0}}
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([j]) {i=8}>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @local_type(%a: tensor<8xf32>) {
  // expected-error @+1 {{operand 0 has type 'tensor<8xf32>' inside, expected 'tensor<4xf32>' of global 'tensor<8xf32>' along the manual axes}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"x"}]>] out_shardings=[<@m, [{}]>] manual_axes={"x"} (%x: tensor<8xf32>) {
    sdy.return %x : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @manual_axis(%a: tensor<8xf32>) {
  // expected-error @+1 {{manual axis "y" is unknown; mesh @m has}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{}]>] out_shardings=[<@m, [{}]>] manual_axes={"y"} (%x: tensor<8xf32>) {
    sdy.return %x : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @m = <["x"=2, "y"=2]>
func.func @manual_first(%a: tensor<8xf32>) {
  // expected-error @+1 {{operand 0: manual axis "x" of dim 0 must come before the axes that are not manual}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"y", "x"}]>] out_shardings=[<@m, [{}]>] manual_axes={"x"} (%x: tensor<4xf32>) {
    sdy.return %x : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @manual_results(%a: tensor<8xf32>) {
  // expected-error @+1 {{region returns 0 values, but there are 1 results}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{}]>] out_shardings=[<@m, [{}]>] manual_axes={"x"} (%x: tensor<8xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// expected-error @+1 {{a mesh without axes has at most one device id, 0 or larger}}
sdy.mesh @m = <[], device_ids=[0, 1]>

// -----

// expected-error @+1 {{argument 0: attribute 'sdy.shardings' is unknown; values carry 'sdy.sharding'}}
func.func @word(%a: tensor<8xf32> {sdy.shardings = 1}) {
  return
}

// -----

sdy.mesh @m = <["x"=2]>
// expected-error @+1 {{expected a priority such as p1, got 'p'}}
func.func @priority(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}p-1]>}) {
  return
}

// -----

func.func @factor_name(%a: tensor<8xf32>) {
  // expected-error @+1 {{expected factors named i to z or z_1, z_2, ..., got 'a'}}
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([a])->([i]) {i=8}>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @reduction(%a: tensor<8xf32>) {
  // expected-error @+1 {{expected sum, max or min, got 'mean'}}
  %0 = sdy.all_reduce mean {"x"} %a out_sharding=<@m, [{}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @manual_arguments(%a: tensor<8xf32>) {
  // expected-error @+1 {{region takes 0 arguments, but there are 1 operands}}
  %0 = "sdy.manual_computation"(%a) <{in_shardings = #sdy.sharding_per_value<[<@m, [{}]>]>, out_shardings = #sdy.sharding_per_value<[<@m, [{}]>]>, manual_axes = #sdy<manual_axes{"x"}>}> ({
    sdy.return %a : tensor<8xf32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @manual_end(%a: tensor<8xf32>) {
  // expected-error @+1 {{region must end in sdy.return}}
  %0 = "sdy.manual_computation"(%a) <{in_shardings = #sdy.sharding_per_value<[<@m, [{}]>]>, out_shardings = #sdy.sharding_per_value<[<@m, [{}]>]>, manual_axes = #sdy<manual_axes{"x"}>}> ({
  ^bb0(%x: tensor<8xf32>):
    stablehlo.return %x : tensor<8xf32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @factor_sizes(%a: tensor<8xf32>) {
  // expected-error @+1 {{expected the size of factor 'i'}}
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {j=8}>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}
