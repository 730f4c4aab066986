//===- BooleanBlobs.cpp - Blobs of i1 from newer MLIR ---------------------===//
#include "shardc/Support/BooleanBlobs.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <optional>

using llvm::StringRef;

static constexpr StringRef kOpening = "dense<\"0x";

/// Number of elements of a type that starts `text` and has elements of i1:
/// `tensor<3x4xi1>` or `vector<...>`; nothing for other text.
static std::optional<uint64_t> countBooleans(StringRef text) {
  if (!text.consume_front("tensor<") && !text.consume_front("vector<"))
    return std::nullopt;
  uint64_t count = 1;
  while (!text.consume_front("i1>") && !text.consume_front("i1,")) {
    uint64_t size;
    if (text.consumeInteger(10, size) || !text.consume_front("x"))
      return std::nullopt;
    std::optional<uint64_t> product = llvm::checkedMulUnsigned(count, size);
    if (!product)
      return std::nullopt;
    count = *product;
  }
  return count;
}

/// Value of the byte of which the first digit is hex[2 * index].
static std::optional<unsigned> byteAt(StringRef hex, size_t index) {
  unsigned high = llvm::hexDigitValue(hex[2 * index]);
  unsigned low = llvm::hexDigitValue(hex[2 * index + 1]);
  if (high > 15 || low > 15)
    return std::nullopt;
  return high * 16 + low;
}

/// Overwrites the digits of one blob of `count` elements, `hex` in `text`, and
/// the blanks behind its closing quote.
static void repack(std::string &text, StringRef hex, uint64_t count) {
  size_t bytes = hex.size() / 2;
  if (hex.size() % 2 || count < 2 || (bytes != count && bytes != 1))
    return;
  // One byte for many elements is a splat.
  if (bytes == 1) {
    if (hex != "01")
      return;
    size_t begin = hex.data() - text.data();
    text.replace(begin, 2, "FF");
    return;
  }
  std::string packed;
  for (size_t first = 0; first < count; first += 8) {
    unsigned bits = 0;
    for (size_t i = first; i < count && i < first + 8; ++i) {
      std::optional<unsigned> byte = byteAt(hex, i);
      if (!byte || *byte > 1)
        return;
      bits |= *byte << (i - first);
    }
    packed.push_back(llvm::hexdigit(bits >> 4));
    packed.push_back(llvm::hexdigit(bits & 15));
  }
  size_t begin = hex.data() - text.data();
  packed.push_back('"');
  packed.append(hex.size() + 1 - packed.size(), ' ');
  text.replace(begin, packed.size(), packed);
}

std::string shardc::repackBooleanBlobs(StringRef input) {
  std::string text = input.str();
  StringRef view = text;
  for (size_t at = view.find(kOpening); at != StringRef::npos;
       at = view.find(kOpening, at)) {
    size_t begin = at + kOpening.size();
    size_t end = view.find('"', begin);
    if (end == StringRef::npos)
      break;
    at = end;
    StringRef rest = view.substr(end + 1);
    if (!rest.consume_front(">"))
      continue;
    rest = rest.ltrim();
    if (!rest.consume_front(":"))
      continue;
    if (std::optional<uint64_t> count = countBooleans(rest.ltrim()))
      repack(text, view.slice(begin, end), *count);
  }
  return text;
}
