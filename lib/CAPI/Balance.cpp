//===- Balance.cpp - Sizes by which all ranks finish together -------------===//

#include "shardc/Layout/Balance.h"
#include "Handles.h"
#include <cmath>

using namespace shardc::capi;

SHARDC_HANDLE(shardc_balance, shardc::Balance)

extern "C" {

shardc_error *shardc_balance_create(const shardc_program *program,
                                    shardc_balance **balance) {
  return guarded([&]() -> MaybeFailure {
    if (balance)
      *balance = nullptr;
    if (!program || !balance)
      return nullArgument(program ? "balance" : "program");
    std::unique_ptr<shardc::Balance> made;
    if (MaybeFailure failure = makeBalance(unwrap(program)->model, made))
      return failure;
    *balance = wrap(made.release());
    return nullptr;
  });
}

void shardc_balance_destroy(shardc_balance *balance) { delete unwrap(balance); }

shardc_error *shardc_balance_add(shardc_balance *balance,
                                 const double *times_ns, int64_t num_ranks,
                                 bool *moved) {
  return guarded([&]() -> MaybeFailure {
    if (moved)
      *moved = false;
    if (!balance || !times_ns)
      return nullArgument(balance ? "times_ns" : "balance");
    int64_t ranks = unwrap(balance)->numRanks();
    if (num_ranks != ranks)
      return usage("times of " + std::to_string(num_ranks) +
                   " ranks: the program has " + std::to_string(ranks));
    std::span<const double> times(times_ns, static_cast<size_t>(ranks));
    for (double time : times)
      if (!std::isfinite(time) || time < 0)
        return usage("times of ranks are numbers of nanoseconds, from 0 on");
    bool isMoved = unwrap(balance)->add(times);
    if (moved)
      *moved = isMoved;
    return nullptr;
  });
}

void shardc_balance_refuse(shardc_balance *balance) {
  if (balance)
    shardc_error_destroy(guarded([&]() -> MaybeFailure {
      unwrap(balance)->refuse();
      return nullptr;
    }));
}

void shardc_balance_settle(shardc_balance *balance, bool *moved) {
  bool isMoved = false;
  if (balance)
    shardc_error_destroy(guarded([&]() -> MaybeFailure {
      isMoved = unwrap(balance)->settle();
      return nullptr;
    }));
  if (moved)
    *moved = isMoved;
}

int64_t shardc_balance_num_sizes(const shardc_balance *balance) {
  return balance ? static_cast<int64_t>(unwrap(balance)->dims().size()) : 0;
}

shardc_error *shardc_balance_sizes(const shardc_balance *balance, int64_t index,
                                   shardc_sizes *sizes) {
  return guarded([&]() -> MaybeFailure {
    if (!balance || !sizes)
      return nullArgument(balance ? "sizes" : "balance");
    if (index < 0 || index >= shardc_balance_num_sizes(balance))
      return usage("there are no sizes " + std::to_string(index) +
                   ": the program leaves " +
                   std::to_string(shardc_balance_num_sizes(balance)) +
                   " dims open");
    const shardc::FreeDim &dim = unwrap(balance)->dims()[index];
    *sizes = {dim.argument, dim.dim, static_cast<int64_t>(dim.sizes.size()),
              dim.sizes.data()};
    return nullptr;
  });
}

shardc_error *shardc_balance_get_state(const shardc_balance *balance,
                                       shardc_balance_state *state) {
  return guarded([&]() -> MaybeFailure {
    if (!balance || !state)
      return nullArgument(balance ? "state" : "balance");
    const shardc::Balance &from = *unwrap(balance);
    shardc_balance_state read = {};
    read.moves = from.moves();
    read.settled = from.isSettled();
    read.refused = from.isRefused();
    read.first_imbalance = from.firstImbalance();
    read.imbalance = from.imbalance();
    return writeStruct(read, state) ? nullptr : withoutSize("state");
  });
}

} // extern "C"
