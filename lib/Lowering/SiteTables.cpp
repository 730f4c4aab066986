//===- SiteTables.cpp - Site tables as attributes of a module -------------===//
#include "SiteTables.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace shardc;

bool shardc::hasSites(ModuleOp module) {
  return module->hasAttrOfType<DenseI64ArrayAttr>(kSiteWordsAttrName) &&
         module->hasAttrOfType<DenseI8ArrayAttr>(kSiteStringsAttrName);
}

FailureOr<shardrt::SiteTable> shardc::readSites(ModuleOp module) {
  ArrayRef<int64_t> words =
      module->getAttrOfType<DenseI64ArrayAttr>(kSiteWordsAttrName).asArrayRef();
  ArrayRef<int8_t> strings =
      module->getAttrOfType<DenseI8ArrayAttr>(kSiteStringsAttrName)
          .asArrayRef();
  shardrt::SiteTable table;
  std::string error = shardrt::decodeSites(
      words, {reinterpret_cast<const char *>(strings.data()), strings.size()},
      table);
  if (!error.empty())
    return module.emitError() << "has damaged site tables: " << error;
  return table;
}

std::optional<shardrt::ElementType> shardc::elementTypeOf(Type type) {
  std::string spelling;
  llvm::raw_string_ostream(spelling) << type;
#define SHARDRT_MATCH(NAME, CODE, SPELLING, BYTES)                             \
  if (spelling == SPELLING)                                                    \
    return shardrt::ElementType::NAME;
  SHARDRT_FOR_EACH_ELEMENT_TYPE(SHARDRT_MATCH)
#undef SHARDRT_MATCH
  return std::nullopt;
}

void shardc::writeSites(ModuleOp module, const shardrt::SiteTable &table) {
  shardrt::EncodedSites encoded = shardrt::encodeSites(table);
  Builder builder(module.getContext());
  module->setAttr(kSiteWordsAttrName,
                  builder.getDenseI64ArrayAttr(encoded.words));
  // A string with NULs in it: as bytes, so that it prints.
  module->setAttr(kSiteStringsAttrName,
                  builder.getDenseI8ArrayAttr(SmallVector<int8_t>(
                      encoded.strings.begin(), encoded.strings.end())));
}
