//===- CheckSite.h - What a table may say of a site -------------*- C++ -*-===//
#ifndef SHARDRT_PROGRAM_CHECKSITE_H
#define SHARDRT_PROGRAM_CHECKSITE_H

#include "shardrt/Sites.h"
#include <string>

namespace shardrt {

/// All elements of the tensor that is exchanged.
shardc::Box domainOf(const shardc::Exchange &exchange);

/// What is wrong with `site`, whatever the rank; empty if nothing is. Numbers
/// of elements are not looked at where its extents are placeholders.
std::string checkSite(const Site &site, bool hasPlaceholders = false);

} // namespace shardrt

#endif // SHARDRT_PROGRAM_CHECKSITE_H
