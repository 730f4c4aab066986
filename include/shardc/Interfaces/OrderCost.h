//===- OrderCost.h - What an order of dims is worth -------------*- C++ -*-===//
#ifndef SHARDC_INTERFACES_ORDERCOST_H
#define SHARDC_INTERFACES_ORDERCOST_H

#include "shardc/Interfaces/Localization.h"

namespace shardc {

/// What a rank of a few years ago does. All estimates of time are made of
/// these.
struct RankModel {
  static constexpr double kFlops = 1e11; ///< of one core, a second
  static constexpr double kBytes = 5e9;  ///< from another rank, a second
  static constexpr double kMeeting =
      2e-5; ///< seconds of a meeting, whatever travels
  static constexpr double kCopied =
      1e10; ///< bytes moved within a rank, a second
};

/// On an op with an estimate, in words: what was decided about the order of the
/// whole program, for whoever asks why the op runs as it does.
inline constexpr llvm::StringLiteral kOrderNoteAttrName = "spmd.order_note";

} // namespace shardc

#include "shardc/Interfaces/OrderCost.h.inc"

#endif // SHARDC_INTERFACES_ORDERCOST_H
