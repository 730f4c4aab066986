//===- CommunicationReport.cpp - What moves, how much, and for whom -------===//

#include "shardc/Analysis/CommunicationReport.h"
#include "shardc/Analysis/ControlFlow.h"
#include "shardc/Analysis/LocalSizes.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Support/ElementBytes.h"
#include "shardc/Support/UserLocation.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

static int64_t saturatingMul(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? INT64_MAX : product;
}
static int64_t saturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? INT64_MAX : sum;
}

static std::optional<int64_t> elementsExchanged(ExchangeOpInterface op,
                                                Value source, MeshAttr mesh) {
  Exchange exchange = op.getExchange();
  SmallVector<int64_t> others(mesh.getNumRanks(), 1);
  llvm::SmallBitVector listed(exchange.globalShape.size());
  for (const DimExchange &dim : exchange.dims)
    listed.set(dim.dim);
  // Dims that do not move have the same local size in all of a group; it may
  // differ from group to group.
  for (auto [dim, size] : llvm::enumerate(exchange.globalShape)) {
    if (listed.test(dim))
      continue;
    size = 1;
    std::optional<SmallVector<int64_t>> sizes =
        getLocalSizes(source, dim, mesh);
    if (!sizes)
      return std::nullopt;
    for (auto [product, local] : llvm::zip(others, *sizes))
      product = saturatingMul(product, local);
  }
  if (!verifyExchange(exchange).empty())
    return std::nullopt;
  int64_t sum = 0;
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank)
    sum = saturatingAdd(
        sum, saturatingMul(others[rank], elementsReceived(exchange, rank)));
  return sum;
}

/// `rounds` times (k - 1) n, over all groups along `axes`.
static std::optional<int64_t> elementsReduced(Value source, MeshAttr mesh,
                                              ArrayRef<StringAttr> axes,
                                              int64_t rounds) {
  std::optional<SmallVector<int64_t>> elements = getLocalElements(source, mesh);
  if (!elements)
    return std::nullopt;
  SmallVector<int64_t> numbers;
  for (StringAttr axis : axes)
    numbers.push_back(mesh.getAxisIndex(axis.getValue()));
  int64_t sum = 0, members = groupAlong(mesh.getAxisSizes(), numbers, 0).size();
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank) {
    // Once a group.
    if (firstAlong(mesh.getAxisSizes(), numbers, rank) == rank)
      sum = saturatingAdd(
          sum, saturatingMul(rounds * (members - 1), (*elements)[rank]));
  }
  return sum;
}

std::optional<int64_t> shardc::getBytesMoved(CommunicationOpInterface op) {
  Value source = op.getSource();
  MeshAttr mesh = lookupMesh(op, op.getMeshName());
  int64_t bytes = elementBytes(getElementTypeOrSelf(source.getType()));
  std::optional<int64_t> elements;
  if (!mesh || bytes == 0)
    return std::nullopt;
  if (auto exchange = dyn_cast<ExchangeOpInterface>(op.getOperation()))
    elements = elementsExchanged(exchange, source, mesh);
  else if (auto reduce = dyn_cast<AllReduceOp>(op.getOperation()))
    elements = elementsReduced(source, mesh, op.getGroupAxes(), 2);
  else if (auto scatter = dyn_cast<ReduceScatterOp>(op.getOperation()))
    elements = elementsReduced(
        source, mesh,
        llvm::to_vector(scatter.getAxes().getAsRange<StringAttr>()), 1);
  return elements ? std::optional(saturatingMul(*elements, bytes))
                  : std::nullopt;
}

std::vector<CommunicationSite> shardc::reportCommunication(Operation *root) {
  std::vector<CommunicationSite> sites;
  root->walk<WalkOrder::PreOrder>([&](CommunicationOpInterface op) {
    CommunicationSite &site = sites.emplace_back();
    site.op = op;
    site.kind = op->getName().stripDialect().str();
    if (auto wait = dyn_cast<ExchangeWaitOp>(op.getOperation()))
      site.kind = wait.getKind().str();
    site.mesh = op.getMeshName().getValue().str();
    for (StringAttr axis : op.getGroupAxes())
      site.axes.push_back(axis.str());
    if (ArrayAttr dims = op.getDims())
      for (auto dim : dims.getAsRange<DimExchangeAttr>())
        if (dim.getOwned() != dim.getNeeded())
          site.dims.push_back(dim.getDim());
    site.bytes = getBytesMoved(op);
    for (Operation *parent = op->getParentOp(); parent;
         parent = parent->getParentOp())
      if (std::optional<ControlFlow> flow = getControlFlow(parent))
        site.loopDepth += flow->isLoop;
    site.location = userLocation(op->getLoc());
    if (StringAttr reason = op.getReasonAttr())
      site.reason = reason.str();
  });
  return sites;
}

llvm::json::Value shardc::toJSON(const CommunicationSite &site) {
  llvm::json::Object object{{"kind", site.kind},
                            {"mesh", site.mesh},
                            {"axes", llvm::json::Array(site.axes)},
                            {"dims", llvm::json::Array(site.dims)},
                            {"loop_depth", site.loopDepth},
                            {"location", site.location},
                            {"reason", site.reason}};
  object["bytes"] =
      site.bytes ? llvm::json::Value(*site.bytes) : llvm::json::Value(nullptr);
  return object;
}
