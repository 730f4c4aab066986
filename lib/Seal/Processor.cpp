//===- Processor.cpp - What machine code asks of a processor --------------===//
#include "shardc/Seal/Processor.h"

#include <array>

// __builtin_cpu_supports takes literals alone.
#if defined(__x86_64__) || defined(__i386__)
#define SHARDC_FEATURES(X)                                                     \
  X("sse3")                                                                    \
  X("ssse3")                                                                   \
  X("sse4.1")                                                                  \
  X("sse4.2")                                                                  \
  X("sse4a")                                                                   \
  X("popcnt")                                                                  \
  X("aes")                                                                     \
  X("pclmul")                                                                  \
  X("avx")                                                                     \
  X("avx2")                                                                    \
  X("fma")                                                                     \
  X("fma4")                                                                    \
  X("xop")                                                                     \
  X("tbm")                                                                     \
  X("f16c")                                                                    \
  X("bmi")                                                                     \
  X("bmi2")                                                                    \
  X("lzcnt")                                                                   \
  X("movbe")                                                                   \
  X("gfni")                                                                    \
  X("vaes")                                                                    \
  X("vpclmulqdq")                                                              \
  X("avxvnni")                                                                 \
  X("avx512f")                                                                 \
  X("avx512bw")                                                                \
  X("avx512cd")                                                                \
  X("avx512dq")                                                                \
  X("avx512vl")                                                                \
  X("avx512ifma")                                                              \
  X("avx512vbmi")                                                              \
  X("avx512vbmi2")                                                             \
  X("avx512vnni")                                                              \
  X("avx512bitalg")                                                            \
  X("avx512vpopcntdq")                                                         \
  X("avx512bf16")                                                              \
  X("avx512fp16")
#else
#define SHARDC_FEATURES(X)
#endif

namespace {
struct Feature {
  std::string_view name;
  bool isHere;
};
} // namespace

static std::span<const Feature> features() {
  static const auto all = [] {
#define NAME(name) +1
    std::array<Feature, 0 SHARDC_FEATURES(NAME)> found{};
#undef NAME
    [[maybe_unused]] size_t next = 0;
#define FEATURE(name) found[next++] = {name, __builtin_cpu_supports(name) != 0};
    SHARDC_FEATURES(FEATURE)
#undef FEATURE
    return found;
  }();
  return all;
}

std::span<const std::string_view> shardc::processorFeatures() {
#define NAME(name) name,
  static constexpr auto names =
      std::to_array<std::string_view>({SHARDC_FEATURES(NAME) ""});
#undef NAME
  return std::span(names).first(names.size() - 1);
}

std::string shardc::lackingFeatures(std::string_view wanted) {
  std::string lacking;
  while (!wanted.empty()) {
    std::string_view name = wanted.substr(0, wanted.find(','));
    wanted.remove_prefix(std::min(wanted.size(), name.size() + 1));
    bool isHere = false;
    for (const Feature &feature : features())
      isHere |= feature.name == name && feature.isHere;
    if (isHere)
      continue;
    lacking += lacking.empty() ? "" : ", ";
    lacking += name;
  }
  return lacking;
}

std::string shardc::checkProcessor(std::string_view metadata) {
  constexpr std::string_view key = "\"processor\":\"";
  size_t at = metadata.find(key);
  if (at == metadata.npos)
    return {};
  metadata.remove_prefix(at + key.size());
  std::string lacking = lackingFeatures(metadata.substr(0, metadata.find('"')));
  if (lacking.empty())
    return {};
  return "was compiled for a processor with " + lacking +
         ", which this one lacks";
}
