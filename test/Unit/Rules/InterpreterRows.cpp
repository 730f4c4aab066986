//===- InterpreterRows.cpp - Rows asked for by index ----------------------===//
//
// Element by element from the definitions of the ops: a gather looks for any
// rank that owns an element, a scatter applies all ranks' updates in order.
//
//===----------------------------------------------------------------------===//
#include "InterpreterOps.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include <map>

using namespace mlir;
using namespace shardc;
using namespace shardc::test;

/// What `rank` owns, or needs, by the table of dim `dim`; all of `size` if it
/// is not listed.
static Interval intervalOf(ArrayAttr tables, int64_t dim, int64_t size,
                           int64_t rank, const TestMesh &mesh, bool needed) {
  for (auto attr : tables.getAsRange<spmd::DimExchangeAttr>()) {
    if (attr.getDim() != dim)
      continue;
    int64_t place = 0;
    for (StringAttr axis : attr.getAxes()) {
      size_t number =
          llvm::find(mesh.names, axis.getValue()) - mesh.names.begin();
      place =
          place * mesh.sizes[number] + mesh.coordinate(rank, axis.getValue());
    }
    ArrayRef<int64_t> ends = needed ? attr.getNeeded() : attr.getOwned();
    return {ends[2 * place], ends[2 * place + 1]};
  }
  return {0, size};
}

namespace {
/// What one element of a rank's positions stands for.
struct Position {
  Index local;     ///< in the tensor of positions
  Index addressed; ///< global index of what it names
  int64_t number;  ///< of the row among those of all ranks
  bool isInside = true;
};
} // namespace

/// Calls `visit` for each element of the positions of `rank`, in order. Returns
/// the shape of these.
static Index forEachPosition(spmd::RowPlanOp plan, ArrayAttr dims,
                             int64_t first, ArrayRef<int64_t> blockShape,
                             int64_t rank, std::vector<Environment> &ranks,
                             const TestMesh &mesh, bool clamps,
                             llvm::function_ref<void(const Position &)> visit) {
  const Tensor &indices = ranks[rank].at(plan.getIndices());
  int64_t vectorDim = plan.getVectorDim(), numRows = plan.getRows().size();
  Index batch;
  for (int64_t d = 0; d < static_cast<int64_t>(indices.shape.size()); ++d)
    if (d != vectorDim)
      batch.push_back(d);
  Index shape(blockShape.take_front(first));
  for (int64_t d : batch)
    shape.push_back(indices.shape[d]);
  SmallVector<Interval> parts;
  Index sizes;
  for (int64_t i = 0; i < numRows; ++i) {
    parts.push_back(intervalOf(plan.getRows(), i, 0, rank, mesh, true));
    auto attr = cast<spmd::DimExchangeAttr>(plan.getRows()[i]);
    int64_t size = 0;
    for (size_t k = 1; k < attr.getOwned().size(); k += 2)
      size = std::max(size, attr.getOwned()[k]);
    sizes.push_back(size);
    if (plan.getSlices()[i] != 1)
      shape.push_back(parts.back().size());
  }
  llvm::append_range(shape, blockShape.drop_front(first + numRows));
  forEachIndex(shape, [&](ArrayRef<int64_t> at) {
    Position position;
    position.local.assign(at.begin(), at.end());
    for (int64_t d = 0; d < first; ++d)
      position.addressed.push_back(
          at[d] + intervalOf(dims, d, blockShape[d], rank, mesh, false).begin);
    position.number = 0;
    Index where(indices.shape.size(), 0);
    for (auto [i, d] : llvm::enumerate(batch)) {
      where[d] = at[first + i];
      Interval mine =
          intervalOf(plan.getDims(), d, indices.shape[d], rank, mesh, false);
      int64_t size = indices.shape[d];
      for (auto attr : plan.getDims().getAsRange<spmd::DimExchangeAttr>())
        if (attr.getDim() == d)
          for (size_t k = 1; k < attr.getOwned().size(); k += 2)
            size = std::max(size, attr.getOwned()[k]);
      position.number = position.number * size + mine.begin + where[d];
    }
    size_t next = first + batch.size();
    for (int64_t i = 0; i < numRows; ++i) {
      int64_t component = plan.getComponents()[i], start;
      int64_t slice = plan.getSlices()[i];
      if (component < 0) {
        int64_t d = -1 - component;
        start = where[d] + intervalOf(plan.getDims(), d, indices.shape[d], rank,
                                      mesh, false)
                               .begin;
      } else {
        if (vectorDim < static_cast<int64_t>(where.size()))
          where[vectorDim] = component;
        start = indices.at(where);
      }
      if (clamps)
        start = std::clamp<int64_t>(start, 0, sizes[i] - slice);
      int64_t offset = parts[i].begin;
      if (slice != 1)
        offset += at[next++];
      position.number = position.number * slice + offset;
      position.isInside &= start + offset >= 0 && start + offset < sizes[i];
      position.addressed.push_back(start + offset);
    }
    for (size_t d = first + numRows; d < blockShape.size(); ++d)
      position.addressed.push_back(
          at[next++] +
          intervalOf(dims, d, blockShape[d], rank, mesh, false).begin);
    visit(position);
  });
  return shape;
}

/// Where global `index` is in the block that `rank` owns; nullopt if it is not.
static std::optional<Index> placeIn(ArrayRef<int64_t> index, ArrayAttr dims,
                                    ArrayRef<int64_t> shape, int64_t rank,
                                    const TestMesh &mesh) {
  Index place;
  for (size_t d = 0; d < index.size(); ++d) {
    Interval owned = intervalOf(dims, d, shape[d], rank, mesh, false);
    if (index[d] < owned.begin || index[d] >= owned.end)
      return std::nullopt;
    place.push_back(index[d] - owned.begin);
  }
  return place;
}

static std::string gatherRows(spmd::GatherRowsOp op,
                              std::vector<Environment> &ranks,
                              const TestMesh &mesh) {
  std::string problem;
  std::vector<Tensor> results;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    Index block = ranks[rank].at(op.getOperand()).shape;
    std::vector<std::pair<Index, int64_t>> elements;
    Tensor result(forEachPosition(
        op.getRowPlan(), op.getDims(), op.getFirst(), block, rank, ranks, mesh,
        /*clamps=*/true, [&](const Position &position) {
          for (size_t peer = 0; peer < ranks.size(); ++peer) {
            const Tensor &theirs = ranks[peer].at(op.getOperand());
            auto place = placeIn(position.addressed, op.getDims(), theirs.shape,
                                 peer, mesh);
            if (!place)
              continue;
            elements.push_back({position.local, theirs.at(*place)});
            return;
          }
          problem = "a row that nobody owns is asked for";
        }));
    for (const auto &[at, value] : elements)
      result.at(at) = value;
    results.push_back(result);
  }
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    ranks[rank][op.getResult()] = results[rank];
  return problem;
}

static std::string scatterRows(spmd::ScatterRowsOp op,
                               std::vector<Environment> &ranks,
                               const TestMesh &mesh) {
  // By number of the row and global index; copies are the same.
  std::map<std::pair<int64_t, std::vector<int64_t>>, int64_t> updates;
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    forEachPosition(
        op.getRowPlan(), op.getDims(), op.getFirst(),
        ranks[rank].at(op.getInto()).shape, rank, ranks, mesh,
        /*clamps=*/false, [&](const Position &position) {
          if (position.isInside)
            updates[{position.number,
                     {position.addressed.begin(), position.addressed.end()}}] =
                ranks[rank].at(op.getUpdates()).at(position.local);
        });
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    Tensor result = ranks[rank].at(op.getInto());
    for (const auto &[key, value] : updates)
      if (auto place =
              placeIn(key.second, op.getDims(), result.shape, rank, mesh)) {
        int64_t &element = result.at(*place);
        element =
            op.getKind() ? combineKind(*op.getKind(), element, value) : value;
      }
    ranks[rank][op.getResult()] = result;
  }
  return "";
}

std::optional<std::string>
shardc::test::runRows(Operation *op, std::vector<Environment> &ranks,
                      const TestMesh &mesh) {
  if (isa<spmd::RowPlanOp>(op)) {
    for (Environment &environment : ranks)
      environment[op->getResult(0)] = Tensor::scalar(0);
    return "";
  }
  if (auto gather = dyn_cast<spmd::GatherRowsOp>(op))
    return gatherRows(gather, ranks, mesh);
  if (auto scatter = dyn_cast<spmd::ScatterRowsOp>(op))
    return scatterRows(scatter, ranks, mesh);
  return std::nullopt;
}
