//===- OpenExtents.cpp - The same program with other placeholders ---------===//
//
// A number of a compiled program says by its value which open extent it follows
// from (shardc/Layout/Extents.h). One that came out of a division, or of some
// estimate, may follow from an extent and not say so, or seem to follow from
// another one: beside an odd placeholder n the number n - 1 is also two halves
// of n. So the program is compiled once more with other placeholders, of other
// remainders, and what each number is said to follow from has to be what it is
// there:
//
//     n = 225383, n / 2 = 112691:   225382 is read as 2 (n / 2)
//     n = 225614, n / 2 = 112807:   225613 there; 2 (n / 2) is 225614: refused
//
// Local views are compared as lists of words: names of ops and attributes, and
// numbers.
//
//===----------------------------------------------------------------------===//
#include "OpenExtents.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Local/IR/LocalTables.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"
#include "llvm/ADT/TypeSwitch.h"
#include <set>

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

namespace {
/// What has to be equal in both programs, by its address; or, without one, a
/// number that may follow from extents.
struct Word {
  const void *name = nullptr;
  int64_t number = 0;
};

/// The name of an attribute that is not there.
static constexpr char noAttribute = 0;

/// One op without its regions.
class Words {
public:
  explicit Words(Operation *op) {
    addName(nameOf(op));
    addCount(op->getNumOperands());
    addCount(op->getNumResults());
    for (Type type : op->getResultTypes())
      add(type);
    auto lookup = dyn_cast<LookupOp>(op);
    addCount(op->getAttrs().size());
    for (NamedAttribute attribute : op->getAttrs()) {
      addName(attribute.getName().getAsOpaquePointer());
      bool isOfOneBinding = lookup && lookup.getFormula() &&
                            attribute.getName() == lookup.getTableAttrName();
      if (!isOfOneBinding)
        add(attribute.getValue());
    }
  }
  ArrayRef<Word> get() const { return words; }

private:
  /// Whether those who exchange are neighbours is so in one binding.
  static const void *nameOf(Operation *op) {
    OperationName name = op->getName();
    if (isa<HaloExchangeOp, RebalanceOp>(op) &&
        isBoundLate(cast<ExchangeOpInterface>(op).getDims()))
      name = OperationName(RebalanceOp::getOperationName(), op->getContext());
    return name.getAsOpaquePointer();
  }
  void addName(const void *name) { words.push_back({name, 0}); }
  void addCount(size_t count) {
    words.push_back({nullptr, static_cast<int64_t>(count)});
  }
  void add(ArrayRef<int64_t> numbers) {
    addCount(numbers.size());
    for (int64_t number : numbers)
      words.push_back({nullptr, number});
  }
  template <typename List> void addAll(List list) {
    addCount(list.size());
    for (auto each : list)
      add(each);
  }
  void addAxes(ArrayRef<StringAttr> axes) {
    addCount(axes.size());
    for (StringAttr axis : axes)
      addName(axis.getAsOpaquePointer());
  }
  void add(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return addName(type.getAsOpaquePointer());
    addName(tensor.getElementType().getAsOpaquePointer());
    add(tensor.getShape());
  }
  void add(Attribute attribute);

  SmallVector<Word> words;
};
} // namespace

/// Numbers beside a formula are of one binding; words name sizes for people.
void Words::add(Attribute attribute) {
  if (!attribute)
    return addName(&noAttribute);
  addName(attribute.getTypeID().getAsOpaquePointer());
  TypeSwitch<Attribute>(attribute)
      .Case<StringAttr, MeshAttr>([](auto) {})
      .Case([&](FormulaAttr formula) {
        addCount(static_cast<size_t>(formula.getKind()));
        add(formula.getNumbers());
        addAll(formula.getOperands());
      })
      .Case([&](DimExchangeAttr dim) {
        addCount(dim.getDim());
        addCount(static_cast<size_t>(dim.getPadding()));
        addAxes(dim.getAxes());
        bool hasFormula = bool(dim.getOwnedFormula());
        addCount(hasFormula);
        if (hasFormula) {
          add(dim.getOwnedFormula());
          add(dim.getNeededFormula());
        } else {
          add(dim.getOwned());
          add(dim.getNeeded());
        }
      })
      .Case([&](DimShardingAttr dim) {
        addAxes(dim.getAxes());
        // Sizes of an open extent say nothing (DimShardingAttr::getBoundaries).
        addCount(dim.getFormula() ? 2 : bool(dim.getSizes()));
        if (dim.getFormula())
          add(dim.getFormula());
      })
      .Case([&](ShardingAttr sharding) { addAll(sharding.getDims()); })
      .Case([&](TypeAttr type) { add(type.getValue()); })
      .Case([&](ArrayAttr list) { addAll(list.getValue()); })
      .Case([&](DictionaryAttr entries) {
        addCount(entries.size());
        for (NamedAttribute entry : entries) {
          addName(entry.getName().getAsOpaquePointer());
          add(entry.getValue());
        }
      })
      .Case([&](DenseI64ArrayAttr list) { add(list.asArrayRef()); })
      .Case([&](IntegerAttr number) {
        addName(number.getType().getAsOpaquePointer());
        if (number.getValue().getSignificantBits() > 64)
          addName(number.getAsOpaquePointer());
        else
          add(ArrayRef(number.getValue().getSExtValue()));
      })
      .Default([&](Attribute other) { addName(other.getAsOpaquePointer()); });
}

static Extents extentsOf(ModuleOp module) {
  for (MeshOp mesh : module.getOps<MeshOp>())
    return mesh.getMesh().getExtents().getExtents();
  return {};
}

/// The values of `extents`, where dims are the placeholders that they have in
/// `placeholders`.
static std::vector<int64_t> valuesOf(Extents extents,
                                     const Extents &placeholders) {
  std::map<std::pair<int64_t, int64_t>, int64_t> dims;
  for (int64_t i = 0; i < placeholders.size(); ++i)
    if (const ExtentExpr &dim = placeholders[i]; dim.kind == ExtentKind::Dim)
      dims[{dim.operands[0], dim.operands[1]}] = dim.placeholder;
  extents.conditions.clear();
  std::string error;
  std::vector<int64_t> values = extents.evaluate(dims, error);
  values.resize(extents.size(), 0);
  return values;
}

/// What stands for each of `extents`, or would if it had a number.
static std::vector<int64_t> placeholdersOf(const Extents &extents) {
  std::vector<int64_t> values = valuesOf(extents, extents);
  for (int64_t i = 0; i < extents.size(); ++i)
    if (int64_t placeholder = extents[i].placeholder)
      values[i] = placeholder;
  return values;
}

/// Whether placeholders of a twin meet what the program asks of extents as
/// those of `here` do. Of a program that runs for odd n alone, since it has one
/// number for n and 2 (n / 2) + 1, even ones do not.
static bool allows(const Extents &here, const Extents &there) {
  std::vector<int64_t> values = valuesOf(here, here),
                       others = valuesOf(here, there);
  return llvm::none_of(here.conditions, [&](const ExtentCondition &condition) {
    return values[condition.extent] != 0 && others[condition.extent] == 0;
  });
}

static SmallVector<Operation *> opsOf(ModuleOp module) {
  SmallVector<Operation *> ops;
  for (auto function : module.getOps<func::FuncOp>())
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isa<func::FuncOp>(op))
        ops.push_back(op);
    });
  return ops;
}

namespace {
/// Of two ops in each other's place: whether they are of the same form, and
/// their numbers as they are read, the more alike the later.
enum class Likeness {
  Other,   ///< not of the same form
  Misread, ///< with a number that follows from something else than it says
  Unlike,  ///< with a number that is another one for any known reason
  Same
};

/// Numbers of a program, and what they are in its twin.
class Comparison {
public:
  Comparison(ModuleOp module, ModuleOp twin)
      : here(extentsOf(module)), valuesThere(placeholdersOf(extentsOf(twin))) {}

  /// What `number` is in the twin if it follows from what it is read as.
  int64_t expected(int64_t number) const {
    std::optional<LinearExtent> reading = here.find(number);
    return reading ? inTwin(*reading) : number;
  }
  Likeness compare(ArrayRef<Word> a, ArrayRef<Word> b) const {
    if (a.size() != b.size() || llvm::any_of(llvm::zip(a, b), [](auto pair) {
          return std::get<0>(pair).name != std::get<1>(pair).name;
        }))
      return Likeness::Other;
    Likeness likeness = Likeness::Same;
    for (auto [word, other] : llvm::zip(a, b)) {
      if (expected(word.number) == other.number)
        continue;
      likeness = Likeness::Unlike;
      for (const LinearExtent &reading : here.readings(word.number))
        if (inTwin(reading) == other.number)
          return Likeness::Misread;
    }
    return likeness;
  }

private:
  int64_t inTwin(const LinearExtent &reading) const {
    return reading.extent < static_cast<int64_t>(valuesThere.size())
               ? reading.coefficient * valuesThere[reading.extent] +
                     reading.constant
               : INT64_MIN;
  }

  Extents here;
  std::vector<int64_t> valuesThere;
};
} // namespace

/// An op of `module` that is not the same in `twin`; null where all are.
static Operation *findUnlikeTwin(ModuleOp module, ModuleOp twin) {
  SmallVector<Operation *> ops = opsOf(module), others = opsOf(twin);
  Comparison comparison(module, twin);
  for (size_t i = 0; i < ops.size(); ++i)
    if (i >= others.size() ||
        comparison.compare(Words(ops[i]).get(), Words(others[i]).get()) !=
            Likeness::Same)
      return ops[i];
  return nullptr;
}

namespace {
/// The ops of two programs side by side, with as many in each other's place
/// that are the same as can be.
class Alignment {
public:
  Alignment(ModuleOp module, ModuleOp twin)
      : comparison(module, twin), ops(opsOf(module)) {
    for (Operation *op : ops)
      words.emplace_back(op);
    for (Operation *op : opsOf(twin))
      others.emplace_back(op);
    if (words.size() * others.size() > mostPairs)
      return;
    best.assign((words.size() + 1) * (others.size() + 1), 0);
    for (size_t i = words.size(); i-- > 0;)
      for (size_t j = others.size(); j-- > 0;)
        bestFrom(i, j) = std::max(
            {bestFrom(i + 1, j), bestFrom(i, j + 1), bestTogether(i, j)});
  }

  /// The first op that is misread; the first of all where there are too many.
  Operation *findMisread() {
    if (best.empty())
      return ops.front();
    for (size_t i = 0, j = 0; i < words.size() && j < others.size();) {
      if (bestFrom(i, j) == bestFrom(i + 1, j)) {
        ++i;
      } else if (bestFrom(i, j) == bestFrom(i, j + 1)) {
        ++j;
      } else {
        if (likeness(i, j) == Likeness::Misread)
          return ops[i];
        ++i;
        ++j;
      }
    }
    return nullptr;
  }

private:
  static constexpr size_t mostPairs = size_t(1) << 24;

  Likeness likeness(size_t i, size_t j) const {
    return comparison.compare(words[i].get(), others[j].get());
  }
  /// What ops from these on are worth.
  int32_t &bestFrom(size_t i, size_t j) {
    return best[i * (others.size() + 1) + j];
  }
  /// The same with these two in each other's place.
  int32_t bestTogether(size_t i, size_t j) {
    Likeness alike = likeness(i, j);
    if (alike == Likeness::Other)
      return 0;
    return bestFrom(i + 1, j + 1) + (alike == Likeness::Same ? 8 : 1);
  }

  Comparison comparison;
  SmallVector<Operation *> ops;
  std::vector<Words> words, others;
  std::vector<int32_t> best;
};
} // namespace

LogicalResult shardc::checkOpenExtents(
    ModuleOp module,
    function_ref<OwningOpRef<ModuleOp>(PlaceholderSet)> twinOf) {
  OwningOpRef<ModuleOp> even = twinOf(PlaceholderSet::Even);
  if (even && !findUnlikeTwin(module, *even))
    return success();
  // Of even numbers 2 (n / 2) is n, and a slice between the two is not there.
  OwningOpRef<ModuleOp> odd = twinOf(PlaceholderSet::Odd);
  if (!odd || !even)
    return emitUnsupported(module)
           << "extents of the program's arguments cannot be left open; give "
              "their shapes (--shapes)";
  Operation *op = findUnlikeTwin(module, *odd);
  if (!op && allows(extentsOf(module), extentsOf(*even)))
    op = Alignment(module, *even).findMisread();
  if (!op)
    return success();
  return emitUnsupported(op)
         << "'" << op->getName() << "' at " << userLocation(op->getLoc())
         << ": its local form follows from open extents in a way that is not "
            "known; give shapes of the arguments (--shapes)";
}
