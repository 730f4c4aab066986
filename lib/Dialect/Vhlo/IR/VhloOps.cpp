//===- VhloOps.cpp - Ops of VHLO as a table -------------------------------===//
//
// Of each op: its versions, then its attributes. All are there always, those
// that have a default too; bytecode holds them in the order of their names.
//
//   name            as it is
//   name:form       made into something else, see Form
//   name(a b c)     one attribute of StableHLO's of three
//   name=0          left out where all its numbers are 0 (false, DEFAULT)
//   name=           left out where it is empty
//
//===----------------------------------------------------------------------===//
#include "VhloOps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include <vector>

using namespace llvm;
using namespace shardc;
using namespace shardc::vhlo;

namespace {
struct Row {
  StringLiteral names;
  StringLiteral fields = "";
  StringLiteral meaning = "";
};
} // namespace

#define SHARDC_CONV_NUMBERS                                                    \
  "dimension_numbers(input_batch_dimension input_feature_dimension "           \
  "input_spatial_dimensions kernel_input_feature_dimension "                   \
  "kernel_output_feature_dimension kernel_spatial_dimensions "                 \
  "output_batch_dimension output_feature_dimension "                           \
  "output_spatial_dimensions) "
#define SHARDC_DOT_NUMBERS                                                     \
  "dot_dimension_numbers(lhs_batching_dimensions rhs_batching_dimensions "     \
  "lhs_contracting_dimensions rhs_contracting_dimensions) "
#define SHARDC_GATHER_NUMBERS                                                  \
  "dimension_numbers(offset_dims collapsed_slice_dims start_index_map "        \
  "index_vector_dim) "
#define SHARDC_GATHER_NUMBERS_V2                                               \
  "dimension_numbers(offset_dims collapsed_slice_dims start_index_map "        \
  "index_vector_dim operand_batching_dims start_indices_batching_dims) "
#define SHARDC_CHANNEL "channel_handle:channel(channel_id)=0 "
#define SHARDC_COLLECTIVE "replica_groups " SHARDC_CHANNEL

static constexpr Row kRows[] = {
    // Programs.
    {"func_v1", "sym_name function_type sym_visibility= arg_attrs= res_attrs=",
     "func.func"},
    {"call_v1", "callee:symbol", "func.call"},
    {"return_v1"},

    // One element at a time.
    {"abs_v1 add_v1 and_v1 atan2_v1 ceil_v1 clamp_v1 complex_v1 convert_v1 "
     "count_leading_zeros_v1 divide_v1 floor_v1 imag_v1 is_finite_v1 "
     "maximum_v1 minimum_v1 multiply_v1 negate_v1 not_v1 or_v1 popcnt_v1 "
     "power_v1 real_v1 remainder_v1 round_nearest_afz_v1 "
     "round_nearest_even_v1 select_v1 shift_left_v1 shift_right_arithmetic_v1 "
     "shift_right_logical_v1 sign_v1 subtract_v1 xor_v1"},
    {"cbrt_v1 cosine_v1 exponential_minus_one_v1 exponential_v1 "
     "log_plus_one_v1 "
     "log_v1 logistic_v1 rsqrt_v1 sine_v1 sqrt_v1 tan_v1 tanh_v1"},
    {"cbrt_v2 cosine_v2 exponential_minus_one_v2 exponential_v2 "
     "log_plus_one_v2 "
     "log_v2 logistic_v2 rsqrt_v2 sine_v2 sqrt_v2 tan_v2 tanh_v2",
     "result_accuracy=0"},
    {"compare_v1", "comparison_direction compare_type=0"},
    {"map_v1", "dimensions:ints"},
    {"reduce_precision_v1", "exponent_bits mantissa_bits"},
    {"uniform_dequantize_v1 uniform_quantize_v1"},

    // Sources, shapes and parts.
    {"bitcast_convert_v1 dynamic_pad_v1 dynamic_reshape_v1 "
     "dynamic_update_slice_v1 real_dynamic_slice_v1 reshape_v1"},
    {"constant_v1", "value"},
    {"iota_v1 dynamic_iota_v1", "iota_dimension"},
    {"broadcast_in_dim_v1", "broadcast_dimensions:ints"},
    {"broadcast_v1", "broadcast_sizes:ints"},
    {"concatenate_v1 get_dimension_size_v1 set_dimension_size_v1", "dimension"},
    {"dynamic_broadcast_in_dim_v1",
     "broadcast_dimensions:ints known_expanding_dimensions:ints= "
     "known_nonexpanding_dimensions:ints="},
    {"dynamic_slice_v1", "slice_sizes:ints"},
    {"pad_v1",
     "edge_padding_low:ints edge_padding_high:ints interior_padding:ints"},
    {"reverse_v1", "dimensions:ints"},
    {"slice_v1", "start_indices:ints limit_indices:ints strides:ints"},
    {"transpose_v1", "permutation:ints"},

    // Addressing.
    {"dynamic_gather_v1", SHARDC_GATHER_NUMBERS "indices_are_sorted=0"},
    {"dynamic_gather_v2", SHARDC_GATHER_NUMBERS_V2 "indices_are_sorted=0"},
    {"gather_v1",
     SHARDC_GATHER_NUMBERS "slice_sizes:ints indices_are_sorted=0"},
    {"gather_v2",
     SHARDC_GATHER_NUMBERS_V2 "slice_sizes:ints indices_are_sorted=0"},
    {"scatter_v1",
     "scatter_dimension_numbers(update_window_dims inserted_window_dims "
     "scatter_dims_to_operand_dims index_vector_dim) indices_are_sorted=0 "
     "unique_indices=0"},
    {"scatter_v2",
     "scatter_dimension_numbers(update_window_dims inserted_window_dims "
     "scatter_dims_to_operand_dims index_vector_dim input_batching_dims "
     "scatter_indices_batching_dims) indices_are_sorted=0 unique_indices=0"},
    {"torch_index_select_v1", "dim batch_dims"},

    // Contractions, windows, reductions, sorting, linear algebra.
    {"batch_norm_grad_v1 batch_norm_inference_v1 batch_norm_training_v1",
     "epsilon feature_index"},
    {"cholesky_v1", "lower=0"},
    {"convolution_v1",
     "window_strides:ints=1 padding=0 lhs_dilation:ints=1 rhs_dilation:ints=1 "
     "window_reversal:bools=0 " SHARDC_CONV_NUMBERS
     "feature_group_count batch_group_count precision_config=0"},
    {"dot_v1", "precision_config=0"},
    {"dot_general_v1", SHARDC_DOT_NUMBERS "precision_config=0"},
    {"dot_general_v2", SHARDC_DOT_NUMBERS
     "precision_config=0 "
     "algorithm(lhs_precision_type rhs_precision_type accumulation_type "
     "lhs_component_count rhs_component_count num_primitive_operations "
     "allow_imprecise_accumulation)"},
    {"dynamic_conv_v2",
     "window_strides:ints=1 lhs_dilation:ints=1 rhs_dilation:ints=1 "
     "window_reversal:bools=0 " SHARDC_CONV_NUMBERS
     "feature_group_count batch_group_count precision_config=0"},
    {"einsum_v1 unary_einsum_v1", "einsum_config"},
    {"fft_v1", "fft_type fft_length:ints"},
    {"reduce_v1", "dimensions:ints"},
    {"reduce_window_v1",
     "window_dimensions:ints window_strides:ints=1 base_dilations:ints=1 "
     "window_dilations:ints=1 padding=0"},
    {"select_and_scatter_v1",
     "window_dimensions:ints=1 window_strides:ints=1 padding=0"},
    {"sort_v1", "dimension=-1 is_stable=0"},
    {"triangular_solve_v1", "left_side lower unit_diagonal transpose_a"},

    // Control flow, calls, tokens.
    {"after_all_v1 case_v1 create_token_v1 if_v1 optimization_barrier_v1 "
     "tuple_v1 while_v1"},
    {"composite_v1 composite_v2",
     "name composite_attributes= decomposition:symbol version=0"},
    {"custom_call_v1",
     "call_target_name has_side_effect=0 backend_config= api_version=1 "
     "called_computations:symbols= operand_layouts= result_layouts= "
     "output_operand_aliases="},
    {"get_tuple_element_v1", "index"},
    {"infeed_v1", "infeed_config layout="},
    {"outfeed_v1", "outfeed_config"},

    // Random bits.
    {"rng_v1", "rng_distribution"},
    {"rng_bit_generator_v1", "rng_algorithm"},

    // Communication.
    {"all_gather_v1 all_gather_v2",
     "all_gather_dim " SHARDC_COLLECTIVE "use_global_device_ids:flag"},
    {"all_reduce_v1 all_reduce_v2",
     SHARDC_COLLECTIVE "use_global_device_ids:flag"},
    {"all_to_all_v1 all_to_all_v2",
     "split_dimension concat_dimension split_count " SHARDC_COLLECTIVE},
    {"async_done_v1 async_start_v1 partition_id_v1 replica_id_v1"},
    {"collective_broadcast_v1", SHARDC_COLLECTIVE},
    {"collective_permute_v1", "source_target_pairs " SHARDC_CHANNEL},
    {"cross-replica-sum_v1", "replica_groups"},
    {"reduce_scatter_v1",
     "scatter_dimension " SHARDC_COLLECTIVE "use_global_device_ids:flag"},
    {"recv_v1 send_v1",
     "channel_handle(channel_id channel_type) is_host_transfer=0"},
    {"recv_v2 send_v2", "channel_handle(channel_id channel_type) "
                        "is_host_transfer=0 source_target_pairs="},
};

#undef SHARDC_CONV_NUMBERS
#undef SHARDC_DOT_NUMBERS
#undef SHARDC_GATHER_NUMBERS
#undef SHARDC_GATHER_NUMBERS_V2
#undef SHARDC_CHANNEL
#undef SHARDC_COLLECTIVE

/// Takes the first field off `text`.
static Field takeField(StringRef &text) {
  auto take = [&](StringRef end) {
    StringRef taken = text.take_front(text.find_first_of(end));
    text = text.drop_front(taken.size());
    return taken;
  };
  Field field;
  field.name = take(" :=(");
  if (text.consume_front(":"))
    field.form = StringSwitch<Form>(take(" =("))
                     .Case("ints", Form::Ints)
                     .Case("bools", Form::Bools)
                     .Case("symbol", Form::Symbol)
                     .Case("symbols", Form::Symbols)
                     .Case("flag", Form::Flag)
                     .Case("channel", Form::Channel);
  else if (text.starts_with("("))
    field.form = Form::Joined;
  if (text.consume_front("(")) {
    take(")").split(field.parts, ' ');
    text = text.drop_front();
  } else {
    field.parts.push_back(field.name);
  }
  if (text.consume_front("=")) {
    int64_t number;
    field.omitsEmpty = text.consumeInteger(10, number);
    if (!field.omitsEmpty)
      field.omitted = number;
  }
  text = text.ltrim();
  return field;
}

static std::vector<OpVersion> readTable() {
  std::vector<OpVersion> ops;
  for (const Row &row : kRows) {
    OpVersion op;
    op.meaning = row.meaning;
    for (StringRef rest = row.fields.rtrim(); !rest.empty();)
      op.fields.push_back(takeField(rest));
    for (const Field &field : op.fields)
      append_range(op.stored, field.parts);
    sort(op.stored);
    for (StringRef name : split(row.names, ' ')) {
      op.name = name;
      ops.push_back(op);
    }
  }
  return ops;
}

ArrayRef<OpVersion> vhlo::allOps() {
  static const std::vector<OpVersion> ops = readTable();
  return ops;
}

const OpVersion *vhlo::findOp(StringRef name) {
  static const StringMap<const OpVersion *> byName = [] {
    StringMap<const OpVersion *> map;
    for (const OpVersion &op : allOps())
      map[op.name] = &op;
    return map;
  }();
  return byName.lookup(name);
}
