//===- SetLayout.cpp - Other sizes than the file says ---------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Import/Passes.h"
#include "shardc/Layout/Shares.h"
#include "shardc/Support/Misuse.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"
#include <set>

using namespace mlir;
using namespace shardc;

namespace shardc {
#define GEN_PASS_DEF_SETLAYOUTPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

namespace {

/// The sizes of one dim of one argument, as the option says them.
struct SizesRequest {
  StringRef text;
  unsigned argument = 0;
  unsigned dim = 0;
  SmallVector<int64_t> sizes;
  bool zigzag = false;
};

class LayoutSetter {
public:
  LayoutSetter(ModuleOp module, StringRef meshText, StringRef sizesText,
               StringRef dynamicText)
      : module(module), main(module.lookupSymbol<func::FuncOp>("main")),
        meshText(meshText), sizesText(sizesText),
        // Sizes go with the number of shards.
        dynamicText(meshText.contains('?') ? "all" : dynamicText) {}
  LogicalResult run();
  LogicalResult dropAll();
  LogicalResult shrinkAll();

private:
  LogicalResult setMesh();
  LogicalResult checkSymbolic(spmd::ShardingAttr sharding, Operation *op,
                              const Twine &what);
  LogicalResult checkNoManual(StringRef what);
  FailureOr<unsigned> findArgument(StringRef text, StringRef option);
  LogicalResult setDynamic();
  LogicalResult leaveOpen();
  void alignArguments();
  FailureOr<SizesRequest> parseRequest(StringRef text);
  LogicalResult setSizes();
  LogicalResult parseShares(StringRef name, StringRef list);
  void setShares();
  spmd::ShardingAttr inShares(spmd::ShardingAttr sharding, Type type);
  LogicalResult checkShardings();

  ModuleOp module;
  func::FuncOp main;
  StringRef meshText, sizesText, dynamicText;
  spmd::MeshOp mesh;
  DenseMap<StringAttr, SmallVector<int64_t>> shares; ///< by axis
  /// Arguments and dims whose sizes the option says.
  std::set<std::pair<unsigned, unsigned>> sized;
};

} // namespace

static std::string listAxes(spmd::MeshAttr mesh) {
  if (mesh.getAxisNames().empty())
    return "no axes";
  std::string text;
  for (auto [name, size] : llvm::zip(mesh.getAxisNames(), mesh.getAxisSizes()))
    text += (text.empty() ? "\"" : ", \"") + name.str() +
            "\"=" + std::to_string(size);
  return text;
}

/// Gives axes other sizes, or leaves them to who binds the program: `x=?`, or
/// `x=4?`, where costs are estimated with another number of ranks than two.
LogicalResult LayoutSetter::setMesh() {
  spmd::MeshAttr attr = mesh.getMesh();
  SmallVector<int64_t> sizes(attr.getAxisSizes()), symbolic;
  SmallVector<bool> given(sizes.size(), false);
  SmallVector<StringRef> entries;
  meshText.split(entries, ',', -1, /*KeepEmpty=*/false);
  for (StringRef entry : entries) {
    auto [name, value] = entry.split('=');
    name = name.trim();
    value = value.trim();
    bool isSymbolic = value.consume_back("?");
    int64_t size = 2;
    if (!(isSymbolic && value.empty()) &&
        (value.getAsInteger(10, size) || size < 1))
      return misuse(mesh.emitError("mesh option has '"))
             << entry
             << "', expected an axis and a size of at least 1, such as x=3";
    int64_t axis = attr.getAxisIndex(name);
    if (axis < 0)
      return misuse(mesh.emitError(isSymbolic
                                       ? "symbolic-mesh option names axis \""
                                       : "mesh option names axis \""))
             << name << "\", but mesh @" << mesh.getSymName() << " has "
             << listAxes(attr);
    if (given[axis])
      return misuse(mesh.emitError("mesh option gives axis \""))
             << name << "\" twice";
    given[axis] = true;
    sizes[axis] = size;
    if (isSymbolic)
      symbolic.push_back(axis);
  }
  llvm::sort(symbolic);
  auto changed = spmd::MeshAttr::getChecked(
      [&] { return misuse(mesh.emitError("mesh option: ")); },
      attr.getContext(), attr.getAxisNames(), ArrayRef<int64_t>(sizes),
      ArrayRef<int64_t>(symbolic), attr.getExtents());
  if (!changed)
    return failure();
  if (changed != attr &&
      failed(checkNoManual(symbolic.empty()
                               ? "mesh option changes the sizes of axes"
                               : "symbolic-mesh option leaves sizes of axes "
                                 "open")))
    return failure();
  mesh.setMeshAttr(changed);
  return success();
}

/// Refuses what `sharding` says of a number of shards that is not known.
LogicalResult LayoutSetter::checkSymbolic(spmd::ShardingAttr sharding,
                                          Operation *op, const Twine &what) {
  for (auto [i, dim] : llvm::enumerate(sharding.getDims()))
    if (dim.countShards(mesh.getMesh()).isOpen() &&
        (dim.getSizes() || dim.getZigzag()))
      return emitUnsupported(op)
             << what << " has " << (dim.getZigzag() ? "zigzag order" : "sizes")
             << " in dim " << i
             << ", along an axis that is symbolic; leave the axis out of "
                "--symbolic-mesh, or them out of the program";
  return success();
}

/// A manual region is written for the ranks of the mesh in the file.
LogicalResult LayoutSetter::checkNoManual(StringRef what) {
  WalkResult result = main.walk([&](spmd::ManualOp op) {
    emitUnsupported(op) << what << ", but a manual region at "
                        << userLocation(op.getLoc()) << " is written for ranks "
                        << listAxes(mesh.getMesh())
                        << "; export the program for the other mesh";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

FailureOr<unsigned> LayoutSetter::findArgument(StringRef text,
                                               StringRef option) {
  unsigned count = main.getNumArguments(), number = 0;
  if (text.getAsInteger(10, number)) {
    for (number = 0; number < count; ++number)
      if (StringAttr name = spmd::contract::Name::ofArgument(main, number);
          name && name.getValue() == text)
        return number;
    return misuse(main.emitError())
           << option << " option names argument '" << text
           << "', but no argument of @main has that name";
  }
  if (number >= count)
    return misuse(main.emitError()) << option << " option names argument "
                                    << number << ", but @main has " << count;
  return number;
}

LogicalResult LayoutSetter::setDynamic() {
  if (failed(leaveOpen()))
    return failure();
  alignArguments();
  return success();
}

/// Arguments that ops combine mostly have the same shards: points, their
/// features, their labels; a state's fields. All of them are asked for the
/// sharding of the first (propagation finds out which are combined): then
/// nothing that is computed from several moves, whatever is bound; an
/// argument moves where its own shards differ.
void LayoutSetter::alignArguments() {
  Builder builder(module.getContext());
  DenseMap<Attribute, unsigned> arguments; // by axes
  SmallVector<SmallVector<Attribute>> cuts(main.getNumArguments());
  for (BlockArgument argument : main.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto sharding = main.getArgAttrOfType<spmd::ShardingAttr>(
        number, spmd::kShardingAttrName);
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    // A manual region says itself in which blocks it takes them.
    if (!sharding || !type ||
        llvm::all_of(argument.getUsers(), llvm::IsaPred<spmd::ManualOp>))
      continue;
    for (spmd::DimShardingAttr dim : sharding.getDims())
      if (dim.getDynamicSizes()) {
        SmallVector<Attribute> axes(dim.getAxes().begin(), dim.getAxes().end());
        cuts[number].push_back(builder.getArrayAttr(axes));
        ++arguments[cuts[number].back()];
      }
  }
  auto at = OpBuilder::atBlockBegin(&main.getBody().front());
  for (BlockArgument argument : main.getArguments()) {
    if (llvm::none_of(cuts[argument.getArgNumber()],
                      [&](Attribute axes) { return arguments[axes] > 1; }))
      continue;
    auto asked = spmd::ConstrainOp::create(
        at, argument.getLoc(), argument,
        main.getArgAttrOfType<spmd::ShardingAttr>(argument.getArgNumber(),
                                                  spmd::kShardingAttrName));
    argument.replaceAllUsesExcept(asked, asked);
  }
}

/// Leaves sizes of arguments to who binds the program.
LogicalResult LayoutSetter::leaveOpen() {
  MLIRContext *context = module.getContext();
  auto open = [&](unsigned argument, std::optional<int64_t> wanted) {
    auto sharding = main.getArgAttrOfType<spmd::ShardingAttr>(
        argument, spmd::kShardingAttrName);
    if (!sharding)
      return false;
    SmallVector<spmd::DimShardingAttr> dims(sharding.getDims());
    bool found = false;
    for (auto [i, dim] : llvm::enumerate(dims)) {
      if ((wanted && *wanted != int64_t(i)) ||
          dim.getNumShards(mesh.getMesh()) < 2)
        continue;
      found = true;
      // Who gives the sizes gives them along these axes and no others.
      dim = spmd::DimShardingAttr::get(context, dim.getAxes(), /*sizes=*/{},
                                       /*dynamicSizes=*/true, /*open=*/false,
                                       dim.getPriority(), dim.getZigzag());
    }
    main.setArgAttr(argument, spmd::kShardingAttrName,
                    spmd::ShardingAttr::get(context, sharding.getMesh(), dims,
                                            sharding.getReplicated(),
                                            sharding.getPartial()));
    return found;
  };
  if (dynamicText == "all") {
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      open(i, std::nullopt);
    return success();
  }
  SmallVector<StringRef> entries;
  dynamicText.split(entries, ',', -1, /*KeepEmpty=*/false);
  for (StringRef entry : entries) {
    auto [argument, dimText] = entry.trim().rsplit(':');
    int64_t dim = 0;
    if (dimText.trim().getAsInteger(10, dim) || dim < 0)
      return misuse(main.emitError("dynamic option has '"))
             << entry
             << "', expected ARGUMENT:DIM, such as 0:2, or all for whatever is "
                "cut";
    FailureOr<unsigned> number = findArgument(argument.trim(), "dynamic");
    if (failed(number))
      return failure();
    if (!open(*number, dim))
      return misuse(main.emitError("dynamic option names dim "))
             << dim << " of argument " << *number
             << ", which is not cut there; shard it in the model, or leave it "
                "out";
  }
  return success();
}

FailureOr<SizesRequest> LayoutSetter::parseRequest(StringRef text) {
  SizesRequest request;
  request.text = text;
  auto wrong = [&]() {
    return misuse(main.emitError("sizes option has '"))
           << text
           << "', expected ARGUMENT:DIM=SIZE,SIZE,.. such as 0:2=300,200, or "
              "0:2=zigzag, or both: 0:2=300,200,zigzag";
  };
  auto [place, list] = text.split('=');
  auto [argument, dim] = place.rsplit(':');
  argument = argument.trim();
  if (list.empty() || dim.trim().getAsInteger(10, request.dim))
    return wrong();
  SmallVector<StringRef> entries;
  list.split(entries, ',');
  if (entries.back().trim() == "zigzag") {
    request.zigzag = true;
    entries.pop_back();
  }
  for (StringRef entry : entries) {
    int64_t size;
    if (entry.trim().getAsInteger(10, size))
      return wrong();
    request.sizes.push_back(size);
  }
  FailureOr<unsigned> number = findArgument(argument, "sizes");
  if (failed(number))
    return failure();
  request.argument = *number;
  auto type =
      cast<RankedTensorType>(main.getArgument(request.argument).getType());
  if (request.dim >= type.getRank())
    return misuse(main.emitError("sizes option names dim "))
           << request.dim << " of argument " << request.argument
           << ", which has " << type.getRank() << " dims: " << type;
  return request;
}

LogicalResult LayoutSetter::setSizes() {
  SmallVector<StringRef> entries;
  sizesText.split(entries, ';', -1, /*KeepEmpty=*/false);
  MLIRContext *context = module.getContext();
  for (StringRef entry : entries) {
    // An argument's entry names a dim too.
    auto [axis, list] = entry.split('=');
    if (unsigned number;
        !axis.contains(':') && axis.trim().getAsInteger(10, number)) {
      if (failed(parseShares(axis.trim(), list)))
        return failure();
      continue;
    }
    FailureOr<SizesRequest> request = parseRequest(entry.trim());
    if (failed(request))
      return failure();
    unsigned argument = request->argument;
    if (!sized.insert({argument, request->dim}).second)
      return misuse(main.emitError("sizes option gives sizes for dim "))
             << request->dim << " of argument " << argument << " twice";
    auto sharding = main.getArgAttrOfType<spmd::ShardingAttr>(
        argument, spmd::kShardingAttrName);
    if (!sharding || sharding.getDims()[request->dim].isWhole())
      return misuse(main.emitError("sizes option gives sizes for dim "))
             << request->dim << " of argument " << argument
             << ", which is not sharded there; shard it in the model, or leave "
                "its sizes out";
    SmallVector<spmd::DimShardingAttr> dims(sharding.getDims());
    spmd::DimShardingAttr &dim = dims[request->dim];
    DenseI64ArrayAttr sizes =
        request->sizes.empty()
            ? dim.getSizes()
            : DenseI64ArrayAttr::get(context, request->sizes);
    dim = spmd::DimShardingAttr::get(
        context, dim.getAxes(), sizes,
        /*dynamicSizes=*/request->sizes.empty() && dim.getDynamicSizes(),
        dim.getOpen(), dim.getPriority(), request->zigzag || dim.getZigzag());
    sharding = spmd::ShardingAttr::get(context, sharding.getMesh(), dims,
                                       sharding.getReplicated(),
                                       sharding.getPartial());
    main.setArgAttr(argument, spmd::kShardingAttrName, sharding);
  }
  return success();
}

/// Reads what each coordinate along an axis is to get.
LogicalResult LayoutSetter::parseShares(StringRef name, StringRef list) {
  spmd::MeshAttr attr = mesh.getMesh();
  int64_t axis = attr.getAxisIndex(name);
  if (axis < 0)
    return misuse(mesh.emitError("sizes option names axis \""))
           << name << "\", but mesh @" << mesh.getSymName() << " has "
           << listAxes(attr);
  SmallVector<int64_t> &known = shares[attr.getAxisNames()[axis]];
  if (!known.empty())
    return misuse(mesh.emitError("sizes option gives axis \""))
           << name << "\" twice";
  SmallVector<StringRef> entries;
  list.split(entries, ',');
  int64_t total = 0;
  for (StringRef entry : entries) {
    int64_t share;
    if (entry.trim().getAsInteger(10, share) || share < 0 ||
        share > INT32_MAX || (total += share) > INT32_MAX)
      return misuse(mesh.emitError("sizes option has '"))
             << name << '=' << list
             << "', expected a number for each coordinate along the axis, such "
                "as "
             << name << "=3,1";
    known.push_back(share);
  }
  if (static_cast<int64_t>(known.size()) != attr.getAxisSizes()[axis])
    return misuse(mesh.emitError("sizes option gives "))
           << known.size() << " sizes for axis \"" << name << "\", which has "
           << attr.getAxisSizes()[axis] << " coordinates";
  if (total == 0)
    return misuse(mesh.emitError("sizes option gives axis \""))
           << name << "\" nothing but zeros";
  return success();
}

/// `sharding` with sizes where it is cut along axes that have shares, and says
/// no sizes itself.
spmd::ShardingAttr LayoutSetter::inShares(spmd::ShardingAttr sharding,
                                          Type type) {
  SmallVector<spmd::DimShardingAttr> dims;
  for (auto [dim, size] : llvm::zip_equal(
           sharding.getDims(), cast<RankedTensorType>(type).getShape())) {
    bool isAsked = llvm::any_of(
        dim.getAxes(), [&](StringAttr axis) { return shares.contains(axis); });
    if (!isAsked || dim.getSizes() || dim.getDynamicSizes() ||
        dim.getZigzag() || ShapedType::isDynamic(size)) {
      dims.push_back(dim);
      continue;
    }
    Boundaries cut = Boundaries::whole(size);
    for (StringAttr axis : dim.getAxes())
      cut = shares.contains(axis)
                ? refineInShares(cut, shares[axis])
                : cut.refine(mesh.getMesh().getAxisSize(axis));
    dims.push_back(spmd::DimShardingAttr::get(
        module.getContext(), dim.getAxes(),
        DenseI64ArrayAttr::get(module.getContext(), cut.sizes()),
        /*dynamicSizes=*/false, dim.getOpen(), dim.getPriority()));
  }
  return spmd::ShardingAttr::get(module.getContext(), sharding.getMesh(), dims,
                                 sharding.getReplicated(),
                                 sharding.getPartial());
}

/// Every annotation that cuts a dim along an axis with shares cuts it so.
/// Manual regions have equal blocks, as they are written.
void LayoutSetter::setShares() {
  if (shares.empty())
    return;
  auto name = StringAttr::get(module.getContext(), spmd::kShardingAttrName);
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (auto sharding = main.getArgAttrOfType<spmd::ShardingAttr>(i, name))
      main.setArgAttr(i, name, inShares(sharding, main.getArgumentTypes()[i]));
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    if (auto sharding = main.getResultAttrOfType<spmd::ShardingAttr>(i, name))
      main.setResultAttr(i, name, inShares(sharding, main.getResultTypes()[i]));
  main.walk([&](spmd::ConstrainOp op) {
    if (!op->getParentOfType<spmd::ManualOp>())
      op.setShardingAttr(inShares(op.getSharding(), op.getType()));
  });
}

/// All sizes against the mesh as it is now.
LogicalResult LayoutSetter::checkShardings() {
  Operation *on = main;
  auto check = [&](spmd::ShardingAttr sharding, Type type, Location loc,
                   const Twine &what, bool isAsked = false) -> LogicalResult {
    if (!sharding)
      return success();
    for (auto [i, dim] : llvm::enumerate(sharding.getDims()))
      if (dim.getSizes() && !meshText.empty() &&
          int64_t(dim.getSizes().size()) != dim.getNumShards(mesh.getMesh()))
        return misuse(emitError(loc))
               << what << " has " << dim.getSizes().size() << " sizes in dim "
               << i << ", but with mesh option '" << meshText << "' it has "
               << dim.getNumShards(mesh.getMesh())
               << " shards; give sizes that fit with the sizes option";
    if (failed(checkSymbolic(sharding, on, what)))
      return failure();
    return sharding.verifyFor(
        mesh.getMesh(), cast<RankedTensorType>(type).getShape(), [&] {
          InFlightDiagnostic error = emitError(loc);
          error << what << ": ";
          return isAsked ? misuse(std::move(error)) : std::move(error);
        });
  };
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (failed(check(main.getArgAttrOfType<spmd::ShardingAttr>(
                         i, spmd::kShardingAttrName),
                     main.getArgumentTypes()[i], main.getArgument(i).getLoc(),
                     "argument " + Twine(i),
                     llvm::any_of(sized, [&](const auto &place) {
                       return place.first == i;
                     }))))
      return failure();
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    if (failed(check(main.getResultAttrOfType<spmd::ShardingAttr>(
                         i, spmd::kShardingAttrName),
                     main.getResultTypes()[i], main.getLoc(),
                     "result " + Twine(i))))
      return failure();
  WalkResult result = main.walk([&](spmd::ConstrainOp op) {
    on = op;
    return WalkResult(check(op.getSharding(), op.getType(), op.getLoc(),
                            "'spmd.constrain' op"));
  });
  return failure(result.wasInterrupted());
}

/// One rank: a mesh without axes, and nothing asked for. Manual regions are
/// gone by now.
LogicalResult LayoutSetter::dropAll() {
  mesh = *module.getOps<spmd::MeshOp>().begin();
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    main.removeArgAttr(
        i, StringAttr::get(module.getContext(), spmd::kShardingAttrName));
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    main.removeResultAttr(
        i, StringAttr::get(module.getContext(), spmd::kShardingAttrName));
  SmallVector<Operation *> constraints;
  main.walk([&](Operation *op) {
    // Where nothing is cut it says nothing.
    spmd::contract::OfManual::remove(op);
    if (isa<spmd::ConstrainOp, spmd::ReshardOp>(op))
      constraints.push_back(op);
  });
  for (Operation *op : constraints) {
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  }
  mesh.setMeshAttr(spmd::MeshAttr::get(module.getContext(), {}, {}, {},
                                       mesh.getMesh().getExtents()));
  return success();
}

/// The axes of `sharding`, and nothing about sizes, order or sums.
static spmd::ShardingAttr axesOf(spmd::ShardingAttr sharding) {
  SmallVector<spmd::DimShardingAttr> dims;
  for (spmd::DimShardingAttr dim : sharding.getDims())
    dims.push_back(spmd::DimShardingAttr::get(
        sharding.getContext(), dim.getAxes(), /*sizes=*/{},
        /*dynamicSizes=*/false, dim.getOpen(), dim.getPriority(),
        /*zigzag=*/false));
  return spmd::ShardingAttr::get(sharding.getContext(), sharding.getMesh(),
                                 dims, {}, {});
}

/// One rank, on a mesh whose axes have one each.
LogicalResult LayoutSetter::shrinkAll() {
  mesh = *module.getOps<spmd::MeshOp>().begin();
  auto name = StringAttr::get(module.getContext(), spmd::kShardingAttrName);
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (auto sharding = main.getArgAttrOfType<spmd::ShardingAttr>(i, name))
      main.setArgAttr(i, name, axesOf(sharding));
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    if (auto sharding = main.getResultAttrOfType<spmd::ShardingAttr>(i, name))
      main.setResultAttr(i, name, axesOf(sharding));
  main.walk([](spmd::ConstrainOp op) {
    op.setShardingAttr(axesOf(op.getSharding()));
  });
  ArrayRef<StringAttr> names = mesh.getMesh().getAxisNames();
  SmallVector<int64_t> ones(names.size(), 1);
  mesh.setMeshAttr(spmd::MeshAttr::get(module.getContext(), names, ones, {},
                                       mesh.getMesh().getExtents()));
  return success();
}

LogicalResult LayoutSetter::run() {
  mesh = *module.getOps<spmd::MeshOp>().begin();
  if (failed(setMesh()) || failed(setSizes()))
    return failure();
  setShares();
  if (failed(setDynamic()))
    return failure();
  return checkShardings();
}

namespace {
struct SetLayoutPass final : shardc::impl::SetLayoutPassBase<SetLayoutPass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (module.getOps<spmd::MeshOp>().empty() ||
        !module.lookupSymbol<func::FuncOp>("main")) {
      module.emitError("has no spmd.mesh or no @main; run --spmd-import");
      return signalPassFailure();
    }
    // Placeholders that shapes have by now are the mesh's from here on.
    if (auto extents = spmd::contract::Extents::get(module)) {
      for (auto op : module.getOps<spmd::MeshOp>())
        op.setMeshAttr(
            spmd::MeshAttr::get(&getContext(), op.getMesh().getAxisNames(),
                                op.getMesh().getAxisSizes(),
                                op.getMesh().getSymbolicAxes(), extents));
      spmd::contract::Extents::remove(module);
    }
    LayoutSetter setter(module, mesh, sizes, dynamic);
    if (failed(!unsharded ? setter.run()
               : keepAxes ? setter.shrinkAll()
                          : setter.dropAll()))
      signalPassFailure();
  }
};
} // namespace
