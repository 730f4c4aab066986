//===- Sites.h - Communication sites as flat words --------------*- C++ -*-===//
//
// A site is one communication op of a program: what is moved or combined, along
// which mesh axes, out of which boxes into which. The compiler writes all sites
// of a program into one table of int64 words (shardc_sites) and their names
// into one blob of NUL-terminated strings (shardc_strings); the runtime reads
// both at load. Generated code names a site by its index in the table.
//
//   word            header
//   0               magic
//   1               version of this format
//   2               words in the whole table
//   3               number of mesh axes, m
//   4               number of sites, s
//   5 .. 5+m        sizes of the mesh axes
//   .. +m           names of the mesh axes
//   .. +s           word at which each site starts
//
//   word            site
//   0               SiteKind
//   1               what reports call it: a string ("halo_exchange", …)
//   2               ElementType
//   3               Reduction
//   4               name: a string ("%12 of stablehlo.convolution", …)
//   5               location: a string ("unet.py:84:11")
//   6               1 if the exchange is in place, else 0
//   7               number of group axes, g
//   8               number of tensor dims, r
//   9               number of exchanged dims, d
//   10 .. 10+g      group axes: those that all_reduce and reduce_scatter sum
//   over
//   .. +r           global shape
//   .. then d times:
//     0             dim
//     1             Padding: what is read outside the domain
//     2             number of axes, a
//     3 .. 3+a      axes, major to minor
//     .. +1         entries, n: the product of the sizes of those axes
//     .. +2n        owned: begin, end of each entry
//     .. +2n        needed: begin, end of each entry
//   .. then, of exchanges:
//     0             number of parts, p: 0 if all that is needed arrives
//     .. then p times d tables as above, 2n words each
//   .. then, of row_plan, gather_rows and scatter_rows:
//     0             dim of the index vectors
//     1             first addressed dim
//     2             1 if gathers use the plan, + 2 if scatters do
//     3             addressed dims, k
//     4 .. 4+k      component of each
//     .. +k         size of the slices of each
//     .. then k times an exchanged dim, as above
//
// A string is the byte at which it starts in the blob, or -1 for none. Reading
// is bounds-checked: a damaged table gives an error, never a wrong access.
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
inline constexpr int64_t sitesVersion = 4;
/// Limits of a table: facts a reader refuses to exceed.
inline constexpr int64_t maxMeshAxes = 32;
inline constexpr int64_t maxRanks = 65536;
inline constexpr int64_t maxTensorDims = 16;
inline constexpr int64_t maxParts = 1024;

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
  /// needed box; what the rank owns lies in it already, and only the rest is
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

/// Writes `table`; each site's exchange.meshShape is taken to be the table's.
inline EncodedSites encodeSites(const SiteTable &table) {
  EncodedSites out;
  std::map<std::string, int64_t, std::less<>> known;
  auto stringAt = [&](std::string_view text) -> int64_t {
    if (text.empty())
      return -1;
    auto found = known.find(text);
    if (found != known.end())
      return found->second;
    int64_t offset = static_cast<int64_t>(out.strings.size());
    out.strings.append(text.substr(0, text.find('\0')));
    out.strings.push_back('\0');
    known.emplace(std::string(text), offset);
    return offset;
  };
  auto count = [](const auto &list) {
    return static_cast<int64_t>(list.size());
  };
  std::vector<int64_t> &words = out.words;
  words = {sitesMagic, sitesVersion, 0, count(table.meshShape),
           count(table.sites)};
  words.insert(words.end(), table.meshShape.begin(), table.meshShape.end());
  for (size_t i = 0; i < table.meshShape.size(); ++i)
    words.push_back(
        stringAt(i < table.axisNames.size() ? table.axisNames[i] : ""));
  size_t starts = words.size();
  words.resize(starts + table.sites.size());
  for (size_t i = 0; i < table.sites.size(); ++i) {
    const Site &site = table.sites[i];
    const shardc::Exchange &exchange = site.exchange;
    words[starts + i] = count(words);
    words.insert(words.end(),
                 {static_cast<int64_t>(site.kind), stringAt(site.report),
                  static_cast<int64_t>(site.type),
                  static_cast<int64_t>(site.reduction), stringAt(site.name),
                  stringAt(site.location), site.inPlace ? 1 : 0,
                  site.releasedLater ? 1 : 0, count(site.groupAxes),
                  count(exchange.globalShape), count(exchange.dims)});
    words.insert(words.end(), site.groupAxes.begin(), site.groupAxes.end());
    words.insert(words.end(), exchange.globalShape.begin(),
                 exchange.globalShape.end());
    auto write = [&](const shardc::DimExchange &dim) {
      words.push_back(dim.dim);
      words.push_back(static_cast<int64_t>(dim.padding));
      words.push_back(count(dim.axes));
      words.insert(words.end(), dim.axes.begin(), dim.axes.end());
      words.push_back(count(dim.owned));
      for (shardc::Interval interval : dim.owned)
        words.insert(words.end(), {interval.begin, interval.end});
      for (shardc::Interval interval : dim.needed)
        words.insert(words.end(), {interval.begin, interval.end});
    };
    for (const shardc::DimExchange &dim : exchange.dims)
      write(dim);
    if (site.kind == SiteKind::Exchange) {
      words.push_back(count(exchange.parts));
      for (const auto &part : exchange.parts)
        for (const std::vector<shardc::Interval> &table : part)
          for (shardc::Interval interval : table)
            words.insert(words.end(), {interval.begin, interval.end});
    }
    if (site.kind < SiteKind::RowPlan)
      continue;
    const RowSite &rows = site.rows;
    words.insert(words.end(), {rows.vectorDim, rows.first,
                               (rows.gathers ? 1 : 0) + (rows.scatters ? 2 : 0),
                               count(rows.dims)});
    words.insert(words.end(), rows.components.begin(), rows.components.end());
    words.insert(words.end(), rows.slices.begin(), rows.slices.end());
    for (const shardc::DimExchange &dim : rows.dims)
      write(dim);
  }
  words[2] = count(words);
  return out;
}

namespace detail {

/// A cursor over words that remembers the first access out of range.
class WordReader {
public:
  explicit WordReader(std::span<const int64_t> words) : words(words) {}
  bool ok() const { return !failed; }
  int64_t position() const { return at; }
  void seek(int64_t position) {
    if (position < 0 || position > static_cast<int64_t>(words.size()))
      failed = true;
    else
      at = position;
  }
  int64_t next() {
    if (failed || at >= static_cast<int64_t>(words.size())) {
      failed = true;
      return 0;
    }
    return words[at++];
  }
  /// A number of things to come, each of at least `wordsEach` words.
  int64_t nextCount(int64_t most, int64_t wordsEach = 1) {
    int64_t value = next();
    int64_t left = static_cast<int64_t>(words.size()) - at;
    if (value < 0 || value > most || value > left / wordsEach) {
      failed = true;
      return 0;
    }
    return value;
  }
  std::vector<int64_t> nextList(int64_t size) {
    std::vector<int64_t> list;
    for (int64_t i = 0; i < size && ok(); ++i)
      list.push_back(next());
    return list;
  }
  std::vector<shardc::Interval> nextIntervals(int64_t size) {
    std::vector<shardc::Interval> list;
    for (int64_t i = 0; i < size && ok(); ++i) {
      int64_t begin = next();
      list.push_back({begin, next()});
    }
    return list;
  }

private:
  std::span<const int64_t> words;
  int64_t at = 0;
  bool failed = false;
};

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

} // namespace detail

/// Reads a table. Returns an empty string, or what is wrong with it: `table` is
/// then unspecified. Checks the format, that strings, axes, dims and table
/// lengths are in range and sizes are not negative; that owned boxes tile the
/// tensor is shardc::verifyExchange's to say.
inline std::string decodeSites(std::span<const int64_t> words,
                               std::string_view strings, SiteTable &table) {
  constexpr int64_t maxExtent = int64_t(1) << 48;
  table = SiteTable();
  detail::WordReader reader(words);
  if (reader.next() != sitesMagic)
    return "site table does not start with its magic word";
  int64_t version = reader.next();
  if (reader.ok() && version != sitesVersion)
    return "site table has format version " + std::to_string(version) +
           ", expected " + std::to_string(sitesVersion) +
           ": compile the program again";
  if (reader.next() != static_cast<int64_t>(words.size()))
    return "site table has " + std::to_string(words.size()) +
           " words, but its header says otherwise";
  int64_t numAxes = reader.nextCount(maxMeshAxes);
  int64_t numSites = reader.nextCount(int64_t(1) << 40);
  if (!reader.ok())
    return "site table ends inside its header";

  std::string error;
  auto stringAt = [&](int64_t offset) -> std::string {
    if (offset == -1)
      return {};
    if (offset < 0 || offset >= static_cast<int64_t>(strings.size()) ||
        strings.find('\0', offset) == std::string_view::npos) {
      error = "string at byte " + std::to_string(offset) +
              " is outside the string table of " +
              std::to_string(strings.size()) + " bytes";
      return {};
    }
    return std::string(
        strings.substr(offset, strings.find('\0', offset) - offset));
  };

  table.meshShape = reader.nextList(numAxes);
  int64_t ranks = 1;
  for (int64_t size : table.meshShape) {
    if (size < 1 || size > maxRanks || ranks * size > maxRanks)
      return "mesh of more than " + std::to_string(maxRanks) +
             " ranks, or with an axis of size below 1";
    ranks *= size;
  }
  for (int64_t i = 0; i < numAxes && reader.ok(); ++i)
    table.axisNames.push_back(stringAt(reader.next()));
  std::vector<int64_t> starts = reader.nextList(numSites);
  if (!reader.ok())
    return "site table ends inside its header";
  if (!error.empty())
    return error;

  for (int64_t i = 0; i < numSites; ++i) {
    std::string where = "site " + std::to_string(i) + ": ";
    reader.seek(starts[i]);
    Site site;
    site.kind = static_cast<SiteKind>(reader.next());
    site.report = stringAt(reader.next());
    site.type = static_cast<ElementType>(reader.next());
    site.reduction = static_cast<Reduction>(reader.next());
    site.name = stringAt(reader.next());
    site.location = stringAt(reader.next());
    int64_t inPlace = reader.next();
    int64_t releasedLater = reader.next();
    int64_t numGroupAxes = reader.nextCount(maxMeshAxes);
    int64_t numDims = reader.nextCount(maxTensorDims);
    int64_t numExchanged = reader.nextCount(maxTensorDims, 3);
    if (!reader.ok())
      return where + "ends outside the table, or has more than " +
             std::to_string(maxTensorDims) + " dims";
    if (!error.empty())
      return where + error;
    if (site.kind < SiteKind::Exchange || site.kind > SiteKind::ScatterRows)
      return where + "kind " + std::to_string(static_cast<int64_t>(site.kind)) +
             " is unknown";
    if (elementBytes(site.type) == 0)
      return where + "element type " +
             std::to_string(static_cast<int64_t>(site.type)) + " is unknown";
    if (site.reduction < Reduction::None || site.reduction > Reduction::Xor ||
        (site.kind != SiteKind::ScatterRows &&
         (site.reduction == Reduction::None) ==
             (site.kind == SiteKind::AllReduce ||
              site.kind == SiteKind::ReduceScatter)))
      return where + "reduction " +
             std::to_string(static_cast<int64_t>(site.reduction)) +
             " does not fit its kind";
    if (inPlace != 0 && (inPlace != 1 || site.kind != SiteKind::Exchange))
      return where + "says " + std::to_string(inPlace) +
             " where an exchange in place says 1, and all else 0";
    site.inPlace = inPlace == 1;
    if (releasedLater != 0 &&
        (releasedLater != 1 || site.kind != SiteKind::Exchange))
      return where + "says " + std::to_string(releasedLater) +
             " where an exchange that is released later says 1, and all else 0";
    site.releasedLater = releasedLater == 1;
    site.groupAxes = reader.nextList(numGroupAxes);
    if (!reader.ok() || !detail::axesAreDistinct(site.groupAxes, numAxes))
      return where + "group axes are out of range or named twice";
    site.exchange.meshShape = table.meshShape;
    site.exchange.globalShape = reader.nextList(numDims);
    int64_t elements = 1;
    for (int64_t size : site.exchange.globalShape) {
      if (size < 0 || size > maxExtent ||
          (size != 0 && elements > maxExtent / size))
        return where + "global shape is negative or too large";
      elements *= size == 0 ? 1 : size;
    }
    auto readTables = [&](shardc::DimExchange &dim,
                          int64_t size) -> std::string {
      int64_t padding = reader.next();
      if (padding < 0 ||
          padding > static_cast<int64_t>(shardc::Padding::Symmetric))
        return where + "padding " + std::to_string(padding) + " of dim " +
               std::to_string(dim.dim) + " is unknown";
      dim.padding = static_cast<shardc::Padding>(padding);
      dim.axes = reader.nextList(reader.nextCount(maxMeshAxes));
      if (!reader.ok() || !detail::axesAreDistinct(dim.axes, numAxes))
        return where + "axes of dim " + std::to_string(dim.dim) +
               " are out of range or named twice";
      int64_t coordinates = 1;
      for (int64_t axis : dim.axes)
        coordinates *= table.meshShape[axis];
      int64_t entries = reader.nextCount(maxRanks, 4);
      if (!reader.ok() || entries != coordinates)
        return where + "dim " + std::to_string(dim.dim) + " needs a table of " +
               std::to_string(coordinates) + " entries";
      dim.owned = reader.nextIntervals(entries);
      dim.needed = reader.nextIntervals(entries);
      for (int64_t e = 0; e < entries; ++e) {
        shardc::Interval owned = dim.owned[e], needed = dim.needed[e];
        if (!owned.empty() && (owned.begin < 0 || owned.end > size))
          return where + "owned interval reaches outside dim " +
                 std::to_string(dim.dim);
        if (needed.begin < -maxExtent || needed.end > maxExtent ||
            needed.begin > maxExtent || needed.end < -maxExtent)
          return where + "needed interval of dim " + std::to_string(dim.dim) +
                 " is too large";
      }
      return {};
    };
    uint64_t seenDims = 0;
    for (int64_t d = 0; d < numExchanged; ++d) {
      shardc::DimExchange &dim = site.exchange.dims.emplace_back();
      dim.dim = reader.next();
      if (!reader.ok() || dim.dim < 0 || dim.dim >= numDims ||
          (seenDims >> dim.dim & 1))
        return where + "exchanged dim is out of range or listed twice";
      seenDims |= uint64_t(1) << dim.dim;
      if (std::string why = readTables(dim, site.exchange.globalShape[dim.dim]);
          !why.empty())
        return why;
    }
    if (site.kind == SiteKind::Exchange) {
      int64_t numParts = reader.nextCount(maxParts);
      for (int64_t p = 0; p < numParts && reader.ok(); ++p) {
        auto &part = site.exchange.parts.emplace_back();
        for (const shardc::DimExchange &dim : site.exchange.dims) {
          std::vector<shardc::Interval> &table = part.emplace_back(
              reader.nextIntervals(static_cast<int64_t>(dim.needed.size())));
          for (size_t e = 0; e < table.size(); ++e)
            if (!dim.needed[e].contains(table[e]))
              return where + "part " + std::to_string(p) +
                     " reaches outside what is needed of dim " +
                     std::to_string(dim.dim);
        }
      }
      if (!reader.ok())
        return where + "ends outside the table, or has more than " +
               std::to_string(maxParts) + " parts";
    }
    if (site.kind >= SiteKind::RowPlan) {
      RowSite &rows = site.rows;
      rows.vectorDim = reader.next();
      rows.first = reader.next();
      int64_t uses = reader.next();
      int64_t numRowDims = reader.nextCount(maxTensorDims, 6);
      if (!reader.ok() || uses < 0 || uses > 3)
        return where + "ends outside the table, or has rows of no kind";
      rows.gathers = (uses & 1) != 0;
      rows.scatters = (uses & 2) != 0;
      rows.components = reader.nextList(numRowDims);
      rows.slices = reader.nextList(numRowDims);
      for (int64_t d = 0; d < numRowDims; ++d) {
        shardc::DimExchange &dim = rows.dims.emplace_back();
        dim.dim = reader.next();
        if (std::string why = readTables(dim, maxExtent); !why.empty())
          return why;
      }
    }
    if (!reader.ok())
      return where + "ends outside the table";
    table.sites.push_back(std::move(site));
  }
  return {};
}

} // namespace shardrt

#endif // SHARDRT_SITES_H
