//===- Formulas.h - What of an artifact follows from a binding --*- C++ -*-===//
//
// A program whose arguments arrive in sizes that are said when it is bound has
// its numbers for one binding, and formulas (shardc/Layout/Formula.h) for any:
// in one table of int64 words (shardc_formulas). Binding evaluates them and
// writes what they say over those numbers:
//
//     lookups   what generated code asks for with shardrt_number
//     tables    what each coordinate owns or needs, of sites
//     borders   boundaries of arguments and results, in the metadata
//
// Dims of arguments whose sizes are given are in `givens`. Numbers of
// formulas and shapes that are placeholders (shardc/Layout/Extents.h) follow
// from open extents.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_FORMULAS_H
#define SHARDRT_FORMULAS_H

#include "shardc/Layout/Formula.h"
#include "shardc/Layout/Limits.h"
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace shardrt {

inline constexpr int64_t formulasMagic = 0x414c554d524f4653; // "SFORMULA"
inline constexpr int64_t formulasVersion = 3;
inline constexpr int64_t maxFormulas = int64_t(1) << 24;

/// A table of a site that follows from what is bound.
struct BoundSide {
  int64_t site = 0;
  int64_t isRow = 0;    ///< 1: of Site::rows.dims, else of Site::exchange.dims
  int64_t dim = 0;      ///< which of them
  int64_t isNeeded = 0; ///< 1: what is needed, else what is owned
  int64_t formula = 0;
};

/// Boundaries of an argument or result.
struct BoundBorder {
  int64_t place = 0; ///< which "boundaries" of the metadata
  int64_t formula = 0;
};

/// A dim of an argument whose sizes are given, and what its number of shards is
/// a product of: numbers, and ~axis for the size of an axis of the mesh.
struct Given {
  int64_t argument = 0;
  int64_t dim = 0;
  int64_t size = 0;
  std::vector<int64_t> factors;
};

/// A buffer of the arena: `bytes` times what the formulas say for a rank, above
/// the ends of earlier ones.
struct BoundBuffer {
  int64_t bytes = 0;
  std::vector<int64_t> sizes; ///< formulas of numbers
  std::vector<int64_t> below; ///< earlier buffers
};
inline constexpr int64_t arenaAlignment = 64;

struct Formulas {
  shardc::FormulaList list;
  std::vector<int64_t> lookups; ///< formulas of numbers
  std::vector<BoundSide> sides;
  std::vector<BoundBorder> borders;
  std::vector<Given> givens;
  std::vector<BoundBuffer> buffers;
  /// Axes of the mesh whose sizes are given too.
  std::vector<int64_t> symbolicAxes;
  shardc::Extents extents; ///< which numbers follow from those of arguments
  bool empty() const {
    return list.size() == 0 && symbolicAxes.empty() && extents.empty();
  }
};

inline std::vector<int64_t> encodeFormulas(const Formulas &formulas) {
  auto count = [](const auto &list) {
    return static_cast<int64_t>(list.size());
  };
  std::vector<int64_t> words = {formulasMagic,
                                formulasVersion,
                                0,
                                formulas.list.size(),
                                count(formulas.lookups),
                                count(formulas.sides),
                                count(formulas.borders),
                                count(formulas.givens),
                                count(formulas.buffers),
                                count(formulas.symbolicAxes)};
  formulas.list.append(words);
  words.insert(words.end(), formulas.lookups.begin(), formulas.lookups.end());
  for (const BoundSide &side : formulas.sides)
    words.insert(words.end(), {side.site, side.isRow, side.dim, side.isNeeded,
                               side.formula});
  for (const BoundBorder &border : formulas.borders)
    words.insert(words.end(), {border.place, border.formula});
  auto append = [&](const std::vector<int64_t> &list) {
    words.push_back(count(list));
    words.insert(words.end(), list.begin(), list.end());
  };
  for (const Given &given : formulas.givens) {
    words.insert(words.end(), {given.argument, given.dim, given.size});
    append(given.factors);
  }
  for (const BoundBuffer &buffer : formulas.buffers) {
    words.push_back(buffer.bytes);
    append(buffer.sizes);
    append(buffer.below);
  }
  words.insert(words.end(), formulas.symbolicAxes.begin(),
               formulas.symbolicAxes.end());
  std::vector<int64_t> extents = formulas.extents.words();
  words.insert(words.end(), extents.begin(), extents.end());
  words[2] = count(words);
  return words;
}

/// Reads what nobody vouches for: an empty string, or what is wrong. Places of
/// sites, arguments and results are for the caller to check.
inline std::string decodeFormulas(std::span<const int64_t> words,
                                  int64_t numAxes, Formulas &formulas) {
  formulas = Formulas();
  if (words.size() < 10 || words[0] != formulasMagic)
    return "is no table of formulas";
  if (words[1] != formulasVersion)
    return "has formulas of version " + std::to_string(words[1]) +
           ", this build reads " + std::to_string(formulasVersion) +
           ": compile the program again";
  if (words[2] != static_cast<int64_t>(words.size()))
    return "has formulas that end elsewhere than they say";
  int64_t counts[7];
  for (int i = 0; i < 7; ++i) {
    counts[i] = words[3 + i];
    if (counts[i] < 0 || counts[i] > maxFormulas)
      return "has too many formulas";
  }
  std::span<const int64_t> rest = words.subspan(10);
  if (std::string error = formulas.list.read(rest, counts[0], numAxes);
      !error.empty())
    return error;
  if (static_cast<int64_t>(rest.size()) < counts[1] + 5 * counts[2] +
                                              2 * counts[3] + 4 * counts[4] +
                                              3 * counts[5] + counts[6])
    return "has formulas that end elsewhere than they say";
  auto next = [&] {
    int64_t word = rest.front();
    rest = rest.subspan(1);
    return word;
  };
  std::string error;
  auto formula = [&](auto fits) {
    int64_t number = next();
    if (number < 0 || number >= formulas.list.size() ||
        !fits(formulas.list[number]))
      error = "uses a formula for what it does not say";
    return number;
  };
  auto isNumbers = [](const shardc::Formula &formula) {
    return !formula.isIntervals() && !formula.isBoundaries();
  };
  auto isIntervals = [](const shardc::Formula &formula) {
    return formula.isIntervals();
  };
  auto isBoundaries = [](const shardc::Formula &formula) {
    return formula.isBoundaries();
  };
  for (int64_t i = 0; i < counts[1]; ++i)
    formulas.lookups.push_back(formula(isNumbers));
  for (int64_t i = 0; i < counts[2]; ++i) {
    BoundSide side;
    side.site = next();
    side.isRow = next();
    side.dim = next();
    side.isNeeded = next();
    side.formula = formula(isIntervals);
    formulas.sides.push_back(side);
  }
  for (int64_t i = 0; i < counts[3]; ++i) {
    BoundBorder border;
    border.place = next();
    border.formula = formula(isBoundaries);
    formulas.borders.push_back(border);
  }
  bool ended = false;
  auto nextOf = [&](int64_t least) {
    if (rest.empty() || rest.front() < least)
      ended = true;
    return ended ? 0 : next();
  };
  for (int64_t i = 0; i < counts[4] && !ended; ++i) {
    Given &given = formulas.givens.emplace_back();
    given.argument = nextOf(0);
    given.dim = nextOf(0);
    given.size = nextOf(0);
    int64_t length = nextOf(0);
    ended |= length > static_cast<int64_t>(rest.size());
    for (int64_t n = 0; n < length && !ended; ++n) {
      int64_t factor = nextOf(INT64_MIN);
      if (factor == 0 || factor > shardc::kMaxRanks ||
          (factor < 0 && ~factor >= numAxes))
        error = "has sizes to be given that make no sense";
      given.factors.push_back(factor);
    }
  }
  for (int64_t i = 0; i < counts[5] && !ended; ++i) {
    BoundBuffer &buffer = formulas.buffers.emplace_back();
    buffer.bytes = nextOf(0);
    for (std::vector<int64_t> *list : {&buffer.sizes, &buffer.below}) {
      int64_t length = nextOf(0);
      ended |= length > static_cast<int64_t>(rest.size());
      for (int64_t n = 0; n < length && !ended; ++n)
        list->push_back(list == &buffer.sizes ? formula(isNumbers) : nextOf(0));
    }
    for (int64_t other : buffer.below)
      ended |= other >= i;
  }
  for (int64_t i = 0; i < counts[6] && !ended; ++i) {
    int64_t axis = nextOf(0);
    ended |= axis >= numAxes;
    formulas.symbolicAxes.push_back(axis);
  }
  if (!ended && error.empty())
    error = formulas.extents.read(rest);
  if (ended || (error.empty() && !rest.empty()))
    return "has formulas that end elsewhere than they say";
  return error;
}

} // namespace shardrt

#endif // SHARDRT_FORMULAS_H
