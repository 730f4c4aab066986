//===- Placeholders.h - Which numbers say what they follow from -*- C++ -*-===//
#ifndef SHARDC_LAYOUT_PLACEHOLDERS_H
#define SHARDC_LAYOUT_PLACEHOLDERS_H

#include <cstdint>

namespace shardc {

/// How far beside a placeholder a number still follows from it, and how many
/// times it may be in such a number (Extents::find).
inline constexpr int64_t nearby = 32, timesBeside = 4;

} // namespace shardc

#endif // SHARDC_LAYOUT_PLACEHOLDERS_H
