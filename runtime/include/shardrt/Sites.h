//===- Sites.h - Communication sites ----------------------------*- C++ -*-===//
//
// A site is one communication op of a program: what is moved or combined, along
// which mesh axes, out of which boxes into which. The compiler writes all sites
// of a program into one table, the runtime reads it at load (SiteWords.h).
// Generated code names a site by its index in the table.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_SITES_H
#define SHARDRT_SITES_H

#include "shardc/Layout/Exchange.h"
#include "shardrt/ElementType.h"
#include <cstdint>
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

} // namespace shardrt

#endif // SHARDRT_SITES_H
