//===- Scans.h - Running reductions along dims that are cut -----*- C++ -*-===//
#ifndef SHARDC_LIB_RULES_SCANS_H
#define SHARDC_LIB_RULES_SCANS_H

#include "RuleUtils.h"

namespace shardc::rules {

/// A reduce_window that is a scan: cumsum, cumprod, cummax, cumlogsumexp.
struct Scan {
  int64_t dim = 0;
  bool backward = false; ///< it runs from the end to the beginning
};

/// Recognises a window as long as its one dim, padded by all but one element on
/// one side, that starts from its body's identity.
std::optional<Scan> recogniseScan(stablehlo::ReduceWindowOp op);

/// The local form where the scanned dim is cut.
LocalResults localizeScan(stablehlo::ReduceWindowOp op, Scan scan,
                          Localization &localization);

} // namespace shardc::rules

#endif // SHARDC_LIB_RULES_SCANS_H
