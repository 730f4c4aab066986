//===- RefineShapes.cpp - Sizes of arguments reach everything -------------===//
//
// jax.export prints symbolic shapes as `?`, sizes as values, and ops that make
// shapes of them. Once shapes of arguments are known, sizes are numbers: the
// walk knows every small integer tensor that depends on sizes and constants
// alone, puts static forms in the place of dynamic ones, and gives each result
// its shape. Arithmetic that nobody reads then falls away.
//
//===----------------------------------------------------------------------===//
#include "Refiner.h"
#include "mlir/IR/Verifier.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Import/Passes.h"
#include "shardc/Layout/Limits.h"
#include "shardc/Support/ElementBytes.h"
#include "shardc/Support/ForeignProgram.h"
#include "shardc/Support/Misuse.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"

#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

namespace shardc {
#define GEN_PASS_DEF_REFINESHAPESPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static std::string nameOf(BlockArgument argument) {
  if (auto name = dyn_cast<NameLoc>(argument.getLoc()))
    return name.getName().str();
  return std::to_string(argument.getArgNumber());
}

LogicalResult Refiner::setArguments(StringRef shapes) {
  SmallVector<StringRef> entries;
  shapes.split(entries, ';', -1, /*KeepEmpty=*/false);
  Block &block = main.getBody().front();
  llvm::SmallDenseSet<Value> given;
  for (StringRef entry : entries) {
    auto [place, text] = entry.rsplit('=');
    place = place.trim();
    // Of what a program is given: shapes of arrays, which say something new
    // about dynamic arguments alone.
    bool ifDynamic = place.consume_front("?");
    BlockArgument found;
    unsigned number;
    if (!place.getAsInteger(10, number)) {
      if (number < block.getNumArguments())
        found = block.getArgument(number);
    } else {
      for (BlockArgument argument : block.getArguments())
        if (nameOf(argument) == place)
          found = argument;
    }
    if (ifDynamic && (!found || isStatic(found.getType())))
      continue;
    if (!found)
      return misuse(main.emitError("shapes option names argument '"))
             << place << "', but @main has no such argument";
    if (!ifDynamic && !given.insert(found).second)
      return misuse(main.emitError("shapes option gives argument "))
             << place << " twice";
    SmallVector<int64_t> sizes;
    SmallVector<StringRef> parts;
    if (text != "scalar")
      text.trim().split(parts, 'x');
    for (StringRef part : parts)
      if (int64_t size; part.getAsInteger(10, size) || size < 0)
        return misuse(main.emitError("shapes option has '"))
               << entry << "', expected an argument and sizes such as 0=8x6";
      else
        sizes.push_back(size);
    auto type = dyn_cast<RankedTensorType>(found.getType());
    auto wanted = type ? RankedTensorType::get(sizes, type.getElementType())
                       : RankedTensorType();
    if (!type || failed(verifyCompatibleShape(type, wanted)))
      return misuse(main.emitError("shapes option gives argument "))
             << place << " the shape " << text << ", but its type is "
             << found.getType();
    found.setType(wanted);
  }
  for (BlockArgument argument : block.getArguments())
    if (placeholders && failed(openExtents(argument)))
      return failure();
  for (BlockArgument argument : block.getArguments())
    if (!isStatic(argument.getType()))
      return emitUnsupported(main, "argument ")
             << argument.getArgNumber() << " of @main has dynamic shape "
             << argument.getType()
             << "; give its shape (--shapes=" << argument.getArgNumber()
             << "=4x8) or inputs, or leave it open (--dynamic=all)";
  return success();
}

LogicalResult Refiner::finish() {
  Block &block = main.getBody().front();
  main.setFunctionType(
      FunctionType::get(main.getContext(), block.getArgumentTypes(),
                        block.getTerminator()->getOperandTypes()));
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The larger numbers that a program says itself: sizes of static dims, and
/// what attributes have.
static std::set<int64_t> numbersOf(func::FuncOp main) {
  std::set<int64_t> numbers;
  auto add = [&](int64_t number) {
    if (number != INT64_MIN && std::abs(number) >= Extents::least / 2)
      numbers.insert(number);
  };
  auto addType = [&](Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      for (int64_t size : tensor.getShape())
        if (!ShapedType::isDynamic(size))
          add(size);
  };
  auto addAttribute = [&](Attribute attr) {
    if (auto list = dyn_cast<DenseI64ArrayAttr>(attr))
      llvm::for_each(list.asArrayRef(), add);
    else if (auto number = dyn_cast<IntegerAttr>(attr);
             number && number.getValue().getSignificantBits() <= 64)
      add(number.getValue().getSExtValue());
    else if (auto dense = dyn_cast<DenseIntElementsAttr>(attr);
             dense && dense.getNumElements() <= 64)
      for (const APInt &value : dense.getValues<APInt>())
        if (value.getSignificantBits() <= 64)
          add(value.getSExtValue());
  };
  llvm::for_each(main.getArgumentTypes(), addType);
  main.walk([&](Operation *op) {
    llvm::for_each(op->getResultTypes(), addType);
    for (NamedAttribute attr : op->getAttrs())
      attr.getValue().walk([&](Attribute inner) { addAttribute(inner); });
  });
  return numbers;
}

/// Types that programs state are within limits; sizes that follow from shapes
/// of arguments need not be.
static LogicalResult checkSizes(func::FuncOp main) {
  auto check = [](Operation *op, Type type) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() || hasCountableBytes(tensor))
      return success();
    return op->emitOpError("has the type ")
           << tensor << ", whose number of bytes overflows 63 bits";
  };
  for (Type type : main.getArgumentTypes())
    if (failed(check(main, type)))
      return failure();
  return failure(main.walk([&](Operation *op) {
                       for (Type type : op->getResultTypes())
                         if (failed(check(op, type)))
                           return WalkResult::interrupt();
                       return WalkResult::advance();
                     })
                     .wasInterrupted());
}

/// An op with a tensor so large that margins and copies of it could have more
/// bytes than 63 bits count, or a dim that is longer than any may be; null
/// where there is none.
static Operation *findUncountable(func::FuncOp main) {
  auto isCountable = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return true;
    double bytes = elementBytes(tensor.getElementType());
    for (int64_t size : tensor.getShape()) {
      if (size > kMaxElements)
        return false;
      bytes *= double(size);
    }
    return bytes < std::ldexp(1.0, 60);
  };
  Operation *found = nullptr;
  if (!llvm::all_of(main.getArgumentTypes(), isCountable))
    return main;
  main.walk([&](Operation *op) {
    if (llvm::all_of(op->getResultTypes(), isCountable))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

/// True if a dynamic shape or op is anywhere.
static bool isDynamic(func::FuncOp main) {
  bool dynamic = !llvm::all_of(main.getArgumentTypes(), isStatic);
  main.walk([&](Operation *op) {
    dynamic |= isa<DynamicBroadcastInDimOp, DynamicIotaOp, DynamicReshapeOp,
                   RealDynamicSliceOp, DynamicPadOp, DynamicGatherOp,
                   DynamicConvOp, GetDimensionSizeOp, SetDimensionSizeOp>(op) ||
               !llvm::all_of(op->getResultTypes(), isStatic);
    if (auto call = dyn_cast<CustomCallOp>(op))
      dynamic |=
          call.getCallTargetName() == "shape_assertion" ||
          call.getCallTargetName() == "stablehlo.dynamic_reduce_window" ||
          call.getCallTargetName() == "stablehlo.dynamic_rng_bit_generator" ||
          call->hasAttr("indices_of_shape_operands");
  });
  return dynamic;
}

namespace {
/// Ways in which fewer numbers may be two extents. Padding in front of an op
/// has an extent that the op's own has not; and with another remainder of its
/// placeholder n, 2 (n / 2) is n - 1, or n / 2 rounded up is not even. How many
/// are with other placeholders is estimated from the extents of the first walk;
/// walks cost more.
struct OtherWays {
  static constexpr size_t mostShifts = 8;
  static constexpr int mostTries = 4;
  struct Way {
    size_t firstPrime;
    bool keepsPadding;
    int64_t collisions;
    bool isThat(const Placeholders &placeholders) const {
      return firstPrime == placeholders.firstPrime &&
             keepsPadding == placeholders.keepsPadding;
    }
  };
  std::optional<Way> best;
  SmallVector<Way> estimated;
  size_t first = 0;
  int tries = 0;
  bool isSettled = false;

  /// True if what comes is only tried, and the best so far will do.
  bool isTrying() const { return best && !isSettled; }
  void note(const Refiner &refiner, const Placeholders &placeholders) {
    Way way{placeholders.firstPrime, placeholders.keepsPadding,
            refiner.getCollisions()};
    if (!best) {
      first = way.firstPrime;
      if (refiner.hasPaddingToKeep())
        estimated.push_back({first, true, -1});
    }
    if (!best || way.collisions < best->collisions)
      best = way;
    for (size_t shift = 1; shift <= mostShifts && way.firstPrime == first;
         ++shift)
      if (std::optional<int64_t> collisions = refiner.collisionsAt(shift))
        estimated.push_back({first + shift, way.keepsPadding, *collisions});
  }
  /// True if there is another walk to make: one that seems better, or that of
  /// the best so far.
  bool next(Placeholders &placeholders) {
    auto found = llvm::min_element(estimated, [](const Way &a, const Way &b) {
      return a.collisions < b.collisions;
    });
    isSettled = found == estimated.end() ||
                found->collisions >= best->collisions || tries++ == mostTries;
    Way way = isSettled ? *best : *found;
    if (!isSettled)
      estimated.erase(found);
    if (way.isThat(placeholders))
      return false;
    if (way.firstPrime != placeholders.firstPrime) {
      placeholders.fixed.clear();
      placeholders.choices.clear();
    }
    placeholders.firstPrime = way.firstPrime;
    placeholders.keepsPadding = way.keepsPadding;
    return true;
  }
};

struct RefineShapesPass final
    : shardc::impl::RefineShapesPassBase<RefineShapesPass> {
  using Base::Base;

  FailureOr<func::FuncOp> refine(func::FuncOp main, Refiner *refiner,
                                 StringRef more = "") {
    Refiner own(main);
    Refiner &used = refiner ? *refiner : own;
    if (failed(used.setArguments(shapes + more.str())) ||
        failed(used.refineBlock(main.getBody().front())) ||
        failed(used.finish()))
      return failure();
    used.guardExtents();
    return main;
  }

  /// For some extents that the program allows, its numbers have to be those of
  /// the program that is refined for these alone.
  LogicalResult check(func::FuncOp main, func::FuncOp open,
                      const Refiner &refiner,
                      const Placeholders &placeholders) {
    const Extents &extents = refiner.getExtents();
    if (extents.empty())
      return success();
    std::mt19937_64 random(1);
    int64_t compared = 0;
    for (int sample = 0; sample < 12 && compared < 4; ++sample) {
      std::map<std::pair<int64_t, int64_t>, int64_t> dims;
      std::vector<int64_t> values;
      if (!drawExtents(extents, placeholders, random, dims, values)) {
        return emitUnsupported(main, "asks more of the extents of its "
                                     "arguments than could be met; give "
                                     "shapes of the arguments (--shapes)");
      }
      std::string known;
      for (BlockArgument argument : main.getArguments()) {
        auto type = dyn_cast<RankedTensorType>(argument.getType());
        if (!type || type.hasStaticShape())
          continue;
        known += ";?" + std::to_string(argument.getArgNumber()) + "=";
        for (auto [dim, size] : llvm::enumerate(type.getShape())) {
          auto found = dims.find({argument.getArgNumber(), dim});
          known += (dim ? "x" : "") +
                   std::to_string(found == dims.end() ? size : found->second);
        }
      }
      OpBuilder builder(main);
      auto copy = cast<func::FuncOp>(builder.clone(*main));
      FailureOr<func::FuncOp> refined = failure();
      {
        // Of some that it asserts nothing about nothing is left of a slice.
        ScopedDiagnosticHandler quiet(&getContext(),
                                      [](Diagnostic &) { return success(); });
        Refiner own(copy);
        own.replay(refiner.getPaddings());
        refined = refine(copy, &own, known);
      }
      LogicalResult same = succeeded(refined)
                               ? compareNumbers(open, copy, extents, values)
                               : success();
      compared += succeeded(refined);
      copy.erase();
      if (failed(same))
        return failure();
    }
    if (compared == 0)
      return emitUnsupported(main, "fits none of the shapes that were tried; "
                                   "give shapes of the arguments (--shapes)");
    return success();
  }

  /// Whether a walk that is only tried is one of this program.
  bool isRight(func::FuncOp main, func::FuncOp open, const Refiner &refiner,
               const Placeholders &placeholders) {
    ScopedDiagnosticHandler quiet(&getContext(),
                                  [](Diagnostic &) { return success(); });
    return succeeded(verify(open)) &&
           succeeded(check(main, open, refiner, placeholders));
  }

  /// What came of walks with placeholders.
  struct Walk {
    func::FuncOp open;
    std::unique_ptr<Placeholders> placeholders;
    std::unique_ptr<Refiner> refiner;
  };

  /// Walks copies until placeholders meet all that the program asserts, and
  /// stand for nothing that it says itself. Where one number is two extents, it
  /// looks for a way in which fewer are; the last are to rename extents. Of a
  /// twin it takes the way of `usual`.
  class OpenWalks {
  public:
    OpenWalks(RefineShapesPass &pass, func::FuncOp main, PlaceholderSet set,
              const Placeholders *usual)
        : pass(pass), main(main), set(set), usual(usual),
          numbers(numbersOf(main)), kept(std::make_unique<Placeholders>()),
          placeholders(*kept) {
      if (!usual) {
        begin(0);
        return;
      }
      placeholders = *usual;
      placeholders.set = set;
      placeholders.fixed.clear();
      placeholders.choices.clear();
      ways.isSettled = renames = true;
      hasChoices = !usual->choices.empty();
    }

    FailureOr<Walk> run() {
      for (int walk = 0; walk < 256; ++walk) {
        OpBuilder builder(main);
        auto copy = cast<func::FuncOp>(builder.clone(*main));
        auto refiner = std::make_unique<Refiner>(copy, &placeholders);
        if (failed(refine(copy, *refiner))) {
          copy.erase();
          if (refiner->beginsAgain())
            placeholders.choices.clear();
          else if (!giveUp())
            return failure();
          continue;
        }
        if (isOneOfProgram(*refiner)) {
          copy.erase();
          if (!giveUp()) {
            placeholders.fixed.clear();
            ++placeholders.firstPrime;
          }
          continue;
        }
        if (Operation *op = findUncountable(copy)) {
          if (failed(takeSmaller(op, *refiner)))
            return failure();
          copy.erase();
          continue;
        }
        if (hasSettledChoices(copy, *refiner) && hasSettledWays(*refiner) &&
            hasSettledNames(copy, *refiner))
          return Walk{copy, std::move(kept), std::move(refiner)};
        copy.erase();
      }
      return emitUnsupported(main, "asks more of the extents of its arguments "
                                   "than could be met; give shapes of the "
                                   "arguments (--shapes)");
    }

  private:
    /// Begins anew with placeholders of at most `most`, from prime number
    /// `firstPrime` on.
    void begin(size_t firstPrime) {
      placeholders = Placeholders();
      placeholders.primes = primesUpTo(most);
      placeholders.firstPrime = firstPrime;
      placeholders.set = set;
      ways = {};
      renames = isWithNames = false;
    }

    LogicalResult refine(func::FuncOp copy, Refiner &refiner) {
      // Of a way that is only tried there is another one.
      std::optional<ScopedDiagnosticHandler> quiet;
      if (ways.isTrying() || isWithNames || !placeholders.choices.empty())
        quiet.emplace(copy.getContext(),
                      [](Diagnostic &) { return success(); });
      return pass.refine(copy, &refiner);
    }

    /// Whether an open extent is a number that the program has itself.
    bool isOneOfProgram(const Refiner &refiner) {
      return llvm::any_of(numbers, [&](int64_t number) {
        return refiner.getExtents().isOpen(number);
      });
    }

    /// Gives up what is only tried; false if there is nothing else.
    bool giveUp() {
      if (!placeholders.choices.empty()) {
        placeholders.choices.clear();
        hasChoices = false;
        return true;
      }
      if (!isWithNames)
        return ways.isTrying() && ways.next(placeholders);
      renameNext();
      return true;
    }

    void renameNext() {
      isWithNames = !renamings.empty();
      placeholders.renamed = isWithNames ? renamings.back() : Renaming();
      if (isWithNames)
        renamings.pop_back();
    }

    /// Tensors with several open extents have bytes that can be counted: if
    /// those of `op` have too many, smaller placeholders are next.
    LogicalResult takeSmaller(Operation *op, const Refiner &refiner) {
      // The least there are come last.
      size_t isLast = most == kLeastPlaceholder,
             first = isLast ? placeholders.firstPrime + 1 : 0;
      if (usual || first + refiner.countOpen() > placeholders.primes.size())
        return emitUnsupported(main)
               << "'" << op->getName() << "' at " << userLocation(op->getLoc())
               << " has a tensor with more open extents than can be told "
                  "apart; give shapes of some arguments (--shapes)";
      most = std::max(most / 2, kLeastPlaceholder);
      begin(first);
      return success();
    }

    // False where another walk is to be made first.

    bool hasSettledChoices(func::FuncOp copy, Refiner &refiner) {
      if (!hasChoices)
        return true;
      Choices choices = refiner.findChoices();
      if (choices.size() > placeholders.choices.size()) {
        placeholders.choices = std::move(choices);
        return false;
      }
      if (choices.empty() || pass.isRight(main, copy, refiner, placeholders))
        return true;
      giveUp();
      return false;
    }

    bool hasSettledWays(const Refiner &refiner) {
      if (renames || refiner.getCollisions() == 0 || ways.isSettled)
        return true;
      ways.note(refiner, placeholders);
      return !ways.next(placeholders);
    }

    bool hasSettledNames(func::FuncOp copy, Refiner &refiner) {
      if (!renames) {
        renames = true;
        withoutNames = refiner.getCollisions();
        if (withoutNames > 0)
          renamings = refiner.findRenamings();
        std::reverse(renamings.begin(), renamings.end());
        // Then again, for one that leaves fewer.
        lenient = renamings.size();
        llvm::append_range(renamings, std::vector(renamings));
        renameNext();
        return !isWithNames;
      }
      if (!isWithNames)
        return true;
      int64_t mostLeft = renamings.size() < lenient ? withoutNames - 1 : 0;
      if (refiner.getCollisions() <= mostLeft &&
          pass.isRight(main, copy, refiner, placeholders))
        return true;
      giveUp();
      return false;
    }

    RefineShapesPass &pass;
    func::FuncOp main;
    PlaceholderSet set;
    const Placeholders *usual;
    std::set<int64_t> numbers; ///< of the program's text
    std::unique_ptr<Placeholders> kept;
    Placeholders &placeholders;
    int64_t most = kMostPlaceholder;
    OtherWays ways;
    bool renames = false, isWithNames = false, hasChoices = true;
    int64_t withoutNames = 0; ///< collisions before anything was renamed
    /// From the last to the first; all but the last `lenient` have to tell all
    /// extents apart.
    std::vector<Renaming> renamings;
    size_t lenient = 0;
  };

  /// The walk with the placeholders of one set.
  FailureOr<Walk> walkOpen(func::FuncOp main) {
    if (placeholders == PlaceholderSet::Usual)
      return OpenWalks(*this, main, placeholders, nullptr).run();
    FailureOr<Walk> usual = failure();
    {
      ScopedDiagnosticHandler quiet(&getContext(),
                                    [](Diagnostic &) { return success(); });
      usual = OpenWalks(*this, main, PlaceholderSet::Usual, nullptr).run();
    }
    if (failed(usual))
      return failure();
    usual->open.erase();
    return OpenWalks(*this, main, placeholders, usual->placeholders.get())
        .run();
  }

  FailureOr<func::FuncOp> refineOpen(func::FuncOp main) {
    FailureOr<Walk> walk = walkOpen(main);
    if (failed(walk))
      return failure();
    // Of other placeholders all numbers are compared with those of the usual
    // ones, which were.
    if (placeholders == PlaceholderSet::Usual &&
        failed(check(main, walk->open, *walk->refiner, *walk->placeholders)))
      return failure();
    walk->refiner->putSlices();
    main.erase();
    if (const Extents &extents = walk->refiner->getExtents(); !extents.empty())
      spmd::contract::Extents::set(
          getOperation(), spmd::ExtentsAttr::get(&getContext(), extents));
    return walk->open;
  }

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (main && (!shapes.empty() || isDynamic(main))) {
      FailureOr<func::FuncOp> refined =
          open ? refineOpen(main) : refine(main, nullptr);
      // Placeholders say nothing of how large a tensor is going to be.
      if (failed(refined) || (!open && failed(checkSizes(*refined))))
        return signalPassFailure();
      main = *refined;
    }
    // Those that calls named.
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (function != main)
        function.erase();
  }
};
} // namespace
