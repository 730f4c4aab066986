//===- TextLimits.cpp - Limits on program text ----------------------------===//
#include "shardc/Support/TextLimits.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace shardc;
using llvm::StringRef;

/// Bytes of the widest element, complex<f64>; sizes are counted in it.
static constexpr int64_t kWidestElement = 16;

static bool isNameChar(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.';
}

namespace {
/// One pass over the text.
class Scanner {
public:
  explicit Scanner(StringRef text) : text(text) {}

  std::optional<LimitViolation> run() {
    while (pos < text.size() && !violation)
      step();
    return violation;
  }

private:
  void step() {
    char c = text[pos];
    if (c == '/' && text.substr(pos).starts_with("//")) {
      pos = std::min(text.find('\n', pos), text.size());
    } else if (c == '"') {
      skipString(pos > 0 && text[pos - 1] == '@');
    } else if (isNameChar(c)) {
      scanName();
    } else if ((c == '-' || c == '=') &&
               text.substr(pos + 1).starts_with(">")) {
      pos += 2; // -> and =>
    } else if ((c == '<' || c == '>') &&
               text.substr(pos + 1).starts_with("=")) {
      pos += 2; // <= and >=
    } else {
      if (StringRef("([{<").contains(c) && ++depth > kMaxNesting)
        return fail(pos, "nesting is deeper than " +
                             std::to_string(kMaxNesting) +
                             " brackets; flatten it");
      if (StringRef(")]}>").contains(c) && depth > 0)
        --depth;
      ++pos;
    }
  }

  /// To behind the closing quote; a symbol's string is a name.
  void skipString(bool isSymbol) {
    size_t begin = pos++;
    while (pos < text.size() && text[pos] != '"')
      pos += text[pos] == '\\' ? 2 : 1;
    pos = std::min(pos + 1, text.size());
    if (isSymbol && pos - begin > kMaxNameLength + 2)
      fail(begin,
           "name is longer than " + std::to_string(kMaxNameLength) + " bytes");
  }

  void scanName() {
    size_t begin = pos;
    while (pos < text.size() && isNameChar(text[pos]))
      ++pos;
    StringRef name = text.slice(begin, pos);
    if (name.size() > kMaxNameLength)
      return fail(begin, "name is longer than " +
                             std::to_string(kMaxNameLength) + " bytes");
    if ((name == "tensor" || name == "memref" || name == "vector") &&
        text.substr(pos).starts_with("<")) {
      ++pos;
      if (++depth > kMaxNesting)
        return fail(begin, "nesting is deeper than " +
                               std::to_string(kMaxNesting) +
                               " brackets; flatten it");
      scanShape(begin);
    }
  }

  /// `3x?x4x` in front of an element type; [4] in a vector is left alone.
  void scanShape(size_t begin) {
    size_t dims = 0;
    int64_t bytes = kWidestElement;
    bool isEmpty = false;
    while (pos < text.size()) {
      StringRef rest = text.substr(pos);
      size_t before = rest.size();
      uint64_t size = 1;
      if (!rest.consume_front("?")) {
        if (rest.empty() || !llvm::isDigit(rest.front()))
          break;
        if (rest.consumeInteger(10, size) || size > INT64_MAX)
          return fail(pos, "size of a dim does not fit 63 bits");
      }
      if (!rest.consume_front("x"))
        break;
      pos += before - rest.size();
      if (++dims > kMaxDims)
        return fail(begin, "tensor has more than " + std::to_string(kMaxDims) +
                               " dims");
      isEmpty |= size == 0;
      std::optional<int64_t> product =
          isEmpty ? 0 : llvm::checkedMul(bytes, static_cast<int64_t>(size));
      if (!product)
        return fail(
            begin,
            "tensor has so many elements that their number of bytes overflows "
            "63 bits");
      bytes = *product;
    }
  }

  void fail(size_t offset, std::string message) {
    StringRef before = text.take_front(offset);
    size_t newline = before.rfind('\n');
    violation = LimitViolation{
        offset, static_cast<unsigned>(before.count('\n') + 1),
        static_cast<unsigned>(newline == StringRef::npos ? offset + 1
                                                         : offset - newline),
        std::move(message)};
  }

  StringRef text;
  size_t pos = 0;
  size_t depth = 0;
  std::optional<LimitViolation> violation;
};
} // namespace

std::optional<LimitViolation> shardc::checkLimits(StringRef text) {
  return Scanner(text).run();
}
