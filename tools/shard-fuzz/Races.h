//===- Races.h - What ThreadSanitizer reports -------------------*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_FUZZ_RACES_H
#define SHARDC_TOOLS_SHARD_FUZZ_RACES_H

#include <cstdint>
#include <string>

namespace shardc::fuzz {

/// How many races ThreadSanitizer has reported in this process; 0 where the
/// tool is built without it.
int64_t racesReported();
/// What the last of them was between.
std::string lastRace();

} // namespace shardc::fuzz

#endif // SHARDC_TOOLS_SHARD_FUZZ_RACES_H
