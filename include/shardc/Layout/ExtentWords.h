//===- ExtentWords.h - Extents as words ------------------------*- C++ -*-===//
#ifndef SHARDC_LAYOUT_EXTENTWORDS_H
#define SHARDC_LAYOUT_EXTENTWORDS_H

#include <cstdint>
#include <span>

namespace shardc {

/// Extents::isOpen of the extents that `words` say (Extents::words), which were
/// read before: nothing is built.
bool isOpenAmong(std::span<const int64_t> words, int64_t number);

} // namespace shardc

#endif // SHARDC_LAYOUT_EXTENTWORDS_H
