//===- Checks.cpp - Conformance files -------------------------------------===//

#include "Checks.h"
#include "Compare.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;
using namespace shardc;

std::vector<std::string> shardc::splitModules(StringRef text) {
  std::vector<std::string> modules;
  std::string current;
  bool hasText = false;
  int64_t line = 0;
  auto finish = [&] {
    if (hasText)
      modules.push_back(std::move(current));
    current.assign(line, '\n');
    hasText = false;
  };
  while (!text.empty()) {
    auto [here, rest] = text.split('\n');
    text = rest;
    ++line;
    if (here.trim() == "// -----") {
      finish();
      continue;
    }
    current += here;
    current += '\n';
    hasText |= !here.trim().empty() && !here.ltrim().starts_with("//");
  }
  finish();
  return modules;
}

namespace {
/// One expectation, read.
struct Way {
  enum { Equal, Almost, Close } kind = Equal;
  double tolerance = 0;
  uint64_t minUlp = 0, maxUlp = 0;
};
} // namespace

static std::optional<Way> readWay(StringRef text) {
  SmallVector<StringRef> words;
  text.split(words, ' ');
  Way way;
  if (words[0] == "eq" && words.size() == 1)
    return way;
  if (words[0] == "almost_eq" && words.size() == 2 &&
      !words[1].getAsDouble(way.tolerance)) {
    way.kind = Way::Almost;
    return way;
  }
  if (words[0] == "close" && words.size() == 3 &&
      !words[1].getAsInteger(10, way.minUlp) &&
      !words[2].getAsInteger(10, way.maxUlp)) {
    way.kind = Way::Close;
    return way;
  }
  return std::nullopt;
}

/// One number; complex elements are compared part by part.
static bool holds(const Way &way, ElementType part, const char *got,
                  const char *expected) {
  if (!isFloat(part))
    return distance(part, got, expected) == 0;
  double a = toDouble(part, got), b = toDouble(part, expected);
  if (way.kind == Way::Equal)
    return a == b;
  bool same = std::isnan(a) ? std::isnan(b) : a == b;
  bool finite = std::isfinite(a) && std::isfinite(b);
  if (way.kind == Way::Almost)
    return same || (finite && std::fabs(a - b) <= way.tolerance);
  // What is not finite is as far from all else as can be.
  uint64_t ulp = same ? 0 : finite ? distance(part, got, expected) : UINT64_MAX;
  return way.minUlp <= ulp && ulp <= way.maxUlp;
}

std::string shardc::runChecks(ArrayRef<ValueMetadata> checks,
                              ArrayRef<HostArray> values) {
  std::string message;
  raw_string_ostream out(message);
  for (size_t i = 0; i + 1 < checks.size(); i += 2) {
    const HostArray &got = values[i], &expected = values[i + 1];
    std::optional<Way> way = readWay(checks[i].check);
    if (!way) {
      out << (message.empty() ? "" : "\n") << checks[i].name
          << ": no way to compare is called '" << checks[i].check << "'";
      continue;
    }
    ElementType part = partType(got.type);
    int64_t partBytes = shardrt::elementBytes(part),
            bytes = shardrt::elementBytes(got.type);
    int64_t count = got.numElements(), wrong = 0, first = -1;
    for (int64_t e = 0; e < count; ++e) {
      bool all = true;
      for (int64_t at = 0; at < bytes; at += partBytes)
        all &= holds(*way, part, got.element(e) + at, expected.element(e) + at);
      if (!all && wrong++ == 0)
        first = e;
    }
    if (wrong == 0)
      continue;
    out << (message.empty() ? "" : "\n") << checks[i].name
        << " does not hold at " << printIndex(got.shape, first) << ": got "
        << printElement(got.type, got.element(first)) << ", expected "
        << printElement(got.type, expected.element(first)) << "; " << wrong
        << " of " << count << " elements";
  }
  return message;
}
