//===- Emptied.h - Random programs without elements -------------*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_FUZZ_EMPTIED_H
#define SHARDC_TOOLS_SHARD_FUZZ_EMPTIED_H

#include "Program.h"

namespace shardc::fuzz {

/// Takes all elements of one or more dims of arguments from `program`, where
/// its ops can be written for what is left; `draw` says of which. Nothing where
/// no dim can be without elements.
std::optional<Program> emptied(Program program, uint64_t draw);

} // namespace shardc::fuzz

#endif // SHARDC_TOOLS_SHARD_FUZZ_EMPTIED_H
