//===- SiteFormat.h - What stands where in a table of sites -----*- C++ -*-===//
//
// visitTable and visitSite say what stands where: once, for who writes a table,
// who reads it, and docs/Reference/artifact.md. A string is the byte at which
// it starts in the blob, or -1 for none.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_SITEFORMAT_H
#define SHARDRT_SITEFORMAT_H

#include "shardrt/Sites.h"
#include <span>

namespace shardrt::detail {

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

} // namespace shardrt::detail

#endif // SHARDRT_SITEFORMAT_H
