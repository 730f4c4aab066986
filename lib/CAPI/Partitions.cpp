//===- Partitions.cpp - Calls that their author cuts ----------------------===//

#include "Handles.h"
#include "shardrt/ElementType.h"

using namespace shardc::capi;

/// `tiling` of a value with this many dims.
static shardc::Tiling read(const shardc_tiling &tiling, int64_t numRanks) {
  shardc::Tiling mine;
  if (tiling.num_dims > 0)
    mine.tiles.assign(tiling.tiles, tiling.tiles + tiling.num_dims);
  mine.copies = tiling.copies;
  mine.ranks.assign(tiling.ranks, tiling.ranks + numRanks);
  return mine;
}

static std::vector<shardc_tiled_value>
write(const std::vector<shardc::TiledValue> &values) {
  std::vector<shardc_tiled_value> written;
  for (const shardc::TiledValue &value : values) {
    shardc_tiled_value &to = written.emplace_back();
    to.element_type = shardc_element_type_named(value.elementType.c_str());
    to.num_dims = static_cast<int64_t>(value.dims.size());
    to.dims = value.dims.data();
    to.tiling = {to.num_dims, value.tiling.tiles.data(), value.tiling.copies,
                 value.tiling.ranks.data()};
  }
  return written;
}

static void takeAnswer(const shardc_partition_call *call, const void *model,
                       size_t bytes, const shardc_tiling *operands,
                       const shardc_tiling *results) {
  auto &answer = *static_cast<shardc::PartitionAnswer *>(call->answer_user);
  answer.model.assign(static_cast<const char *>(model), bytes);
  for (int64_t i = 0; i < call->num_operands; ++i)
    answer.operands.push_back(read(operands[i], call->num_ranks));
  for (int64_t i = 0; i < call->num_results; ++i)
    answer.results.push_back(read(results[i], call->num_ranks));
}

shardc::PartitionFunction shardc::capi::partitions(shardc_partition_fn function,
                                                   void *user) {
  if (!function)
    return {};
  return [=](const PartitionedCall &asked, PartitionAnswer &answer) {
    std::vector<shardc_tiled_value> operands = write(asked.operands),
                                    results = write(asked.results);
    shardc_partition_call call = {};
    call.size = sizeof(call);
    call.config = asked.config.c_str();
    call.config_size = asked.config.size();
    call.num_ranks = asked.numRanks;
    call.num_operands = static_cast<int64_t>(operands.size());
    call.operands = operands.data();
    call.num_results = static_cast<int64_t>(results.size());
    call.results = results.data();
    call.answer = takeAnswer;
    call.answer_user = &answer;
    std::string message(1 << 16, '\0');
    int status = function(user, &call, message.data(), message.size());
    message.resize(std::strlen(message.c_str()));
    if (status == SHARDC_OK && !answer.model.empty())
      return std::string();
    return !message.empty() ? message
                            : std::string("a call was not partitioned, and "
                                          "its author does not say why");
  };
}
