//===- ProgramText.cpp - Make a program ready for MLIR's parser -----------===//
#include "shardc/Support/ProgramText.h"

#include "shardc/Support/BooleanBlobs.h"
#include "shardc/Support/TextLimits.h"

using namespace llvm;

std::optional<StringRef> shardc::portableVersion(StringRef program) {
  if (!program.consume_front(kBytecodeMagic))
    return std::nullopt;
  // The version of bytecode, a byte here, then who wrote it, to a zero.
  StringRef producer =
      program.drop_front(1).take_until([](char c) { return c == 0; });
  if (!producer.consume_front("StableHLO_v"))
    return std::nullopt;
  return producer.take_front(40);
}

Expected<std::unique_ptr<MemoryBuffer>>
shardc::prepareProgram(std::unique_ptr<MemoryBuffer> buffer) {
  StringRef text = buffer->getBuffer(), name = buffer->getBufferIdentifier();
  if (text.starts_with(kBytecodeMagic))
    return std::move(buffer);
  if (std::optional<LimitViolation> found = checkLimits(text))
    return createStringError(name + ":" + Twine(found->line) + ":" +
                             Twine(found->column) +
                             ": error: " + found->message);
  return MemoryBuffer::getMemBufferCopy(repackBooleanBlobs(text), name);
}
