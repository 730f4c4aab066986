//===- Sites.h - Communication sites as flat words --------------*- C++ -*-===//
//
// A site is one communication op of a program: what is moved or combined, along
// which mesh axes, out of which boxes into which. The compiler writes all sites
// of a program into one table of int64 words (shardc_sites) and their names
// into one blob of NUL-terminated strings (shardc_strings); the runtime reads
// both at load. Generated code names a site by its index in the table.
//
// visitTable and visitSite say what stands where: once, for who writes a table,
// who reads it, and docs/Reference/artifact.md. A string is the byte at which
// it starts in the blob, or -1 for none. Reading is bounds-checked: a damaged
// table gives an error, never a wrong access.
//
// Intervals of ranks are what could grow with the number of ranks. They are
// written as runs where these are shorter, of the intervals or of how much they
// differ from those that are owned: of equal shards, and of halos around any,
// there are one or two whatever the number of ranks. Runs that repeat, as where
// ranks exchange blocks pair by pair, are written once. Intervals that the
// table has already are referred to, not written again.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_SITES_H
#define SHARDRT_SITES_H

#include "shardc/Layout/Exchange.h"
#include "shardrt/ElementType.h"
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shardrt {

inline constexpr int64_t sitesMagic = 0x5345544953445253; // "SRDSITES"
inline constexpr int64_t sitesVersion = 7;
/// Limits of a table: facts a reader refuses to exceed.
inline constexpr int64_t maxMeshAxes = 32;
inline constexpr int64_t maxRanks = 65536;
inline constexpr int64_t maxTensorDims = 16;
inline constexpr int64_t maxParts = 1024;
/// Of all sites, each counted where it is named.
inline constexpr int64_t maxIntervals = int64_t(1) << 26;

enum class SiteKind : int64_t {
  Exchange = 1,  ///< owned boxes to needed boxes (shardrt_exchange)
  AllReduce = 2, ///< combine over the group axes (shardrt_all_reduce)
  ReduceScatter =
      3,       ///< combine, each rank its needed box (shardrt_reduce_scatter)
  RowPlan = 4, ///< whose rows indices name (shardrt_plan_rows)
  GatherRows = 5, ///< rows to those that ask (shardrt_gather_rows)
  ScatterRows = 6 ///< updates to the owners of rows (shardrt_scatter_rows)
};

enum class Reduction : int64_t {
  None = 0,
  Sum = 1,
  Product = 2,
  Min = 3,
  Max = 4,
  And = 5,
  Or = 6,
  Xor = 7
};

constexpr std::string_view reductionName(Reduction reduction) {
  switch (reduction) {
  case Reduction::None:
    return "none";
  case Reduction::Sum:
    return "sum";
  case Reduction::Product:
    return "product";
  case Reduction::Min:
    return "min";
  case Reduction::Max:
    return "max";
  case Reduction::And:
    return "and";
  case Reduction::Or:
    return "or";
  case Reduction::Xor:
    return "xor";
  }
  return {};
}

/// Of row_plan, gather_rows and scatter_rows: how rows are addressed. For a
/// plan the site's exchange is the tensor of indices, else the addressed tensor
/// (with needed boxes that say nothing).
struct RowSite {
  /// Dim of the indices that holds the index vectors; their number of dims if
  /// each is one number.
  int64_t vectorDim = 0;
  /// The addressed dims of a tensor of rows: as many from here as the plan has.
  int64_t first = 0;
  bool gathers = false, scatters = false; ///< who uses the plan
  /// For each addressed dim the component of the index vectors that is its
  /// start; -1 - d if it goes along with dim d of the indices.
  std::vector<int64_t> components;
  std::vector<int64_t> slices; ///< how many rows from the start on
  /// Each addressed dim: the rows that each coordinate owns; what it needs of
  /// each slice, counted from its start.
  std::vector<shardc::DimExchange> dims;
};

/// One communication op. For all_reduce `exchange` holds the mesh alone: how
/// many elements are combined is said at the call.
struct Site {
  SiteKind kind = SiteKind::Exchange;
  /// What reports call it: "halo_exchange", "rebalance", "all_gather",
  /// "all_to_all", "shift", "all_reduce", "reduce_scatter".
  std::string report;
  ElementType type = ElementType::F32;
  Reduction reduction = Reduction::None;
  std::string name;     ///< the value or op that needs it; may be empty
  std::string location; ///< source location; may be empty
  /// Of exchanges: source and destination are one buffer, which holds the
  /// needed box; what the rank owns is in it already, and only the rest is
  /// filled. Every rank's needed box contains the one that it owns.
  bool inPlace = false;
  /// Of exchanges: others may read the source until exchange_release.
  bool releasedLater = false;
  /// Mesh axes that are combined over. Ranks that differ along these alone are
  /// one group and must own the same box.
  std::vector<int64_t> groupAxes;
  shardc::Exchange exchange;
  RowSite rows;
};

/// All sites of a program and the mesh they are for.
struct SiteTable {
  std::vector<int64_t> meshShape;
  std::vector<std::string> axisNames; ///< one an axis
  std::vector<Site> sites;

  /// Product of the axes' sizes.
  int64_t numRanks() const {
    int64_t ranks = 1;
    for (int64_t size : meshShape)
      ranks *= size;
    return ranks;
  }
};

/// A table as the artifact holds it.
struct EncodedSites {
  std::vector<int64_t> words;
  std::string strings; ///< may be empty
};

namespace detail {

inline constexpr int64_t maxExtent = int64_t(1) << 48;

/// True if every axis is one of `numAxes` and none is named twice.
inline bool axesAreDistinct(std::span<const int64_t> axes, int64_t numAxes) {
  uint64_t seen = 0;
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= numAxes || (seen >> axis & 1))
      return false;
    seen |= uint64_t(1) << axis;
  }
  return true;
}

template <typename List> int64_t sizeOf(const List &list) {
  return static_cast<int64_t>(list.size());
}

// A visitor V has: word, flag and text, which are one word each; count, which
// is one word and says how many are in a list; list and texts, of a size that
// was counted; intervals, of such a size, behind a word, and perhaps as far
// from others as runs say; check, which a reader alone does: its first argument
// if the words have ended, else what the function says; each, which visits what
// is in a list; section, for what only some sites have; and isDone, where there
// is no more to visit.

/// The header. `starts`: where each site starts.
template <typename V>
void visitTable(V &v, SiteTable &table, int64_t &magic, int64_t &version,
                int64_t &total, std::vector<int64_t> &starts) {
  v.word("magic", magic);
  v.word("version of this format", version);
  v.check("site table ends inside its header", [&]() -> std::string {
    if (magic != sitesMagic)
      return "site table does not start with its magic word";
    if (version != sitesVersion)
      return "site table has format version " + std::to_string(version) +
             ", expected " + std::to_string(sitesVersion) +
             ": compile the program again";
    return {};
  });
  v.word("words in the whole table", total);
  v.checkTotal(total);
  int64_t axes =
      v.count("number of mesh axes, m", sizeOf(table.meshShape), maxMeshAxes);
  int64_t sites =
      v.count("number of sites, s", sizeOf(starts), int64_t(1) << 40);
  v.list("sizes of the mesh axes", table.meshShape, axes, "m");
  v.check("site table ends inside its header", [&]() -> std::string {
    int64_t ranks = 1;
    for (int64_t size : table.meshShape) {
      if (size < 1 || size > maxRanks || ranks * size > maxRanks)
        return "mesh of more than " + std::to_string(maxRanks) +
               " ranks, or with an axis of size below 1";
      ranks *= size;
    }
    return {};
  });
  v.texts("names of the mesh axes", table.axisNames, axes, "m");
  v.list("word at which each site starts", starts, sites, "s");
  v.check("site table ends inside its header", [] { return std::string(); });
}

/// One dim of an exchange, of a tensor with `size` elements there.
template <typename V>
void visitTables(V &v, shardc::DimExchange &dim, int64_t size,
                 const SiteTable &table) {
  auto name = [&] { return "dim " + std::to_string(dim.dim); };
  int64_t padding = static_cast<int64_t>(dim.padding);
  v.word("`Padding`: what is read outside the domain", padding);
  int64_t numAxes = v.count("number of axes, a", sizeOf(dim.axes), maxMeshAxes);
  v.list("axes, major to minor", dim.axes, numAxes, "a");
  v.check("ends outside the table", [&]() -> std::string {
    if (padding < 0 ||
        padding > static_cast<int64_t>(shardc::Padding::Symmetric))
      return "padding " + std::to_string(padding) + " of " + name() +
             " is unknown";
    dim.padding = static_cast<shardc::Padding>(padding);
    if (!axesAreDistinct(dim.axes, sizeOf(table.meshShape)))
      return "axes of " + name() + " are out of range or named twice";
    return {};
  });
  int64_t entries =
      v.count("entries, n: the product of the sizes of those axes",
              sizeOf(dim.owned), maxRanks, 0);
  v.check("ends outside the table", [&]() -> std::string {
    int64_t coordinates = 1;
    for (int64_t axis : dim.axes)
      coordinates *= table.meshShape[axis];
    if (entries == coordinates)
      return {};
    return name() + " needs a table of " + std::to_string(coordinates) +
           " entries";
  });
  v.intervals("owned", dim.owned, entries, nullptr);
  v.intervals("needed", dim.needed, entries, &dim.owned);
  v.check("ends outside the table", [&]() -> std::string {
    for (shardc::Interval owned : dim.owned)
      if (!owned.empty() && (owned.begin < 0 || owned.end > size))
        return "owned interval reaches outside " + name();
    for (shardc::Interval needed : dim.needed)
      if (needed.begin < -maxExtent || needed.end > maxExtent ||
          needed.begin > maxExtent || needed.end < -maxExtent)
        return "needed interval of " + name() + " is too large";
    return {};
  });
}

/// One site. `table` holds the mesh.
template <typename V> void visitSite(V &v, Site &site, const SiteTable &table) {
  shardc::Exchange &exchange = site.exchange;
  bool isExchange = site.kind == SiteKind::Exchange;
  v.word("`SiteKind`", site.kind);
  v.text("what reports call it: a string (`halo_exchange`, …)", site.report);
  v.word("`ElementType`", site.type);
  v.word("`Reduction`", site.reduction);
  v.text("name: a string (`%12 of stablehlo.convolution`, …)", site.name);
  v.text("location: a string (`unet.py:84:11`)", site.location);
  v.flag("1 if the exchange is in place, else 0", site.inPlace);
  v.flag("1 if others may read the source until `exchange_release`, else 0",
         site.releasedLater);
  int64_t groupAxes =
      v.count("number of group axes, g", sizeOf(site.groupAxes), maxMeshAxes);
  int64_t dims = v.count("number of tensor dims, r",
                         sizeOf(exchange.globalShape), maxTensorDims);
  int64_t exchanged = v.count("number of exchanged dims, d",
                              sizeOf(exchange.dims), maxTensorDims, 3);
  v.check("ends outside the table, or has too many dims", [&]() -> std::string {
    auto number = [](auto value) {
      return std::to_string(static_cast<int64_t>(value));
    };
    isExchange = site.kind == SiteKind::Exchange;
    if (site.kind < SiteKind::Exchange || site.kind > SiteKind::ScatterRows)
      return "kind " + number(site.kind) + " is unknown";
    if (elementBytes(site.type) == 0)
      return "element type " + number(site.type) + " is unknown";
    bool reduces = site.kind == SiteKind::AllReduce ||
                   site.kind == SiteKind::ReduceScatter;
    if (site.reduction < Reduction::None || site.reduction > Reduction::Xor ||
        (site.kind != SiteKind::ScatterRows &&
         (site.reduction == Reduction::None) == reduces))
      return "reduction " + number(site.reduction) + " does not fit its kind";
    if ((site.inPlace || site.releasedLater) && !isExchange)
      return "is no exchange, but in place or released later";
    return {};
  });
  v.list("group axes: those that `all_reduce` and `reduce_scatter` sum over",
         site.groupAxes, groupAxes, "g");
  v.list("global shape", exchange.globalShape, dims, "r");
  v.check("ends outside the table", [&]() -> std::string {
    if (!axesAreDistinct(site.groupAxes, sizeOf(table.meshShape)))
      return "group axes are out of range or named twice";
    // How many elements there are is known when extents are bound.
    for (int64_t size : exchange.globalShape)
      if (size < 0 || size > maxExtent)
        return "global shape is negative or too large";
    return {};
  });
  uint64_t seen = 0;
  v.each("then d times:", exchange.dims, exchanged,
         [&](shardc::DimExchange &dim) {
           v.word("dim", dim.dim);
           v.check("ends outside the table", [&]() -> std::string {
             if (dim.dim < 0 || dim.dim >= dims || (seen >> dim.dim & 1))
               return "exchanged dim is out of range or listed twice";
             seen |= uint64_t(1) << dim.dim;
             return {};
           });
           visitTables(v, dim, v.at(exchange.globalShape, dim.dim), table);
         });
  if (v.section("then, of exchanges:", isExchange)) {
    int64_t parts =
        v.count("number of parts, p: 0 if all that is needed arrives",
                sizeOf(exchange.parts), maxParts);
    v.each("then p times, for each exchanged dim:", exchange.parts, parts,
           [&](std::vector<std::vector<shardc::Interval>> &part) {
             part.resize(exchange.dims.size());
             for (size_t d = 0; d < part.size(); ++d) {
               const shardc::DimExchange &dim = exchange.dims[d];
               v.intervals("arriving", part[d], sizeOf(dim.needed), &dim.owned);
               v.check("ends outside the table", [&]() -> std::string {
                 for (size_t e = 0; e < part[d].size(); ++e)
                   if (!dim.needed[e].contains(part[d][e]))
                     return "a part reaches outside what is needed of dim " +
                            std::to_string(dim.dim);
                 return {};
               });
             }
           });
    v.check("ends outside the table, or has too many parts",
            [] { return std::string(); });
  }
  if (v.section("then, of `row_plan`, `gather_rows` and `scatter_rows`:",
                site.kind >= SiteKind::RowPlan)) {
    RowSite &rows = site.rows;
    int64_t uses = (rows.gathers ? 1 : 0) + (rows.scatters ? 2 : 0);
    v.word("dim of the index vectors", rows.vectorDim);
    v.word("first addressed dim", rows.first);
    v.word("1 if gathers use the plan, + 2 if scatters do", uses);
    int64_t count = v.count("number of addressed dims, k", sizeOf(rows.dims),
                            maxTensorDims, 6);
    v.check("ends outside the table, or has rows of no kind",
            [&]() -> std::string {
              if (uses < 0 || uses > 3)
                return "has rows of no kind";
              rows.gathers = (uses & 1) != 0;
              rows.scatters = (uses & 2) != 0;
              return {};
            });
    v.list("component of each", rows.components, count, "k");
    v.list("size of the slices of each", rows.slices, count, "k");
    v.each("then k times, as an exchanged dim above:", rows.dims, count,
           [&](shardc::DimExchange &dim) {
             v.word("dim", dim.dim);
             if (!v.isDone())
               visitTables(v, dim, maxExtent, table);
           });
  }
  v.check("ends outside the table", [] { return std::string(); });
}

/// Entries of a table whose begins grow by the same, and whose ends do. Or,
/// where `entries` is below zero, the last -`entries` runs again: `step.begin`
/// times, each time `first` further on.
struct IntervalRun {
  int64_t entries = 0;
  shardc::Interval first, step;
};
inline constexpr int64_t wordsOfRun = 5;

/// Wraps around, as what a damaged table says may.
inline shardc::Interval plus(shardc::Interval a, shardc::Interval b) {
  auto sum = [](int64_t x, int64_t y) {
    return static_cast<int64_t>(static_cast<uint64_t>(x) +
                                static_cast<uint64_t>(y));
  };
  return {sum(a.begin, b.begin), sum(a.end, b.end)};
}
inline shardc::Interval minus(shardc::Interval a, shardc::Interval b) {
  auto difference = [](int64_t x, int64_t y) {
    return static_cast<int64_t>(static_cast<uint64_t>(x) -
                                static_cast<uint64_t>(y));
  };
  return {difference(a.begin, b.begin), difference(a.end, b.end)};
}
/// Not ==, to which all empty intervals are one.
inline bool isSame(shardc::Interval a, shardc::Interval b) {
  return a.begin == b.begin && a.end == b.end;
}

/// `runs` with those that repeat written once.
inline std::vector<IntervalRun>
foldRepeats(const std::vector<IntervalRun> &runs) {
  constexpr size_t longest = 64;
  std::vector<IntervalRun> folded;
  for (size_t at = 0; at < runs.size();) {
    // How many runs repeat, and how often, so that most are left out.
    size_t repeated = 0, times = 0;
    shardc::Interval shift;
    for (size_t length = 1; length <= longest && at + 2 * length <= runs.size();
         ++length) {
      shardc::Interval by = minus(runs[at + length].first, runs[at].first);
      size_t end = at + length;
      for (; end < runs.size(); ++end) {
        const IntervalRun &run = runs[end], &before = runs[end - length];
        if (run.entries != before.entries || !isSame(run.step, before.step) ||
            !isSame(minus(run.first, before.first), by))
          break;
      }
      size_t more = (end - at) / length - 1;
      if (length * more > repeated * times) {
        repeated = length;
        times = more;
        shift = by;
      }
    }
    if (repeated * times <= 1) {
      folded.push_back(runs[at++]);
      continue;
    }
    folded.insert(folded.end(), runs.begin() + at,
                  runs.begin() + at + repeated);
    folded.push_back({-static_cast<int64_t>(repeated),
                      shift,
                      {static_cast<int64_t>(times), 0}});
    at += repeated * (times + 1);
  }
  return folded;
}

/// The runs that `values` are, or `values` less `base` where there is one.
inline std::vector<IntervalRun>
runsOf(const std::vector<shardc::Interval> &values,
       const std::vector<shardc::Interval> *base) {
  std::vector<IntervalRun> runs;
  shardc::Interval last;
  for (size_t i = 0; i < values.size(); ++i) {
    shardc::Interval value = base ? minus(values[i], (*base)[i]) : values[i];
    shardc::Interval step = minus(value, last);
    last = value;
    if (!runs.empty()) {
      IntervalRun &run = runs.back();
      if (run.entries == 1)
        run.step = step;
      if (isSame(run.step, step)) {
        ++run.entries;
        continue;
      }
    }
    runs.push_back({1, value, {}});
  }
  return foldRepeats(runs);
}

/// Appends words and strings.
class SiteWriter {
public:
  explicit SiteWriter(EncodedSites &out) : out(out) {}

  template <typename T> void word(const char *, T &value) {
    out.words.push_back(static_cast<int64_t>(value));
  }
  void flag(const char *, bool &value) { out.words.push_back(value ? 1 : 0); }
  void text(const char *, std::string &value) {
    out.words.push_back(stringAt(value));
  }
  int64_t count(const char *, int64_t size, int64_t, int64_t = 1) {
    out.words.push_back(size);
    return size;
  }
  void list(const char *, std::vector<int64_t> &values, int64_t, const char *) {
    out.words.insert(out.words.end(), values.begin(), values.end());
  }
  void intervals(const char *, std::vector<shardc::Interval> &values, int64_t,
                 const std::vector<shardc::Interval> *base) {
    std::vector<int64_t> numbers;
    numbers.reserve(2 * values.size());
    for (shardc::Interval interval : values)
      numbers.insert(numbers.end(), {interval.begin, interval.end});
    auto [entry, isNew] = places.emplace(std::move(numbers), sizeOf(out.words));
    if (!isNew) {
      out.words.push_back(entry->second);
      return;
    }
    std::vector<IntervalRun> runs = runsOf(values, nullptr);
    bool isRelative = false;
    if (base && base->size() == values.size()) {
      std::vector<IntervalRun> others = runsOf(values, base);
      isRelative = others.size() < runs.size();
      if (isRelative)
        runs = std::move(others);
    }
    if (1 + wordsOfRun * sizeOf(runs) >= sizeOf(entry->first)) {
      out.words.push_back(0);
      out.words.insert(out.words.end(), entry->first.begin(),
                       entry->first.end());
      return;
    }
    out.words.push_back(-sizeOf(runs));
    out.words.push_back(isRelative ? 1 : 0);
    for (const IntervalRun &run : runs)
      out.words.insert(out.words.end(),
                       {run.entries, run.first.begin, run.first.end,
                        run.step.begin, run.step.end});
  }
  void texts(const char *, std::vector<std::string> &values, int64_t size,
             const char *) {
    values.resize(size);
    for (std::string &value : values)
      text("", value);
  }
  template <typename F> void check(const char *, F) {}
  void checkTotal(int64_t) {}
  template <typename List, typename F>
  void each(const char *, List &list, int64_t, F visit) {
    for (auto &element : list)
      visit(element);
  }
  bool section(const char *, bool holds) { return holds; }
  int64_t at(const std::vector<int64_t> &, int64_t) { return 0; }
  bool isDone() { return false; }

private:
  int64_t stringAt(std::string_view text) {
    if (text.empty())
      return -1;
    auto found = known.find(text);
    if (found != known.end())
      return found->second;
    int64_t offset = sizeOf(out.strings);
    out.strings.append(text.substr(0, text.find('\0')));
    out.strings.push_back('\0');
    known.emplace(std::string(text), offset);
    return offset;
  }

  EncodedSites &out;
  std::map<std::string, int64_t, std::less<>> known;
  /// The word that says how intervals are written.
  std::map<std::vector<int64_t>, int64_t> places;
};

/// Reads words that nobody vouches for. After the first thing that is wrong
/// every word is 0 and every list empty.
class SiteReader {
public:
  SiteReader(std::span<const int64_t> words, std::string_view strings,
             int64_t mostIntervals)
      : words(words), strings(strings), intervalsLeft(mostIntervals) {}

  std::string error;
  std::string where; ///< begins errors

  void seek(int64_t position) {
    if (position < 0 || position > sizeOf(words))
      failed = true;
    else
      next_ = position;
  }
  template <typename T> void word(const char *, T &value) {
    value = static_cast<T>(next());
  }
  void flag(const char *what, bool &value) {
    int64_t said = next();
    value = said == 1;
    if (said != 0 && said != 1)
      fail("says " + std::to_string(said) + ", expected " + what);
  }
  void text(const char *, std::string &value) { value = stringAt(next()); }
  int64_t count(const char *, int64_t, int64_t most, int64_t wordsEach = 1) {
    int64_t value = next();
    int64_t left = sizeOf(words) - next_;
    if (value < 0 || value > most ||
        (wordsEach > 0 && value > left / wordsEach)) {
      failed = true;
      return 0;
    }
    return isGood() ? value : 0;
  }
  void list(const char *, std::vector<int64_t> &values, int64_t size,
            const char *) {
    values.clear();
    for (int64_t i = 0; i < size && isGood(); ++i)
      values.push_back(next());
  }
  void intervals(const char *, std::vector<shardc::Interval> &values,
                 int64_t size, const std::vector<shardc::Interval> *base) {
    values.clear();
    int64_t place = next_, form = next();
    intervalsLeft -= size;
    if (intervalsLeft < 0)
      fail("too many intervals: no more than " + std::to_string(maxIntervals) +
           " are read for all sites");
    if (!isGood())
      return;
    if (form > 0) {
      auto found = known.find(form);
      if (found == known.end() || sizeOf(found->second) != size)
        fail("refers to word " + std::to_string(form) +
             ", at which no table of " + std::to_string(size) +
             " entries has been");
      else
        values = found->second;
      return;
    }
    values.reserve(size);
    if (form < 0)
      readRuns(values, size, form, base);
    else if (2 * size > sizeOf(words) - next_)
      failed = true;
    for (int64_t i = 0; i < size && form == 0 && isGood(); ++i) {
      int64_t begin = next();
      values.push_back({begin, next()});
    }
    if (isGood())
      known.emplace(place, values);
    else
      values.clear();
  }
  void texts(const char *, std::vector<std::string> &values, int64_t size,
             const char *) {
    values.clear();
    for (int64_t i = 0; i < size && isGood(); ++i)
      values.push_back(stringAt(next()));
  }
  template <typename F> void check(const char *ended, F what) {
    if (!error.empty())
      return;
    if (failed)
      return fail(ended);
    if (std::string why = what(); !why.empty())
      fail(why);
  }
  void checkTotal(int64_t total) {
    check("site table ends inside its header", [&]() -> std::string {
      if (total == sizeOf(words))
        return {};
      return "site table has " + std::to_string(words.size()) +
             " words, but its header says otherwise";
    });
  }
  template <typename List, typename F>
  void each(const char *, List &list, int64_t size, F visit) {
    list.clear();
    for (int64_t i = 0; i < size && isGood(); ++i)
      visit(list.emplace_back());
  }
  bool section(const char *, bool holds) { return isGood() && holds; }
  int64_t at(const std::vector<int64_t> &values, int64_t place) {
    return isGood() ? values[place] : 0;
  }
  bool isDone() { return !isGood(); }

private:
  /// Reads -`count` runs that make up `size` entries.
  void readRuns(std::vector<shardc::Interval> &values, int64_t size,
                int64_t count, const std::vector<shardc::Interval> *base) {
    int64_t isRelative = next();
    if (isRelative != 0 && (isRelative != 1 || !base))
      return fail("has runs that are relative to no table");
    std::vector<size_t> starts; // of runs since the last that were repeated
    for (; count < 0 && isGood(); ++count) {
      IntervalRun run;
      run.entries = next();
      run.first.begin = next(), run.first.end = next();
      run.step.begin = next(), run.step.end = next();
      if (!isGood())
        return;
      int64_t left = size - sizeOf(values);
      if (run.entries < 0) {
        readRepeats(values, starts, run, left);
        continue;
      }
      if (run.entries < 1 || run.entries > left)
        return fail("has a run of " + std::to_string(run.entries) +
                    " entries of " + std::to_string(left));
      starts.push_back(values.size());
      for (shardc::Interval value = run.first; run.entries > 0; --run.entries) {
        values.push_back(value);
        value = plus(value, run.step);
      }
    }
    for (size_t i = 0; isRelative && i < values.size(); ++i)
      values[i] = plus(values[i], (*base)[i]);
    if (isGood() && sizeOf(values) != size)
      fail("has runs of " + std::to_string(values.size()) + " entries, not " +
           std::to_string(size));
  }
  /// Appends what the last runs of `values` are, as `repeat` says; `left`
  /// entries are not there yet.
  void readRepeats(std::vector<shardc::Interval> &values,
                   std::vector<size_t> &starts, const IntervalRun &repeat,
                   int64_t left) {
    int64_t times = repeat.step.begin;
    if (repeat.entries < -sizeOf(starts))
      return fail("repeats more runs than the " +
                  std::to_string(starts.size()) + " before");
    size_t begin = starts.end()[repeat.entries], length = values.size() - begin;
    if (times < 1 || times > left / static_cast<int64_t>(length) ||
        repeat.step.end != 0)
      return fail("repeats " + std::to_string(length) + " entries " +
                  std::to_string(times) + " times, " + std::to_string(left) +
                  " are left");
    for (size_t i = begin, end = begin + times * length; i < end; ++i)
      values.push_back(plus(values[i], repeat.first));
    starts.clear();
  }
  bool isGood() const { return !failed && error.empty(); }
  void fail(const std::string &why) {
    if (error.empty())
      error = where + why;
  }
  int64_t next() {
    if (!isGood() || next_ >= sizeOf(words)) {
      failed = true;
      return 0;
    }
    return words[next_++];
  }
  std::string stringAt(int64_t offset) {
    if (offset == -1 || !isGood())
      return {};
    size_t end = offset < 0 || offset >= sizeOf(strings)
                     ? std::string_view::npos
                     : strings.find('\0', offset);
    if (end == std::string_view::npos) {
      fail("string at byte " + std::to_string(offset) +
           " is outside the string table of " + std::to_string(strings.size()) +
           " bytes");
      return {};
    }
    return std::string(strings.substr(offset, end - offset));
  }

  std::span<const int64_t> words;
  std::string_view strings;
  int64_t next_ = 0;
  int64_t intervalsLeft;
  /// Intervals that were read, by the word that says how they are written.
  std::map<int64_t, std::vector<shardc::Interval>> known;
  bool failed = false;
};

/// Says what stands where, as rows of a table.
class SiteDescriber {
public:
  std::string text_;

  template <typename T> void word(const char *what, T &) {
    row(place(), what);
    ++words;
  }
  void flag(const char *what, bool &) { row(place(), what), ++words; }
  void text(const char *what, std::string &) { row(place(), what), ++words; }
  int64_t count(const char *what, int64_t, int64_t, int64_t = 1) {
    row(place(), what);
    ++words;
    return 1;
  }
  template <typename List>
  void list(const char *what, List &, int64_t, const char *size) {
    row((after.empty() ? std::to_string(words) + " .. " : "..") + "+" + size,
        what);
    after = "..";
  }
  template <typename List>
  void intervals(const char *what, List &values, int64_t size,
                 const std::vector<shardc::Interval> *base) {
    row(place(), (std::string(what) +
                  ": 0, -r for r runs, or the word of the table at which this "
                  "is said of the same")
                     .c_str());
    ++words;
    list("if 0, begin and end of each entry", values, size, "2n");
    list(base ? "if r runs, 1 if what is owned is to be added, else 0"
              : "if r runs, 0",
         values, size, "1");
    list("of each run its entries, begin and end of the first, and by how much "
         "these grow from entry to entry; or -k, for the last k runs again: by "
         "how much begins and ends grow each time, how many times, and 0",
         values, size, "5r");
  }
  template <typename List>
  void texts(const char *what, List &values, int64_t size, const char *words) {
    list(what, values, size, words);
  }
  template <typename F> void check(const char *, F) {}
  void checkTotal(int64_t) {}
  template <typename List, typename F>
  void each(const char *title, List &list, int64_t, F visit) {
    section(title, true);
    list.resize(1);
    visit(list.front());
    words = 0;
    after = "..";
  }
  bool section(const char *title, bool) {
    row("", title);
    words = 0;
    after.clear();
    return true;
  }
  int64_t at(const std::vector<int64_t> &, int64_t) { return 0; }
  /// What an exchanged dim holds has been said.
  bool isDone() { return true; }

private:
  std::string place() { return after.empty() ? std::to_string(words) : "..+1"; }
  void row(const std::string &place, const char *what) {
    text_ += "| " + place + (place.empty() ? "| " : " | ") + what + " |\n";
  }

  int64_t words = 0;
  std::string after; ///< once a list came, places follow one another
};

} // namespace detail

/// Writes `table`; each site's exchange.meshShape is taken to be the table's.
inline EncodedSites encodeSites(SiteTable table) {
  EncodedSites out;
  detail::SiteWriter writer(out);
  int64_t magic = sitesMagic, version = sitesVersion, total = 0;
  std::vector<int64_t> starts(table.sites.size());
  detail::visitTable(writer, table, magic, version, total, starts);
  size_t firstStart = out.words.size() - starts.size();
  for (size_t i = 0; i < table.sites.size(); ++i) {
    out.words[firstStart + i] = detail::sizeOf(out.words);
    detail::visitSite(writer, table.sites[i], table);
  }
  out.words[2] = detail::sizeOf(out.words);
  return out;
}

/// Reads a table. Returns an empty string, or what is wrong with it: `table` is
/// then unspecified. Checks the format, that strings, axes, dims and table
/// lengths are in range and sizes are not negative; that owned boxes tile the
/// tensor is shardc::verifyExchange's to say.
inline std::string decodeSites(std::span<const int64_t> words,
                               std::string_view strings, SiteTable &table,
                               int64_t mostIntervals = maxIntervals) {
  table = SiteTable();
  detail::SiteReader reader(words, strings, mostIntervals);
  int64_t magic = 0, version = 0, total = 0;
  std::vector<int64_t> starts;
  detail::visitTable(reader, table, magic, version, total, starts);
  for (size_t i = 0; i < starts.size() && reader.error.empty(); ++i) {
    reader.where = "site " + std::to_string(i) + ": ";
    reader.seek(starts[i]);
    Site site;
    detail::visitSite(reader, site, table);
    site.exchange.meshShape = table.meshShape;
    table.sites.push_back(std::move(site));
  }
  return reader.error;
}

/// The format, as two tables of docs/Reference/artifact.md.
inline std::string describeSites() {
  SiteTable table;
  Site site;
  int64_t word = 0;
  std::vector<int64_t> starts;
  detail::SiteDescriber header, describer;
  detail::visitTable(header, table, word, word, word, starts);
  detail::visitSite(describer, site, table);
  return "| word | header |\n|---|---|\n" + header.text_ +
         "\n| word | site |\n|---|---|\n" + describer.text_;
}

} // namespace shardrt

#endif // SHARDRT_SITES_H
