//===- ProgramText.cpp - Make a program ready for MLIR's parser -----------===//
#include "shardc/Support/ProgramText.h"

#include "shardc/Support/BooleanBlobs.h"
#include "shardc/Support/TextLimits.h"

using namespace llvm;

Expected<std::unique_ptr<MemoryBuffer>>
shardc::prepareProgram(std::unique_ptr<MemoryBuffer> buffer) {
  StringRef text = buffer->getBuffer(), name = buffer->getBufferIdentifier();
  if (text.starts_with("ML\xEF\x52"))
    return std::move(buffer);
  if (std::optional<LimitViolation> found = checkLimits(text))
    return createStringError(name + ":" + Twine(found->line) + ":" +
                             Twine(found->column) +
                             ": error: " + found->message);
  return MemoryBuffer::getMemBufferCopy(repackBooleanBlobs(text), name);
}
