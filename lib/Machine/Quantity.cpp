//===- Quantity.cpp - Numbers with units ----------------------------------===//
#include "shardc/Machine/Machine.h"
#include <charconv>
#include <cmath>

using namespace shardc;

namespace {
struct Prefix {
  std::string_view name;
  double factor;
};
} // namespace

static constexpr Prefix kDecimal[] = {{"", 1},    {"k", 1e3}, {"K", 1e3},
                                      {"M", 1e6}, {"G", 1e9}, {"T", 1e12}};
static constexpr Prefix kBinary[] = {
    {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}};
static constexpr Prefix kSmall[] = {
    {"", 1}, {"m", 1e-3}, {"u", 1e-6}, {"n", 1e-9}};

/// What is behind the prefix.
static std::string_view symbolOf(Unit unit) {
  switch (unit) {
  case Unit::Bytes:
    return "B";
  case Unit::Seconds:
    return "s";
  case Unit::BytesPerSecond:
    return "B/s";
  case Unit::OperationsPerSecond:
    return "FLOP/s";
  case Unit::Count:
    return "";
  }
  return "";
}

std::string_view shardc::exampleOf(Unit unit) {
  switch (unit) {
  case Unit::Bytes:
    return "4 MiB";
  case Unit::Seconds:
    return "20 us";
  case Unit::BytesPerSecond:
    return "5 GB/s";
  case Unit::OperationsPerSecond:
    return "100 GFLOP/s";
  case Unit::Count:
    return "128";
  }
  return "";
}

/// The factor of `suffix`, a prefix and a symbol; zero if it is none.
static double factorOf(std::string_view suffix, Unit unit) {
  std::string_view symbol = symbolOf(unit);
  if (suffix.empty())
    return 1;
  if (symbol.empty() || !suffix.ends_with(symbol))
    return 0;
  std::string_view prefix = suffix.substr(0, suffix.size() - symbol.size());
  auto find = [&](const auto &prefixes) {
    for (const Prefix &known : prefixes)
      if (known.name == prefix)
        return known.factor;
    return 0.0;
  };
  if (unit == Unit::Seconds)
    return find(kSmall);
  double factor = find(kDecimal);
  bool ofBytes = unit == Unit::Bytes || unit == Unit::BytesPerSecond;
  return factor == 0 && ofBytes ? find(kBinary) : factor;
}

std::string shardc::readQuantity(std::string_view text, Unit unit,
                                 double &value) {
  std::string problem = "'" + std::string(text) +
                        "', expected a quantity such as \"" +
                        std::string(exampleOf(unit)) + "\"";
  double number = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number))
    return problem;
  std::string_view suffix = text.substr(end - text.data());
  while (suffix.starts_with(' '))
    suffix.remove_prefix(1);
  double factor = factorOf(suffix, unit);
  if (factor == 0)
    return problem;
  value = number * factor;
  return {};
}
