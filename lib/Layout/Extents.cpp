//===- Extents.cpp - Extents that are known when a program is bound -------===//
#include "shardc/Layout/Extents.h"
#include "shardc/Layout/Exchange.h"
#include "shardc/Layout/ExtentWords.h"
#include "shardc/Layout/Placeholders.h"
#include <algorithm>
#include <array>
#include <numeric>

using namespace shardc;

static constexpr std::array<std::pair<std::string_view, int64_t>, 20> kinds = {{
    {"dim", 2},       {"constant", 1}, {"add", 2},        {"subtract", 2},
    {"multiply", 2},  {"divide", 2},   {"remainder", 2},  {"max", 2},
    {"min", 2},       {"negate", 1},   {"abs", 1},        {"sign", 1},
    {"and", 2},       {"or", 2},       {"xor", 2},        {"equal", 2},
    {"not_equal", 2}, {"less", 2},     {"less_equal", 2}, {"select", 3},
}};

std::string_view shardc::extentName(ExtentKind kind) {
  return kinds[static_cast<size_t>(kind)].first;
}

std::optional<ExtentKind> shardc::extentKind(std::string_view name) {
  for (size_t i = 0; i < kinds.size(); ++i)
    if (kinds[i].first == name)
      return static_cast<ExtentKind>(i);
  return std::nullopt;
}

/// How many times a placeholder may be in a number that is beside it, and in
/// one that is a multiple.
static constexpr int64_t mostTimes = timesBeside, mostMultiples = 4096;

static bool hasNumbers(ExtentKind kind) {
  return kind == ExtentKind::Dim || kind == ExtentKind::Constant;
}

std::optional<int64_t> Extents::valueOf(const ExtentExpr &extent,
                                        std::span<const int64_t> values) const {
  auto operand = [&](size_t i) { return values[extent.operands[i]]; };
  int64_t a = operand(0), b = extent.operands.size() > 1 ? operand(1) : 0,
          result = 0;
  bool fits = true;
  switch (extent.kind) {
  case ExtentKind::Add:
    fits = !__builtin_add_overflow(a, b, &result);
    break;
  case ExtentKind::Subtract:
    fits = !__builtin_sub_overflow(a, b, &result);
    break;
  case ExtentKind::Multiply:
    fits = !__builtin_mul_overflow(a, b, &result);
    break;
  case ExtentKind::Divide:
  case ExtentKind::Remainder:
    fits = b != 0 && !(b == -1 && a == INT64_MIN);
    if (fits)
      result = extent.kind == ExtentKind::Divide ? a / b : a % b;
    break;
  case ExtentKind::Max:
    result = std::max(a, b);
    break;
  case ExtentKind::Min:
    result = std::min(a, b);
    break;
  case ExtentKind::Negate:
    fits = !__builtin_sub_overflow(int64_t(0), a, &result);
    break;
  case ExtentKind::Abs:
    fits = a != INT64_MIN;
    result = a < 0 && fits ? -a : a;
    break;
  case ExtentKind::Sign:
    result = (a > 0) - (a < 0);
    break;
  case ExtentKind::And:
    result = a & b;
    break;
  case ExtentKind::Or:
    result = a | b;
    break;
  case ExtentKind::Xor:
    result = a ^ b;
    break;
  case ExtentKind::Equal:
    result = a == b;
    break;
  case ExtentKind::NotEqual:
    result = a != b;
    break;
  case ExtentKind::Less:
    result = a < b;
    break;
  case ExtentKind::LessEqual:
    result = a <= b;
    break;
  case ExtentKind::Select:
    result = a ? b : operand(2);
    break;
  case ExtentKind::Dim:
  case ExtentKind::Constant:
    break;
  }
  return fits ? std::optional(result) : std::nullopt;
}

int64_t Extents::addDim(int64_t argument, int64_t dim, int64_t placeholder) {
  extents.push_back({ExtentKind::Dim, {argument, dim}, placeholder});
  return size() - 1;
}

int64_t Extents::addConstant(int64_t value) {
  for (int64_t i = 0; i < size(); ++i)
    if (extents[i].kind == ExtentKind::Constant &&
        extents[i].placeholder == value)
      return i;
  extents.push_back({ExtentKind::Constant, {value}, value});
  return size() - 1;
}

bool Extents::isConstant(int64_t number) const {
  return extents[number].kind == ExtentKind::Constant;
}

std::optional<int64_t> Extents::add(ExtentKind kind,
                                    std::vector<int64_t> operands) {
  ExtentExpr made{kind, std::move(operands), 0};
  // With its operands numbered among themselves.
  std::vector<int64_t> values, places(made.operands.size());
  std::iota(places.begin(), places.end(), 0);
  for (int64_t operand : made.operands)
    values.push_back(extents[operand].placeholder);
  std::optional<int64_t> value = valueOf({kind, std::move(places), 0}, values);
  if (!value)
    return std::nullopt;
  if (std::all_of(made.operands.begin(), made.operands.end(),
                  [&](int64_t operand) { return isConstant(operand); }))
    return addConstant(*value);
  auto isNumber = [&](size_t i, int64_t number) {
    return isConstant(made.operands[i]) &&
           extents[made.operands[i]].placeholder == number;
  };
  // What changes nothing is not kept.
  if ((kind == ExtentKind::Add && isNumber(1, 0)) ||
      (kind == ExtentKind::Subtract && isNumber(1, 0)) ||
      (kind == ExtentKind::Multiply && isNumber(1, 1)) ||
      (kind == ExtentKind::Divide && isNumber(1, 1)))
    return made.operands[0];
  if ((kind == ExtentKind::Add && isNumber(0, 0)) ||
      (kind == ExtentKind::Multiply && isNumber(0, 1)))
    return made.operands[1];
  for (int64_t i = 0; i < size(); ++i)
    if (extents[i].kind == kind && extents[i].operands == made.operands)
      return i;
  made.placeholder = *value;
  extents.push_back(std::move(made));
  return size() - 1;
}

namespace {
/// What a number that is not negative follows from. Itself, then a multiple,
/// then what is beside a few times it: the first of the extents in each.
class Search {
public:
  Search(int64_t number, int64_t least) : number(number), least(least) {}

  /// Looks at extent `i`; true if the number is this.
  bool visit(int64_t i, ExtentKind kind, int64_t placeholder) {
    if (kind == ExtentKind::Constant || placeholder < least)
      return false;
    if (placeholder == number) {
      multiple = LinearExtent{i, 1, 0};
      return true;
    }
    // Most numbers are no placeholders, and less than any.
    if (placeholder - nearby > number)
      return false;
    int64_t times = number / placeholder, rest = number % placeholder;
    if (rest > placeholder / 2) {
      ++times;
      rest -= placeholder;
    }
    if (!multiple && rest == 0 && times <= mostMultiples)
      multiple = LinearExtent{i, times, 0};
    if (!beside && times >= 1 && times <= mostTimes && std::abs(rest) <= nearby)
      beside = LinearExtent{i, times, rest};
    return false;
  }
  std::optional<LinearExtent> found() const {
    return multiple ? multiple : beside;
  }

private:
  int64_t number, least;
  std::optional<LinearExtent> multiple, beside;
};
} // namespace

std::optional<LinearExtent> Extents::find(int64_t number) const {
  if (number < 0) {
    std::optional<LinearExtent> found =
        number == INT64_MIN ? std::nullopt : find(-number);
    if (found) {
      found->coefficient = -found->coefficient;
      found->constant = -found->constant;
    }
    return found;
  }
  if (number < least / 2)
    return std::nullopt;
  Search search(number, least);
  for (int64_t i = 0; i < size(); ++i)
    if (search.visit(i, extents[i].kind, extents[i].placeholder))
      break;
  return search.found();
}

std::vector<LinearExtent> Extents::readings(int64_t number) const {
  std::vector<LinearExtent> found;
  if (number == INT64_MIN)
    return found;
  int64_t sign = number < 0 ? -1 : 1;
  for (int64_t i = 0; i < size(); ++i) {
    Search search(sign * number, least);
    search.visit(i, extents[i].kind, extents[i].placeholder);
    if (std::optional<LinearExtent> reading = search.found())
      found.push_back(
          {i, sign * reading->coefficient, sign * reading->constant});
  }
  return found;
}

bool shardc::isOpenAmong(std::span<const int64_t> words, int64_t number) {
  number = number < 0 && number != INT64_MIN ? -number : number;
  if (number < Extents::least / 2)
    return false;
  Search search(number, Extents::least);
  for (size_t at = 1, i = 0; i < static_cast<size_t>(words[0]); ++i) {
    if (search.visit(static_cast<int64_t>(i),
                     static_cast<ExtentKind>(words[at]), words[at + 1]))
      break;
    at += 3 + words[at + 2];
  }
  return search.found().has_value();
}

std::vector<int64_t>
Extents::evaluate(const std::map<std::pair<int64_t, int64_t>, int64_t> &dims,
                  std::string &error) const {
  std::vector<int64_t> values;
  for (const ExtentExpr &extent : extents) {
    std::optional<int64_t> value;
    if (extent.kind == ExtentKind::Dim) {
      auto found = dims.find({extent.operands[0], extent.operands[1]});
      if (found != dims.end())
        value = found->second;
      if (!value)
        error = "argument " + std::to_string(extent.operands[0]) + ", dim " +
                std::to_string(extent.operands[1]) +
                ": its extent is not given";
    } else if (extent.kind == ExtentKind::Constant) {
      value = extent.operands[0];
    } else {
      value = valueOf(extent, values);
      if (!value)
        error =
            "an extent that follows from the arguments' cannot be computed: "
            "it overflows, or divides by zero";
    }
    if (!value)
      return {};
    values.push_back(*value);
  }
  for (const ExtentCondition &condition : conditions) {
    if (values[condition.extent] != 0)
      continue;
    error = condition.message;
    for (size_t i = 0; i < condition.shown.size(); ++i) {
      std::string place = "{" + std::to_string(i) + "}",
                  value = std::to_string(values[condition.shown[i]]);
      for (size_t at = 0; (at = error.find(place, at)) != std::string::npos;
           at += value.size())
        error.replace(at, place.size(), value);
    }
    return {};
  }
  return values;
}

int64_t Extents::resolve(int64_t number,
                         std::span<const int64_t> values) const {
  std::optional<LinearExtent> found = find(number);
  if (!found)
    return number;
  int64_t result = 0;
  if (__builtin_mul_overflow(found->coefficient, values[found->extent],
                             &result) ||
      __builtin_add_overflow(result, found->constant, &result))
    return found->coefficient < 0 ? INT64_MIN / 4 : INT64_MAX / 4;
  return result;
}

std::vector<int64_t> Extents::words() const {
  std::vector<int64_t> words = {size()};
  for (const ExtentExpr &extent : extents) {
    words.insert(words.end(),
                 {static_cast<int64_t>(extent.kind), extent.placeholder,
                  static_cast<int64_t>(extent.operands.size())});
    words.insert(words.end(), extent.operands.begin(), extent.operands.end());
  }
  words.push_back(static_cast<int64_t>(conditions.size()));
  for (const ExtentCondition &condition : conditions) {
    words.insert(words.end(), {condition.extent,
                               static_cast<int64_t>(condition.shown.size()),
                               static_cast<int64_t>(condition.message.size())});
    words.insert(words.end(), condition.shown.begin(), condition.shown.end());
    for (char letter : condition.message)
      words.push_back(static_cast<unsigned char>(letter));
  }
  return words;
}

std::string Extents::read(std::span<const int64_t> &words) {
  extents.clear();
  conditions.clear();
  auto next = [&](int64_t &word) {
    if (words.empty())
      return false;
    word = words.front();
    words = words.subspan(1);
    return true;
  };
  int64_t count = 0;
  if (!next(count) || count < 0 || count > static_cast<int64_t>(words.size()))
    return "has extents that end elsewhere than they say";
  for (int64_t i = 0; i < count; ++i) {
    int64_t kind = 0, length = 0;
    ExtentExpr extent{};
    if (!next(kind) || !next(extent.placeholder) || !next(length))
      return "has extents that end elsewhere than they say";
    if (kind >= static_cast<int64_t>(kinds.size()))
      return "has an extent of kind " + std::to_string(kind) +
             ", which this build does not know: it was compiled by a newer "
             "version; compile the program again with this one, or run it "
             "with that one";
    if (kind < 0 || length != kinds[kind].second)
      return "has an extent that makes no sense";
    extent.kind = static_cast<ExtentKind>(kind);
    for (int64_t o = 0; o < length; ++o) {
      int64_t operand = 0;
      if (!next(operand))
        return "has extents that end elsewhere than they say";
      if (!hasNumbers(extent.kind) && (operand < 0 || operand >= i))
        return "has an extent that follows from none before it";
      extent.operands.push_back(operand);
    }
    extents.push_back(std::move(extent));
  }
  if (!next(count) || count < 0 || count > static_cast<int64_t>(words.size()))
    return "has conditions that end elsewhere than they say";
  for (int64_t i = 0; i < count; ++i) {
    ExtentCondition &condition = conditions.emplace_back();
    int64_t shown = 0, length = 0, rest = static_cast<int64_t>(words.size());
    if (!next(condition.extent) || !next(shown) || !next(length) || shown < 0 ||
        length < 0 || shown > rest || length > rest ||
        shown + length > static_cast<int64_t>(words.size()))
      return "has conditions that end elsewhere than they say";
    for (int64_t o = 0; o < shown; ++o)
      next(condition.shown.emplace_back());
    for (int64_t letter = 0; letter < length; ++letter) {
      int64_t word = 0;
      next(word);
      condition.message += static_cast<char>(word);
    }
    for (int64_t other : condition.shown)
      if (other < 0 || other >= size())
        return "has a condition on an extent that is not there";
    if (condition.extent < 0 || condition.extent >= size())
      return "has a condition on an extent that is not there";
  }
  return {};
}
