//===- ProgramText.cpp - Make a program ready for MLIR's parser -----------===//
#include "shardc/Support/ProgramText.h"

#include "shardc/Support/BooleanBlobs.h"
#include "shardc/Support/TextLimits.h"
#include "llvm/Config/llvm-config.h"

using namespace llvm;

Expected<std::unique_ptr<MemoryBuffer>>
shardc::prepareProgram(std::unique_ptr<MemoryBuffer> buffer) {
  StringRef text = buffer->getBuffer(), name = buffer->getBufferIdentifier();
  if (text.starts_with("ML\xEF\x52")) {
    // The version, a byte here, then who wrote it, to a zero.
    StringRef producer = text.drop_front(std::min<size_t>(5, text.size()))
                             .take_until([](char c) { return c == 0; });
    if (producer.starts_with("StableHLO_v"))
      return createStringError(
          name + ":0:0: error: unsupported: bytecode of " +
          producer.take_front(40) +
          ", a portable artifact; expected text, or MLIR's bytecode; "
          "python3 -m shardc FILE writes it as text");
    return std::move(buffer);
  }
  if (std::optional<LimitViolation> found = checkLimits(text))
    return createStringError(name + ":" + Twine(found->line) + ":" +
                             Twine(found->column) +
                             ": error: " + found->message);
  return MemoryBuffer::getMemBufferCopy(repackBooleanBlobs(text), name);
}
