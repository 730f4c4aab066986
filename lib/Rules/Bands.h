//===- Bands.h - Products that read few rows for each result ----*- C++ -*-===//
//
// A matrix outside of whose band zeros are selected (lib/Raise/ShowBands.cpp):
// column c of it reads rows [begins[c], ends[c]) of the other operand. That
// operand stays cut along its rows, and the result is cut along columns: each
// rank gets the rows that its columns read.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_RULES_BANDS_H
#define SHARDC_LIB_RULES_BANDS_H

#include "RuleUtils.h"

namespace shardc::rules {

struct BandedProduct {
  unsigned matrix;  ///< the number of the operand that has a band
  int64_t rowDim;   ///< its dim that is summed over; columns are the other one
  int64_t otherDim; ///< the dim of the other operand that is summed over
  llvm::SmallVector<Interval, 0> rows; ///< of each column, those that it reads
};

/// Nothing for a product of which no operand is known to have a band.
std::optional<BandedProduct> bandedProduct(stablehlo::DotGeneralOp op);

ShardingRule bandedRule(stablehlo::DotGeneralOp op,
                        const BandedProduct &product);
LocalResults localizeBanded(stablehlo::DotGeneralOp op,
                            const BandedProduct &product,
                            Localization &localization);

} // namespace shardc::rules

#endif // SHARDC_LIB_RULES_BANDS_H
