//===- Index.cpp - What a checkpoint says of itself -----------------------===//

#include "Checkpoint/Index.h"
#include "shardrt/shardrt.h"
#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

using namespace shardrt;
using namespace shardrt::checkpoint;

//===----------------------------------------------------------------------===//
// Cells and blocks
//===----------------------------------------------------------------------===//

int64_t checkpoint::bytesOf(const Box &box, int64_t elementBytes) {
  for (const shardc::Interval &interval : box)
    elementBytes *= interval.size();
  return elementBytes;
}

bool checkpoint::isCountable(const std::vector<int64_t> &shape,
                             ElementType type) {
  if (shape.size() > 16)
    return false;
  // As if empty dims were not: products of some of the dims are counted too.
  int64_t bytes = elementBytes(type);
  for (int64_t size : shape)
    if (size < 0 ||
        __builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes))
      return false;
  return bytes <= int64_t(1) << 52;
}

bool checkpoint::isName(std::string_view name) {
  return !name.empty() && name.size() <= 4096 && name != "__metadata__" &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return c >= ' ' && c <= '~'; });
}

int64_t Value::bytes() const {
  int64_t bytes = elementBytes(type);
  for (int64_t size : shape)
    bytes *= size;
  return bytes;
}

int64_t Value::numCells() const {
  int64_t cells = 1;
  for (const std::vector<int64_t> &cut : cuts)
    cells *= static_cast<int64_t>(cut.size()) - 1;
  return cells;
}

Box Value::cell(int64_t number) const {
  Box box(cuts.size());
  for (size_t d = cuts.size(); d-- > 0;) {
    int64_t parts = static_cast<int64_t>(cuts[d].size()) - 1;
    box[d] = {cuts[d][number % parts], cuts[d][number % parts + 1]};
    number /= parts;
  }
  return box;
}

void Value::layBlocks(int64_t blockBytes) {
  firstBlock.assign(1, 0);
  for (int64_t i = 0, cells = numCells(); i < cells; ++i) {
    int64_t bytes = bytesOf(cell(i), elementBytes(type));
    firstBlock.push_back(firstBlock.back() +
                         (bytes + blockBytes - 1) / blockBytes);
  }
  blocks.assign(firstBlock.back(), Digest());
}

void Index::layOut() {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    int64_t wide = elementBytes(values[a].type),
            narrow = elementBytes(values[b].type);
    return wide != narrow ? wide > narrow : a < b;
  });
  int64_t offset = 0;
  for (size_t i : order) {
    values[i].offset = offset;
    offset += values[i].bytes();
  }
}

int64_t Index::dataBytes() const {
  int64_t bytes = 0;
  for (const Value &value : values)
    bytes += value.bytes();
  return bytes;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// How safetensors calls elements. Types that it, or its reader for NumPy, does
/// not know are stored as bytes; complex numbers as two parts.
static const char *safetensorsType(ElementType type) {
  switch (type) {
  case ElementType::I1:
    return "BOOL";
  case ElementType::I2:
  case ElementType::I4:
  case ElementType::I8:
    return "I8";
  case ElementType::I16:
    return "I16";
  case ElementType::I32:
    return "I32";
  case ElementType::I64:
    return "I64";
  case ElementType::UI16:
    return "U16";
  case ElementType::UI32:
    return "U32";
  case ElementType::UI64:
    return "U64";
  case ElementType::F16:
    return "F16";
  case ElementType::BF16:
    return "BF16";
  case ElementType::F32:
  case ElementType::Complex64:
    return "F32";
  case ElementType::F64:
  case ElementType::Complex128:
    return "F64";
  default:
    return "U8";
  }
}

static bool isComplex(ElementType type) {
  return type == ElementType::Complex64 || type == ElementType::Complex128;
}

static std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

static std::string list(const std::vector<int64_t> &numbers) {
  std::string text = "[";
  for (size_t i = 0; i < numbers.size(); ++i)
    text += (i ? "," : "") + std::to_string(numbers[i]);
  return text + "]";
}

std::string Index::header() const {
  std::string text =
      "{\"__metadata__\":{\"step\":" + quote(std::to_string(step)) + "}";
  for (const Value &value : values) {
    std::vector<int64_t> shape = value.shape;
    if (isComplex(value.type))
      shape.push_back(2);
    text += "," + quote(value.name) + ":{\"dtype\":\"" +
            safetensorsType(value.type) + "\",\"shape\":" + list(shape) +
            ",\"data_offsets\":" +
            list({value.offset, value.offset + value.bytes()}) + "}";
  }
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string length;
  for (int i = 0; i < 8; ++i)
    length += static_cast<char>(text.size() >> 8 * i);
  return length + text;
}

static std::string hex(const Digest &digest) {
  std::string text;
  for (uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string Index::text() const {
  std::string text = "{\"format\":" + std::to_string(format) +
                     ",\n\"step\":" + std::to_string(step) +
                     ",\n\"seed\":" + std::to_string(seed) +
                     ",\n\"ranks\":" + std::to_string(ranks) +
                     ",\n\"mesh\":" + quote(mesh) +
                     ",\n\"program\":" + quote(program) +
                     ",\n\"file\":\"state.safetensors\",\n\"block_bytes\":" +
                     std::to_string(blockBytes) + ",\n\"values\":[";
  for (size_t i = 0; i < values.size(); ++i) {
    const Value &value = values[i];
    text += std::string(i ? ",\n" : "\n") + "{\"name\":" + quote(value.name) +
            ",\"type\":" + quote(elementTypeName(value.type)) +
            ",\"shape\":" + list(value.shape) +
            ",\"offset\":" + std::to_string(value.offset) + ",\"cuts\":[";
    for (size_t d = 0; d < value.cuts.size(); ++d)
      text += (d ? "," : "") + list(value.cuts[d]);
    text += "],\"sha256\":[";
    for (size_t b = 0; b < value.blocks.size(); ++b)
      text += (b ? ",\n\"" : "\n\"") + hex(value.blocks[b]) + "\"";
    text += "]}";
  }
  return text + "]}\n";
}

namespace {
/// Takes the text of an index apart. The first thing that is not as it is
/// written stops it.
class Scanner {
public:
  explicit Scanner(std::string_view text) : text(text) {}

  bool expect(std::string_view literal) {
    if (!takes(literal))
      failed = true;
    return !failed;
  }
  /// Skips `literal` if it comes next.
  bool takes(std::string_view literal) {
    if (failed || text.substr(at, literal.size()) != literal)
      return false;
    at += literal.size();
    return true;
  }
  int64_t number() {
    int64_t value = 0;
    size_t begin = at;
    while (!failed && at < text.size() && text[at] >= '0' && text[at] <= '9') {
      failed = __builtin_mul_overflow(value, 10, &value) ||
               __builtin_add_overflow(value, text[at] - '0', &value);
      ++at;
    }
    failed |= at == begin || (at - begin > 1 && text[begin] == '0');
    return failed ? 0 : value;
  }
  std::string string() {
    std::string value;
    expect("\"");
    while (!failed && !takes("\"")) {
      if (takes("\\") && at < text.size() && text[at] != '"' &&
          text[at] != '\\')
        failed = true;
      failed |= at >= text.size() || text[at] < ' ' || text[at] > '~' ||
                value.size() >= 4096;
      if (!failed)
        value += text[at++];
    }
    return value;
  }
  std::vector<int64_t> numbers() {
    std::vector<int64_t> values;
    expect("[");
    if (takes("]"))
      return values;
    do
      values.push_back(number());
    while (takes(","));
    expect("]");
    return values;
  }
  Digest digest() {
    Digest digest = {};
    expect("\"");
    for (uint8_t &byte : digest)
      for (int shift : {4, 0}) {
        const char *digits = "0123456789abcdef";
        const char *found = failed || at >= text.size() || text[at] == 0
                                ? nullptr
                                : std::strchr(digits, text[at]);
        failed |= !found;
        if (found)
          byte |= (found - digits) << shift;
        ++at;
      }
    expect("\"");
    return digest;
  }

  std::string_view text;
  size_t at = 0;
  bool failed = false;
};
} // namespace

/// Whether `cuts` cut every dim of `shape`.
static bool areCuts(const std::vector<std::vector<int64_t>> &cuts,
                    const std::vector<int64_t> &shape) {
  if (cuts.size() != shape.size())
    return false;
  for (size_t d = 0; d < cuts.size(); ++d)
    if (cuts[d].empty() || cuts[d].front() != 0 || cuts[d].back() != shape[d] ||
        std::adjacent_find(cuts[d].begin(), cuts[d].end(),
                           std::greater_equal<>()) != cuts[d].end())
      return false;
  return true;
}

Status Index::parse(std::string_view text, const std::string &name,
                    Index &index) {
  Scanner in(text);
  auto refuse = [&](const std::string &what) {
    return Status{SHARDRT_IO, name + ": " + what};
  };
  auto lost = [&] {
    return refuse("byte " + std::to_string(std::min(in.at, text.size())) +
                  " is not what stands in the index of a checkpoint there");
  };
  in.expect("{\"format\":");
  int64_t version = in.number();
  if (in.failed)
    return lost();
  if (version != format)
    return refuse("has format " + std::to_string(version) +
                  ", this version reads format " + std::to_string(format));
  in.expect(",\n\"step\":");
  index.step = in.number();
  in.expect(",\n\"seed\":");
  index.seed = in.number();
  in.expect(",\n\"ranks\":");
  index.ranks = in.number();
  in.expect(",\n\"mesh\":");
  index.mesh = in.string();
  in.expect(",\n\"program\":");
  index.program = in.string();
  in.expect(",\n\"file\":\"state.safetensors\",\n\"block_bytes\":");
  index.blockBytes = in.number();
  in.expect(",\n\"values\":[");
  if (in.failed)
    return lost();
  if (index.blockBytes < 4096 || index.blockBytes > int64_t(1) << 30)
    return refuse("blocks of " + std::to_string(index.blockBytes) +
                  " bytes; from 4096 to 2^30 are read");
  std::set<std::string> names;
  int64_t total = 0;
  while (!in.failed && !in.takes("]}\n")) {
    if (!in.expect(index.values.empty() ? "\n{\"name\":" : ",\n{\"name\":"))
      break;
    Value value;
    value.name = in.string();
    in.expect(",\"type\":");
    std::string type = in.string();
    in.expect(",\"shape\":");
    value.shape = in.numbers();
    in.expect(",\"offset\":");
    value.offset = in.number();
    in.expect(",\"cuts\":[");
    while (!in.failed && !in.takes("]")) {
      if (!value.cuts.empty())
        in.expect(",");
      value.cuts.push_back(in.numbers());
    }
    in.expect(",\"sha256\":[");
    if (in.failed)
      return lost();
    std::string called = "value '" + value.name + "'";
    if (!isName(value.name) || !names.insert(value.name).second)
      return refuse(called + ": a name that is not one, or stands twice");
    std::optional<ElementType> known = elementTypeNamed(type);
    if (!known)
      return refuse(called + ": there is no element type '" + type + "'");
    value.type = *known;
    if (!isCountable(value.shape, value.type) ||
        __builtin_add_overflow(total, value.bytes(), &total))
      return refuse(called +
                    ": a shape that is too large, or has more than 16 dims");
    if (!areCuts(value.cuts, value.shape))
      return refuse(called + ": its cuts do not cut its shape");
    // The rest of the text describes every block.
    int64_t most = static_cast<int64_t>((text.size() - in.at) / 67), cells = 1;
    for (const std::vector<int64_t> &cut : value.cuts)
      if (__builtin_mul_overflow(cells, int64_t(cut.size()) - 1, &cells))
        cells = INT64_MAX;
    if (cells > most || value.bytes() / index.blockBytes > most)
      return refuse(called + ": fewer digests than it has blocks");
    value.layBlocks(index.blockBytes);
    if (static_cast<int64_t>(value.blocks.size()) > most)
      return refuse(called + ": fewer digests than it has blocks");
    for (Digest &digest : value.blocks) {
      in.expect(&digest == value.blocks.data() ? "\n" : ",\n");
      digest = in.digest();
    }
    in.expect("]}");
    index.values.push_back(std::move(value));
  }
  if (in.failed || in.at != text.size())
    return lost();
  std::vector<int64_t> offsets;
  for (const Value &value : index.values)
    offsets.push_back(value.offset);
  index.layOut();
  for (size_t i = 0; i < offsets.size(); ++i)
    if (offsets[i] != index.values[i].offset)
      return refuse("value '" + index.values[i].name + "' begins at byte " +
                    std::to_string(offsets[i]) + ", where byte " +
                    std::to_string(index.values[i].offset) + " is its place");
  return {};
}
