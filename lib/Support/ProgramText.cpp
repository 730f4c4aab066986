//===- ProgramText.cpp - Make a program ready for MLIR's parser -----------===//
#include "shardc/Support/ProgramText.h"

#include "shardc/Support/BooleanBlobs.h"
#include "shardc/Support/TextLimits.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

std::optional<StringRef> shardc::portableVersion(StringRef program) {
  if (!program.consume_front(kBytecodeMagic))
    return std::nullopt;
  // The version of bytecode, a byte here, then who wrote it, to a zero.
  StringRef producer = program.drop_front(std::min<size_t>(1, program.size()))
                           .take_until([](char c) { return c == 0; });
  if (!producer.consume_front("StableHLO_v"))
    return std::nullopt;
  return producer.take_front(40);
}

namespace {
/// Reads numbers of a flatbuffer; `ok` is false once one is outside.
class FlatBuffer {
public:
  explicit FlatBuffer(StringRef bytes) : bytes(bytes) {}
  bool ok = true;

  template <typename T> uint64_t number(uint64_t at) {
    ok = ok && at <= bytes.size() && bytes.size() - at >= sizeof(T);
    return ok ? support::endian::read<T, endianness::little>(bytes.data() + at)
              : 0;
  }
  /// Where that begins which the offset at `at` says.
  uint64_t follow(uint64_t at) { return at + number<uint32_t>(at); }
  /// The offset of field `index` of the table at `table`; 0 if it is not there.
  uint64_t field(uint64_t table, uint64_t index) {
    uint64_t fields = table - number<int32_t>(table);
    uint64_t entry = 4 + 2 * index;
    if (entry >= number<uint16_t>(fields))
      return 0;
    uint64_t offset = number<uint16_t>(fields + entry);
    return offset == 0 ? 0 : table + offset;
  }
  /// The bytes of the vector at `at`.
  StringRef vector(uint64_t at) {
    uint64_t length = number<uint32_t>(at);
    ok = ok && bytes.size() - at - sizeof(uint32_t) >= length;
    return ok ? bytes.substr(at + sizeof(uint32_t), length) : StringRef();
  }

private:
  StringRef bytes;
};
} // namespace

std::optional<StringRef> shardc::exportedModule(StringRef bytes) {
  // In the schema of jax.export; fields are only ever added to it.
  constexpr uint64_t kModule = 13;
  FlatBuffer buffer(bytes);
  uint64_t field = buffer.field(buffer.follow(0), kModule);
  if (!buffer.ok || field == 0)
    return std::nullopt;
  StringRef module = buffer.vector(buffer.follow(field));
  if (!buffer.ok || !module.starts_with(kBytecodeMagic))
    return std::nullopt;
  return module;
}

Expected<std::unique_ptr<MemoryBuffer>>
shardc::prepareProgram(std::unique_ptr<MemoryBuffer> buffer) {
  StringRef text = buffer->getBuffer(), name = buffer->getBufferIdentifier();
  if (text.starts_with(kBytecodeMagic))
    return std::move(buffer);
  if (std::optional<StringRef> module = exportedModule(text))
    return MemoryBuffer::getMemBufferCopy(*module, name);
  if (std::optional<LimitViolation> found = checkLimits(text))
    return createStringError(name + ":" + Twine(found->line) + ":" +
                             Twine(found->column) +
                             ": error: " + found->message);
  return MemoryBuffer::getMemBufferCopy(repackBooleanBlobs(text), name);
}
