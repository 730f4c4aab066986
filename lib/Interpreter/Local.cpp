//===- Local.cpp - The local view, on all ranks in lock step --------------===//
//
// Elements that an op leaves undefined are poison (NaN, or a number that nobody
// expects), so that a rank that reads them is found.
//
//===----------------------------------------------------------------------===//
#include "Evaluator.h"
#include "Ranks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

//===----------------------------------------------------------------------===//
// Ops of one rank
//===----------------------------------------------------------------------===//

static FailureOr<Values> lookUp(Evaluator &evaluator, spmd::LookupOp op,
                                ArrayRef<Array>) {
  std::optional<RankMesh> mesh = RankMesh::of(evaluator, op, op.getMeshAttr());
  int64_t place = mesh->place(evaluator.current->device, namesOf(op.getAxes()));
  return Values{
      Array::scalar(indexFormat(), Element::of(op.getTable()[place]))};
}

static FailureOr<Values> dilate(Evaluator &, spmd::DilateOp op,
                                ArrayRef<Array> in) {
  int64_t dim = op.getDim(), factor = op.getFactor(), first = in[1].integer(),
          size = in[2].integer();
  Shape shape(in[0].shape());
  shape[dim] = size;
  Array result(in[0].format(), shape);
  int64_t next = 0;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    Shape from(index);
    int64_t offset = index[dim] - first;
    bool isElement =
        offset >= 0 && offset % factor == 0 && offset / factor < in[0].dim(dim);
    from[dim] = isElement ? offset / factor : 0;
    result.set(next++) = isElement ? in[0].at(from) : in[3][0];
  });
  return Values{result};
}

static FailureOr<Values> padWhole(Evaluator &, spmd::PadOp op,
                                  ArrayRef<Array> in) {
  Shape shape;
  for (int64_t d = 0; d < in[0].rank(); ++d)
    shape.push_back(in[0].dim(d) + op.getLow()[d] + op.getHigh()[d]);
  auto padding = static_cast<Padding>(op.getMode());
  Array result(in[0].format(), shape);
  int64_t next = 0;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    Shape from(index);
    for (int64_t d = 0; d < in[0].rank(); ++d)
      from[d] = sourceOf(index[d] - op.getLow()[d], in[0].dim(d), padding);
    result.set(next++) = in[0].at(from);
  });
  return Values{result};
}

static FailureOr<Values> accumulate(Evaluator &evaluator, spmd::AccumulateOp op,
                                    ArrayRef<Array> in) {
  if (in[0].shape() != in[1].shape())
    return op.emitError() << "has operands of different shapes when it runs";
  Binary add = evaluator.table.binary.lookup("stablehlo.add");
  Array result(in[0].format(), in[0].shape());
  for (int64_t i = 0; i < result.size(); ++i)
    result.set(i) = add(result.format(), in[0][i], in[1][i]);
  return Values{result};
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// The part of a dim of `size` elements that `rank` owns.
static Extent partOf(const RankMesh &mesh, spmd::DimShardingAttr dim,
                     int64_t size, int64_t rank) {
  SmallVector<StringRef> axes;
  for (StringAttr axis : dim.getAxes())
    axes.push_back(axis.getValue());
  int64_t place = mesh.place(rank, axes), count = mesh.groupSize(axes),
          begin = 0;
  if (axes.empty())
    return {0, size};
  auto sizeOf = [&](int64_t i) {
    if (DenseI64ArrayAttr sizes = dim.getSizes())
      return sizes.asArrayRef()[i];
    // Balanced: the first ones have one more.
    return size / count + (i < size % count ? 1 : 0);
  };
  for (int64_t i = 0; i < place; ++i)
    begin += sizeOf(i);
  return {begin, begin + sizeOf(place)};
}

namespace {
/// The box of a whole value.
struct Placement {
  const RankMesh &mesh;
  spmd::ShardingAttr sharding;
  RankedTensorType type;

  void boxOf(int64_t rank, Shape &starts, Shape &box) const {
    starts.clear();
    box.clear();
    for (auto [dim, size] :
         llvm::zip_equal(sharding.getDims(), type.getShape())) {
      Extent part = partOf(mesh, dim, size, rank);
      starts.push_back(part.begin);
      box.push_back(part.size());
    }
  }
};
} // namespace

FailureOr<Outcome>
shardc::interpreter::interpretLocal(ModuleOp module, ArrayRef<Array> arguments,
                                    const Options &options) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  auto meshes = module.getOps<spmd::MeshOp>();
  if (!main || meshes.empty() || !spmd::contract::LocalView::has(main))
    return module.emitError() << "is no local view: it has no function @main "
                                 "with 'spmd.local_view', or no mesh";
  RankMesh mesh((*meshes.begin()).getMesh());
  auto placementOf = [&](DictionaryAttr attrs) -> std::optional<Placement> {
    TypeAttr type = spmd::contract::GlobalType::in(attrs);
    spmd::ShardingAttr sharding = spmd::contract::Sharding::in(attrs);
    if (!type || !sharding || !isa<RankedTensorType>(type.getValue()))
      return std::nullopt;
    return Placement{mesh, sharding, cast<RankedTensorType>(type.getValue())};
  };
  if (main.getNumArguments() != arguments.size())
    return main.emitError()
           << "has " << main.getNumArguments() << " arguments, but "
           << arguments.size() << " arrays are given";
  Evaluator evaluator(module, options);
  std::vector<std::unique_ptr<Lane>> made;
  SmallVector<Lane *> lanes;
  std::vector<Values> values, yielded;
  Shape starts, box;
  for (int64_t rank = 0, e = countElements(mesh.sizes); rank < e; ++rank) {
    made.push_back(std::make_unique<Lane>());
    lanes.push_back(made.back().get());
    lanes.back()->device = rank;
    Values &mine = values.emplace_back();
    for (auto [i, whole] : llvm::enumerate(arguments)) {
      std::optional<Placement> placement = placementOf(main.getArgAttrDict(i));
      if (!placement || placement->type.getShape() != whole.shape())
        return main.emitError() << "does not say how argument " << i
                                << " is cut, or it has another shape";
      placement->boxOf(rank, starts, box);
      Array part = whole.slice(starts, box);
      // What is to be combined the first along the axes has, the others what
      // changes nothing.
      for (spmd::PartialAxisAttr partial : placement->sharding.getPartial())
        if (mesh.coordinate(rank, mesh.indexOf(partial.getAxis().getValue())) !=
            0) {
          if (partial.getKind() == spmd::ReductionKind::Sum)
            part = Array(part.format(), part.shape());
          else if (partial.getKind() != spmd::ReductionKind::Max &&
                   partial.getKind() != spmd::ReductionKind::Min)
            return Evaluator::unknown(
                main, "an argument that is partial by such a kind");
        }
      mine.push_back(part);
    }
  }
  evaluator.entered.insert(main);
  if (failed(evaluator.run(main.getBody(), lanes, values, yielded)))
    return failure();
  for (unsigned r = 0; r < main.getNumResults(); ++r) {
    std::optional<Placement> placement = placementOf(main.getResultAttrDict(r));
    if (!placement)
      return main.emitError() << "does not say how result " << r << " is cut";
    std::optional<Format> format = Format::of(placement->type.getElementType());
    Array whole(*format, placement->type.getShape());
    std::vector<char> isThere(whole.size(), 0);
    for (size_t rank = 0; rank < lanes.size(); ++rank) {
      const Array &part = yielded[rank][r];
      placement->boxOf(rank, starts, box);
      if (part.shape() != ArrayRef<int64_t>(box))
        return main.emitError()
               << "has another shape of result " << r << " on rank " << rank
               << " than its sharding says";
      int64_t next = 0;
      bool disagrees = false;
      forEachIndex(box, [&](ArrayRef<int64_t> index) {
        Shape at(index);
        for (size_t d = 0; d < at.size(); ++d)
          at[d] += starts[d];
        int64_t place = whole.flat(at);
        const Element &element = part[next++];
        if (isThere[place]) {
          const Element &other = whole[place];
          bool isSame = format->isInteger() ? other.integer == element.integer
                                            : (other.real == element.real &&
                                               other.imag == element.imag) ||
                                                  (std::isnan(other.real) &&
                                                   std::isnan(element.real));
          disagrees |= !isSame;
          return;
        }
        isThere[place] = 1;
        whole.set(place) = element;
      });
      if (disagrees)
        return main.emitError()
               << "gives rank " << rank << " other elements of result " << r
               << " than a rank with the same box";
    }
    evaluator.outcome.results.push_back(whole);
    evaluator.outcome.resultTypes.push_back(placement->type);
  }
  return std::move(evaluator.outcome);
}

void shardc::interpreter::addLocal(Table &table) {
  table.add<spmd::LookupOp>(lookUp);
  table.add<spmd::DilateOp>(dilate);
  table.add<spmd::PadOp>(padWhole);
  table.add<spmd::AccumulateOp>(accumulate);
}
