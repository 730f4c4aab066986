//===- Manual.cpp - Regions that communicate by themselves ----------------===//
//
// A region runs once for each coordinate of its manual axes, all in lock step:
// `sdy.manual_computation`, and `spmd.manual`, which says the same of our own
// meshes. Operands are cut as their shardings say. A whole value that is to be
// unreduced along an axis stays with the first coordinate and is zero at the
// others, so that the sum along the axis is the value; a result that leaves
// unreduced is that sum.
//
//===----------------------------------------------------------------------===//
#include "Evaluator.h"
#include "Ranks.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include <algorithm>
#include <set>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

namespace {

/// A manual axis or a part of one: of a coordinate c, c / below % size.
struct Along {
  int64_t axis, size, below;
};

/// Which part of a value belongs to a device, along the manual axes.
struct Cut {
  const Mesh *mesh;
  SmallVector<SmallVector<Along>> dims;
  SmallVector<Along> unreduced;
  StringRef combiner = "stablehlo.add"; ///< of what is unreduced

  int64_t coordinate(int64_t device, const Along &along) const {
    return mesh->coordinate(device, along.axis) / along.below % along.size;
  }
  /// Block number and number of blocks of dim `dim`.
  std::pair<int64_t, int64_t> block(int64_t dim, int64_t device) const {
    int64_t number = 0, count = 1;
    for (const Along &along : dims[dim]) {
      number = number * along.size + coordinate(device, along);
      count *= along.size;
    }
    return {number, count};
  }
  /// The device's coordinates along the unreduced axes.
  Shape share(int64_t device) const {
    Shape coordinates;
    for (const Along &along : unreduced)
      coordinates.push_back(coordinate(device, along));
    return coordinates;
  }
};

struct ManualRegion {
  Operation *op;
  Mesh mesh;
  SmallVector<StringRef> axes;
  SmallVector<Cut> ins, outs;

  bool isManual(StringRef axis) const { return llvm::is_contained(axes, axis); }
};

} // namespace

//===----------------------------------------------------------------------===//
// As the dialects write them
//===----------------------------------------------------------------------===//

static Cut cutOf(const ManualRegion &region, sdy::TensorShardingAttr sharding) {
  Cut cut{&region.mesh, {}, {}};
  auto addTo = [&](SmallVector<Along> &list, sdy::AxisRefAttr ref) {
    if (!region.isManual(ref.getName()))
      return;
    int64_t axis = region.mesh.indexOf(ref.getName()),
            size = region.mesh.sizes[axis];
    // A part is the middle of pre x size x rest.
    sdy::SubAxisInfoAttr part = ref.getSubAxisInfo();
    list.push_back(part ? Along{axis, part.getSize(),
                                size / (part.getPreSize() * part.getSize())}
                        : Along{axis, size, 1});
  };
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
    for (SmallVector<Along> &list = cut.dims.emplace_back();
         sdy::AxisRefAttr ref : dim.getAxes())
      addTo(list, ref);
  for (sdy::AxisRefAttr ref : sharding.getUnreducedAxes())
    addTo(cut.unreduced, ref);
  if (sharding.getUnreducedKind() != sdy::ReductionKind::Sum)
    cut.combiner = sharding.getUnreducedKind() == sdy::ReductionKind::Max
                       ? "stablehlo.maximum"
                       : "stablehlo.minimum";
  return cut;
}

static Cut cutOf(const ManualRegion &region, spmd::ShardingAttr sharding) {
  Cut cut{&region.mesh, {}, {}};
  for (spmd::DimShardingAttr dim : sharding.getDims())
    for (SmallVector<Along> &list = cut.dims.emplace_back();
         StringAttr name : dim.getAxes())
      if (region.isManual(name)) {
        int64_t axis = region.mesh.indexOf(name);
        list.push_back({axis, region.mesh.sizes[axis], 1});
      }
  for (spmd::PartialAxisAttr partial : sharding.getPartial())
    if (region.isManual(partial.getAxis())) {
      int64_t axis = region.mesh.indexOf(partial.getAxis());
      cut.unreduced.push_back({axis, region.mesh.sizes[axis], 1});
      cut.combiner = combinerOf(partial.getKind());
    }
  return cut;
}

/// Manual axes of the regions around `op`.
static SmallVector<StringRef> axesAround(Operation *op) {
  SmallVector<StringRef> axes;
  while ((op = op->getParentOp())) {
    if (auto manual = dyn_cast<sdy::ManualComputationOp>(op))
      for (StringAttr axis : manual.getManualAxes().getAxes())
        axes.push_back(axis.getValue());
    if (auto manual = dyn_cast<spmd::ManualOp>(op))
      for (auto axis : manual.getManualAxes().getAsRange<StringAttr>())
        axes.push_back(axis.getValue());
  }
  return axes;
}

//===----------------------------------------------------------------------===//
// How they run
//===----------------------------------------------------------------------===//

/// `a` and `b` as one value along an unreduced axis.
static Array combine(const Array &a, const Array &b, Binary function) {
  Array result(a.format(), a.shape());
  for (int64_t i = 0; i < result.size(); ++i)
    result.set(i) = function(a.format(), a[i], b[i]);
  return result;
}

static LogicalResult runRegion(Evaluator &evaluator, const ManualRegion &manual,
                               Lanes outer) {
  Operation *op = manual.op;
  const Mesh &mesh = manual.mesh;
  Region &body = op->getRegion(0);
  // Devices that a lane becomes: all coordinates of the axes that are new.
  SmallVector<StringRef> outside = axesAround(op);
  Shape offsets = {0};
  for (auto [index, name] : llvm::enumerate(mesh.names)) {
    if (llvm::is_contained(outside, name) || !manual.isManual(name))
      continue;
    Shape more;
    for (int64_t offset : offsets)
      for (int64_t c = 0; c < mesh.sizes[index]; ++c)
        more.push_back(offset + c * mesh.stepOf(index));
    offsets = more;
  }
  llvm::sort(offsets);

  std::vector<std::unique_ptr<Lane>> made;
  SmallVector<Lane *> lanes;
  std::vector<Values> arguments, yielded;
  for (Lane *from : outer)
    for (int64_t offset : offsets) {
      made.push_back(std::make_unique<Lane>(*from));
      Lane &lane = *lanes.emplace_back(made.back().get());
      lane.device = from->device + offset;
      Values &values = arguments.emplace_back();
      for (auto [operand, cut] :
           llvm::zip_equal(op->getOperands(), manual.ins)) {
        const Array &whole = from->values.lookup(operand);
        Shape starts, box;
        for (int64_t d = 0; d < whole.rank(); ++d) {
          auto [number, count] = cut.block(d, lane.device);
          if (whole.dim(d) % count != 0)
            return op->emitError() << "cuts " << whole.dim(d)
                                   << " elements into " << count << " blocks";
          box.push_back(whole.dim(d) / count);
          starts.push_back(number * box.back());
        }
        if (!cut.unreduced.empty() && cut.combiner != "stablehlo.add")
          return Evaluator::unknown(
              op, "an operand that is unreduced by max or min");
        bool holdsValue = llvm::all_of(cut.share(lane.device),
                                       [](int64_t c) { return c == 0; });
        values.push_back(holdsValue ? whole.slice(starts, box)
                                    : Array(whole.format(), box));
      }
    }
  if (failed(evaluator.run(body, lanes, arguments, yielded)))
    return failure();

  for (auto [number, from] : llvm::enumerate(outer)) {
    Values results;
    for (size_t r = 0; r < op->getNumResults(); ++r) {
      const Cut &cut = manual.outs[r];
      Binary function = evaluator.table.binary.lookup(cut.combiner);
      size_t first = number * offsets.size();
      const Array &sample = yielded[first][r];
      Shape shape;
      for (int64_t d = 0; d < sample.rank(); ++d)
        shape.push_back(sample.dim(d) *
                        cut.block(d, lanes[first]->device).second);
      Array whole(sample.format(), shape);
      llvm::DenseMap<int64_t, Array>
          blocks; // by the place of their first element
      std::set<std::pair<int64_t, std::vector<int64_t>>> taken;
      for (size_t i = first; i < first + offsets.size(); ++i) {
        const Array &mine = yielded[i][r];
        Shape starts, share = cut.share(lanes[i]->device);
        for (int64_t d = 0; d < mine.rank(); ++d)
          starts.push_back(cut.block(d, lanes[i]->device).first * mine.dim(d));
        int64_t place = whole.size() == 0 ? 0 : whole.flat(starts);
        // Devices that differ along other axes hold copies: the first one's are
        // taken.
        if (!taken
                 .insert(
                     {place, std::vector<int64_t>(share.begin(), share.end())})
                 .second)
          continue;
        auto [it, isNew] = blocks.try_emplace(place, mine);
        if (!isNew)
          it->second = combine(it->second, mine, function);
        whole.write(it->second, starts);
      }
      results.push_back(whole);
    }
    Evaluator::bind(op->getResults(), *from, results);
  }
  return success();
}

/// The mesh of the module, where there is one: that of a region without
/// operands and results, which names none.
template <typename MeshOp> static MeshOp onlyMesh(Operation *op) {
  auto meshes = op->getParentOfType<ModuleOp>().getOps<MeshOp>();
  return llvm::hasSingleElement(meshes) ? *meshes.begin() : MeshOp();
}

static LogicalResult runManualComputation(Evaluator &evaluator,
                                          sdy::ManualComputationOp op,
                                          Lanes lanes) {
  ArrayRef<sdy::TensorShardingAttr> ins = op.getInShardings().getShardings(),
                                    outs = op.getOutShardings().getShardings();
  sdy::MeshAttr attr;
  if (!ins.empty() || !outs.empty())
    attr = (ins.empty() ? outs : ins).front().getMesh(op);
  else if (sdy::MeshOp mesh = onlyMesh<sdy::MeshOp>(op))
    attr = mesh.getMesh();
  if (!attr)
    return Evaluator::unknown(op, "a manual region on an unknown mesh");
  for (auto [i, id] : llvm::enumerate(attr.getDeviceIds()))
    if (id != static_cast<int64_t>(i))
      return Evaluator::unknown(op,
                                "a manual region on devices in another order");
  ManualRegion region{op, AxisMesh(attr), {}, {}, {}};
  for (StringAttr axis : op.getManualAxes().getAxes())
    region.axes.push_back(axis.getValue());
  for (sdy::TensorShardingAttr sharding : ins)
    region.ins.push_back(cutOf(region, sharding));
  for (sdy::TensorShardingAttr sharding : outs)
    region.outs.push_back(cutOf(region, sharding));
  return runRegion(evaluator, region, lanes);
}

static LogicalResult runManual(Evaluator &evaluator, spmd::ManualOp op,
                               Lanes lanes) {
  auto ins =
      llvm::to_vector(op.getInShardings().getAsRange<spmd::ShardingAttr>());
  auto outs =
      llvm::to_vector(op.getOutShardings().getAsRange<spmd::ShardingAttr>());
  spmd::MeshOp mesh =
      ins.empty() && outs.empty()
          ? onlyMesh<spmd::MeshOp>(op)
          : evaluator.lookup<spmd::MeshOp>(
                op, (ins.empty() ? outs : ins).front().getMesh());
  if (!mesh)
    return Evaluator::unknown(op, "a manual region on an unknown mesh");
  ManualRegion region{op, RankMesh(mesh.getMesh()), {}, {}, {}};
  for (auto axis : op.getManualAxes().getAsRange<StringAttr>())
    region.axes.push_back(axis.getValue());
  for (spmd::ShardingAttr sharding : ins)
    region.ins.push_back(cutOf(region, sharding));
  for (spmd::ShardingAttr sharding : outs)
    region.outs.push_back(cutOf(region, sharding));
  return runRegion(evaluator, region, lanes);
}

void shardc::interpreter::addManual(Table &table) {
  table.addLockstep<sdy::ManualComputationOp>(runManualComputation);
  table.addLockstep<spmd::ManualOp>(runManual);
}
