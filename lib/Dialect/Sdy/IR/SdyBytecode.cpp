//===- SdyBytecode.cpp - Shardy's attributes in bytecode ------------------===//
//
// The encoding is Shardy's own, so that bytecode of JAX can be read, and
// Shardy's tools read ours: a code, then the attribute's fields in order.
//
//===----------------------------------------------------------------------===//
#include "SdyBytecode.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Support/BytecodeFields.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::sdy;

namespace {
/// Never to be changed. Shardings have a code of their own since they can be
/// unreduced, and since that need not be by sums.
enum Code : uint64_t {
  ManualAxes = 0,
  MeshAxis = 1,
  Mesh = 2,
  SubAxisInfo = 3,
  AxisRef = 4,
  DimensionSharding = 5,
  TensorSharding = 6,
  ShardingPerValue = 7,
  DimMapping = 8,
  TensorMapping = 9,
  OpShardingRule = 10,
  AxisRefList = 11,
  ListOfAxisRefLists = 12,
  AllToAllParam = 13,
  AllToAllParamList = 14,
  UnreducedSharding = 15,
  UnreducedPerValue = 16,
  OtherwiseUnreducedSharding = 17,
};

class SdyBytecode final : public BytecodeDialectInterface {
public:
  explicit SdyBytecode(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  Attribute readAttribute(DialectBytecodeReader &reader) const override {
    return readCodedAttribute(reader, "sdy",
                              [&](uint64_t code, BytecodeFields &fields) {
                                return readFields(code, fields);
                              });
  }

  LogicalResult writeAttribute(Attribute attribute,
                               DialectBytecodeWriter &writer) const override;

  /// The version of Shardy that wrote it; its encoding has only grown.
  std::unique_ptr<DialectVersion>
  readVersion(DialectBytecodeReader &reader) const override {
    return skipVersion(reader);
  }

private:
  FailureOr<Attribute> readFields(uint64_t code, BytecodeFields &fields) const;
};
} // namespace

/// Failure for a code that is not known; null for fields that are damaged.
FailureOr<Attribute> SdyBytecode::readFields(uint64_t code,
                                             BytecodeFields &f) const {
  MLIRContext *context = getContext();
  auto make = [&](auto get) -> Attribute {
    return f.ok ? Attribute(get()) : Attribute();
  };
  switch (code) {
  case ManualAxes: {
    auto axes = f.attributes<StringAttr>();
    return make([&] { return ManualAxesAttr::get(context, axes); });
  }
  case MeshAxis: {
    std::string name = f.text();
    int64_t size = f.number();
    return make([&] { return MeshAxisAttr::get(context, name, size); });
  }
  case Mesh: {
    auto axes = f.attributes<MeshAxisAttr>();
    SmallVector<int64_t> devices = f.numbers();
    return make([&] { return MeshAttr::get(context, axes, devices); });
  }
  case SubAxisInfo: {
    int64_t before = f.number(), size = f.number();
    return make([&] { return SubAxisInfoAttr::get(context, before, size); });
  }
  case AxisRef: {
    std::string name = f.text();
    auto part = f.optionalAttribute<SubAxisInfoAttr>();
    return make([&] { return AxisRefAttr::get(context, name, part); });
  }
  case DimensionSharding: {
    auto axes = f.attributes<AxisRefAttr>();
    bool isClosed = f.flag();
    std::optional<int64_t> priority = f.optionalNumber();
    return make([&] {
      return DimensionShardingAttr::get(context, axes, isClosed, priority);
    });
  }
  case TensorSharding:
  case UnreducedSharding:
  case OtherwiseUnreducedSharding: {
    Attribute mesh = f.attribute();
    auto dims = f.attributes<DimensionShardingAttr>();
    auto replicated = f.attributes<AxisRefAttr>();
    SmallVector<AxisRefAttr> unreduced;
    if (code != TensorSharding)
      unreduced = f.attributes<AxisRefAttr>();
    auto kind = ReductionKind::Sum;
    if (code == OtherwiseUnreducedSharding) {
      std::optional<ReductionKind> known = symbolizeReductionKind(f.number());
      f.ok &= known.has_value();
      kind = known.value_or(kind);
    }
    return make([&] {
      return TensorShardingAttr::get(context, mesh, dims, replicated, unreduced,
                                     kind);
    });
  }
  case ShardingPerValue:
  case UnreducedPerValue: {
    auto shardings = f.attributes<TensorShardingAttr>();
    return make(
        [&] { return TensorShardingPerValueAttr::get(context, shardings); });
  }
  case DimMapping: {
    SmallVector<int64_t> factors = f.numbers();
    return make([&] { return DimMappingAttr::get(context, factors); });
  }
  case TensorMapping: {
    auto dims = f.attributes<DimMappingAttr>();
    return make([&] { return TensorMappingAttr::get(context, dims); });
  }
  case OpShardingRule: {
    SmallVector<int64_t> sizes = f.numbers();
    auto operands = f.attributes<TensorMappingAttr>(),
         results = f.attributes<TensorMappingAttr>();
    SmallVector<int64_t> reduction = f.numbers(), whole = f.numbers(),
                         permutation = f.numbers(), blocked = f.numbers();
    bool isCustom = f.flag();
    return make([&] {
      return OpShardingRuleAttr::get(context, sizes, operands, results,
                                     reduction, whole, permutation, blocked,
                                     isCustom);
    });
  }
  case AxisRefList: {
    auto axes = f.attributes<AxisRefAttr>();
    return make([&] { return AxisRefListAttr::get(context, axes); });
  }
  case ListOfAxisRefLists: {
    auto lists = f.attributes<AxisRefListAttr>();
    return make([&] { return ListOfAxisRefListsAttr::get(context, lists); });
  }
  case AllToAllParam: {
    auto axes = f.attributes<AxisRefAttr>();
    int64_t from = f.number(), to = f.number();
    return make(
        [&] { return AllToAllParamAttr::get(context, axes, from, to); });
  }
  case AllToAllParamList: {
    auto list = f.attributes<AllToAllParamAttr>();
    return make([&] { return AllToAllParamListAttr::get(context, list); });
  }
  default:
    return failure();
  }
}

LogicalResult SdyBytecode::writeAttribute(Attribute attribute,
                                          DialectBytecodeWriter &writer) const {
  auto code = [&](Code value) { writer.writeVarInt(value); };
  auto list = [&](auto attributes) {
    writer.writeList(attributes,
                     [&](Attribute each) { writer.writeAttribute(each); });
  };
  return TypeSwitch<Attribute, LogicalResult>(attribute)
      .Case([&](ManualAxesAttr a) {
        code(ManualAxes);
        list(a.getAxes());
        return success();
      })
      .Case([&](MeshAxisAttr a) {
        code(MeshAxis);
        writer.writeOwnedString(a.getName());
        writer.writeSignedVarInt(a.getSize());
        return success();
      })
      .Case([&](MeshAttr a) {
        code(Mesh);
        list(a.getAxes());
        writer.writeSignedVarInts(a.getDeviceIds());
        return success();
      })
      .Case([&](SubAxisInfoAttr a) {
        code(SubAxisInfo);
        writer.writeSignedVarInt(a.getPreSize());
        writer.writeSignedVarInt(a.getSize());
        return success();
      })
      .Case([&](AxisRefAttr a) {
        code(AxisRef);
        writer.writeOwnedString(a.getName());
        writer.writeOptionalAttribute(a.getSubAxisInfo());
        return success();
      })
      .Case([&](DimensionShardingAttr a) {
        code(DimensionSharding);
        list(a.getAxes());
        writer.writeOwnedBool(a.getIsClosed());
        writer.writeVarIntWithFlag(a.getPriority().value_or(0),
                                   a.getPriority().has_value());
        return success();
      })
      .Case([&](TensorShardingAttr a) {
        bool isSum = a.getUnreducedKind() == ReductionKind::Sum;
        code(a.getUnreducedAxes().empty() ? TensorSharding
             : isSum                      ? UnreducedSharding
                                          : OtherwiseUnreducedSharding);
        writer.writeAttribute(a.getMeshOrRef());
        list(a.getDimShardings());
        list(a.getReplicatedAxes());
        if (a.getUnreducedAxes().empty())
          return success();
        list(a.getUnreducedAxes());
        if (!isSum)
          writer.writeSignedVarInt(static_cast<int64_t>(a.getUnreducedKind()));
        return success();
      })
      .Case([&](TensorShardingPerValueAttr a) {
        bool anyUnreduced =
            llvm::any_of(a.getShardings(), [](TensorShardingAttr each) {
              return !each.getUnreducedAxes().empty();
            });
        code(anyUnreduced ? UnreducedPerValue : ShardingPerValue);
        list(a.getShardings());
        return success();
      })
      .Case([&](DimMappingAttr a) {
        code(DimMapping);
        writer.writeSignedVarInts(a.getFactorIndices());
        return success();
      })
      .Case([&](TensorMappingAttr a) {
        code(TensorMapping);
        list(a.getDimMappings());
        return success();
      })
      .Case([&](OpShardingRuleAttr a) {
        code(OpShardingRule);
        writer.writeSignedVarInts(a.getFactorSizes());
        list(a.getOperandMappings());
        list(a.getResultMappings());
        writer.writeSignedVarInts(a.getReductionFactors());
        writer.writeSignedVarInts(a.getNeedReplicationFactors());
        writer.writeSignedVarInts(a.getPermutationFactors());
        writer.writeSignedVarInts(a.getBlockedPropagationFactors());
        writer.writeOwnedBool(a.getIsCustom());
        return success();
      })
      .Case([&](AxisRefListAttr a) {
        code(AxisRefList);
        list(a.getValue());
        return success();
      })
      .Case([&](ListOfAxisRefListsAttr a) {
        code(ListOfAxisRefLists);
        list(a.getValue());
        return success();
      })
      .Case([&](AllToAllParamAttr a) {
        code(AllToAllParam);
        list(a.getAxes());
        writer.writeSignedVarInt(a.getSrcDim());
        writer.writeSignedVarInt(a.getTgtDim());
        return success();
      })
      .Case([&](AllToAllParamListAttr a) {
        code(AllToAllParamList);
        list(a.getValue());
        return success();
      })
      .Default(failure());
}

void shardc::sdy::addBytecode(SdyDialect *dialect) {
  dialect->addInterfaces<SdyBytecode>();
}
