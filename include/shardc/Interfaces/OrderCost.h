//===- OrderCost.h - What an order of dims is worth -------------*- C++ -*-===//
#ifndef SHARDC_INTERFACES_ORDERCOST_H
#define SHARDC_INTERFACES_ORDERCOST_H

#include "shardc/Interfaces/Localization.h"

namespace shardc {

/// On an op with an estimate, in words: what was decided about the order of the
/// whole program, for whoever asks why the op runs as it does.
inline constexpr llvm::StringLiteral kOrderNoteAttrName = "spmd.order_note";

} // namespace shardc

#include "shardc/Interfaces/OrderCost.h.inc"

#endif // SHARDC_INTERFACES_ORDERCOST_H
