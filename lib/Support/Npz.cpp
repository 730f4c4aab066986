//===- Npz.cpp - NumPy array files ----------------------------------------===//
//
// .npy: "\x93NUMPY", version, header length, a Python dict as text, the data.
// .npz: a zip archive of .npy files. Its directory is at the end; each
// entry of it points to a local header before the member's bytes.
//
//===----------------------------------------------------------------------===//

#include "shardc/Support/Npz.h"
#include "shardc/Support/InputFile.h"
#include "shardc/Support/OutputFile.h"
#include "shardc/Support/TextLimits.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <zlib.h>

using namespace llvm;
using namespace shardc;

static constexpr uint64_t kMaxHeaderBytes = 64 * 1024;
static constexpr size_t kMaxNameBytes = 4096;
/// No deflate stream grows by more than this.
static constexpr uint64_t kMaxInflation = 1032;

template <typename... Args>
static Error makeError(StringRef file, const char *format, Args &&...args) {
  return createStringError(file + ": " +
                           formatv(format, std::forward<Args>(args)...).str());
}

static Error atByte(StringRef file, uint64_t offset, const Twine &what) {
  return createStringError(file + ": at byte " + Twine(offset) + ": " + what);
}

//===----------------------------------------------------------------------===//
// .npy
//===----------------------------------------------------------------------===//

std::string NpyType::str() const {
  return formatv("{0}{1}{2}", bytes == 1 ? "|" : "<", kind, bytes).str();
}

namespace {

/// What the header of a .npy file says.
struct NpyHeader {
  NpyType type;
  bool bigEndian = false;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
  uint64_t dataOffset = 0; ///< from the file's first byte
  uint64_t dataBytes = 0;
};

/// Reads the header's dict: three keys in any order, values of the kinds that
/// NumPy writes.
class HeaderParser {
public:
  HeaderParser(StringRef text, uint64_t offset, StringRef file)
      : text(text), offset(offset), file(file) {}

  Expected<NpyHeader> parse() {
    NpyHeader header;
    if (!take('{'))
      return fail("expected a dict");
    while (!take('}')) {
      Expected<StringRef> key = parseString();
      if (!key)
        return key.takeError();
      if (!take(':'))
        return fail("expected ':' after key '" + *key + "'");
      if (Error error = parseValue(*key, header))
        return std::move(error);
      if (!take(',') && !peek('}'))
        return fail("expected ',' or '}'");
    }
    if (!hasType || !hasOrder || !hasShape)
      return fail("expected the keys 'descr', 'fortran_order' and 'shape'");
    return header;
  }

private:
  Error fail(const Twine &what) {
    return atByte(file, offset + at, "array header: " + what);
  }
  void skipSpace() {
    while (at < text.size() && isSpace(text[at]))
      ++at;
  }
  bool peek(char c) {
    skipSpace();
    return at < text.size() && text[at] == c;
  }
  bool take(char c) {
    if (!peek(c))
      return false;
    ++at;
    return true;
  }

  Expected<StringRef> parseString() {
    skipSpace();
    char quote = at < text.size() ? text[at] : 0;
    if (quote != '\'' && quote != '"')
      return fail("expected a string");
    size_t end = text.find(quote, at + 1);
    if (end == StringRef::npos)
      return fail("a string does not end");
    StringRef value = text.slice(at + 1, end);
    at = end + 1;
    return value;
  }

  Error parseValue(StringRef key, NpyHeader &header) {
    if (key == "descr" && !std::exchange(hasType, true))
      return parseType(header);
    if (key == "fortran_order" && !std::exchange(hasOrder, true))
      return parseBool(header.fortranOrder);
    if (key == "shape" && !std::exchange(hasShape, true))
      return parseShape(header.shape);
    return fail("unexpected key '" + key + "'");
  }

  Error parseBool(bool &value) {
    skipSpace();
    StringRef rest = text.substr(at);
    if (!rest.starts_with("True") && !rest.starts_with("False"))
      return fail("expected True or False");
    value = rest.starts_with("True");
    at += value ? 4 : 5;
    return Error::success();
  }

  Error parseType(NpyHeader &header) {
    if (peek('['))
      return fail("arrays of records are not supported");
    Expected<StringRef> descr = parseString();
    if (!descr)
      return descr.takeError();
    StringRef rest = *descr;
    if (rest.contains('O'))
      return fail("array of Python objects ('" + *descr +
                  "') refused: reading it could run code; save plain numbers");
    char order = rest.empty() ? 0 : rest.front();
    if (StringRef("<>|=").contains(order))
      rest = rest.drop_front();
    if (rest.empty())
      return fail("empty element type");
    header.bigEndian = order == '>';
    header.type.kind = rest.front();
    auto supported = [&](std::initializer_list<int64_t> sizes) {
      return is_contained(sizes, header.type.bytes);
    };
    bool ok = !rest.drop_front().getAsInteger(10, header.type.bytes);
    switch (header.type.kind) {
    case 'b':
      ok = ok && supported({1});
      break;
    case 'i':
    case 'u':
      ok = ok && supported({1, 2, 4, 8});
      break;
    case 'f':
      // NumPy has no '<f1': ml_dtypes writes float8_e5m2 so.
      ok = ok && supported({1, 2, 4, 8});
      break;
    case 'c':
      ok = ok && supported({8, 16});
      break;
    case 'V':
      ok = ok && supported({1, 2});
      break;
    default:
      ok = false;
    }
    if (!ok)
      return fail("element type '" + *descr + "' is not supported");
    return Error::success();
  }

  Error parseShape(std::vector<int64_t> &shape) {
    if (!take('('))
      return fail("expected the shape as a tuple");
    while (!take(')')) {
      skipSpace();
      StringRef digits = text.substr(at).take_while(isDigit);
      int64_t size;
      if (digits.empty() || digits.getAsInteger(10, size))
        return fail("expected a size");
      at += digits.size();
      shape.push_back(size);
      if (shape.size() > kMaxDims)
        return fail("more than " + Twine(kMaxDims) + " dims");
      if (!take(',') && !peek(')'))
        return fail("expected ',' or ')' in the shape");
    }
    return Error::success();
  }

  StringRef text;
  uint64_t offset;
  StringRef file;
  size_t at = 0;
  bool hasType = false, hasOrder = false, hasShape = false;
};

} // namespace

/// Reads the header of a .npy file out of its first bytes (all of it, or
/// enough).
static Expected<NpyHeader> parseHeader(ArrayRef<char> bytes, StringRef file) {
  if (bytes.size() < 10 || StringRef(bytes.data(), 6) != "\x93NUMPY")
    return atByte(file, 0, "not a .npy array");
  unsigned version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    return atByte(file, 6,
                  "format version " + Twine(version) + ", expected 1, 2 or 3");
  uint64_t start = version == 1 ? 10 : 12;
  if (bytes.size() < start)
    return atByte(file, bytes.size(), "the file ends inside the array header");
  uint64_t length = version == 1 ? support::endian::read16le(bytes.data() + 8)
                                 : support::endian::read32le(bytes.data() + 8);
  if (length > kMaxHeaderBytes)
    return atByte(file, 8,
                  "array header of " + Twine(length) + " bytes, at most " +
                      Twine(kMaxHeaderBytes) + " are read");
  if (bytes.size() - start < length)
    return atByte(file, bytes.size(), "the file ends inside the array header");
  Expected<NpyHeader> header =
      HeaderParser(StringRef(bytes.data() + start, length), start, file)
          .parse();
  if (!header)
    return header.takeError();
  header->dataOffset = start + length;
  bool empty = is_contained(header->shape, 0);
  uint64_t total = header->type.bytes;
  for (int64_t size : header->shape) {
    bool overflow = false;
    total = SaturatingMultiply(total, static_cast<uint64_t>(size), &overflow);
    if (!empty && (overflow || total > static_cast<uint64_t>(INT64_MAX)))
      return atByte(file, start, "the array's size overflows");
  }
  header->dataBytes = empty ? 0 : total;
  return header;
}

static void swapBytes(NpyArray &array) {
  int64_t width =
      array.type.kind == 'c' ? array.type.bytes / 2 : array.type.bytes;
  for (size_t i = 0; i + width <= array.data.size(); i += width)
    std::reverse(array.data.begin() + i, array.data.begin() + i + width);
}

/// Makes column-major data row-major.
static void transposeFortran(NpyArray &array) {
  int64_t bytes = array.type.bytes, dims = array.shape.size();
  std::vector<char> out(array.data.size());
  std::vector<int64_t> strides(dims, 1), index(dims, 0);
  for (int64_t d = 1; d < dims; ++d)
    strides[d] = strides[d - 1] * array.shape[d - 1];
  for (size_t to = 0; to < out.size(); to += bytes) {
    int64_t from = 0;
    for (int64_t d = 0; d < dims; ++d)
      from += index[d] * strides[d];
    std::copy_n(array.data.begin() + from * bytes, bytes, out.begin() + to);
    for (int64_t d = dims - 1; d >= 0 && ++index[d] == array.shape[d]; --d)
      index[d] = 0;
  }
  array.data = std::move(out);
}

/// Puts data that was read as it is in the file into our order.
static void normalize(NpyArray &array, const NpyHeader &header) {
  if (header.bigEndian)
    swapBytes(array);
  if (header.fortranOrder && array.shape.size() > 1)
    transposeFortran(array);
}

/// The array of a .npy file; its bytes stay in `file`, if that is not null and
/// they are as they are in memory.
static Expected<NpyArray> arrayOf(ArrayRef<char> bytes, StringRef name,
                                  std::shared_ptr<const MemoryBuffer> file) {
  Expected<NpyHeader> header = parseHeader(bytes, name);
  if (!header)
    return header.takeError();
  uint64_t present = bytes.size() - header->dataOffset;
  if (present != header->dataBytes)
    return atByte(name, header->dataOffset,
                  "the header promises " + Twine(header->dataBytes) +
                      " bytes of data, the file has " + Twine(present));
  NpyArray array{header->type, header->shape, {}};
  ArrayRef<char> data = bytes.drop_front(header->dataOffset);
  bool isAsInMemory = !(header->bigEndian && header->type.bytes > 1) &&
                      !(header->fortranOrder && header->shape.size() > 1);
  if (file && isAsInMemory) {
    array.file = std::move(file);
    array.inFile = data;
    return array;
  }
  array.data.assign(data.begin(), data.end());
  normalize(array, *header);
  return array;
}

Expected<NpyArray> shardc::parseNpy(ArrayRef<char> bytes, StringRef name) {
  return arrayOf(bytes, name, nullptr);
}

static Expected<std::unique_ptr<MemoryBuffer>> readFile(StringRef path) {
  return readInputFile(path, /*isText=*/false);
}

Expected<NpyArray> shardc::readNpy(StringRef path, bool inPlace) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readFile(path);
  if (!buffer)
    return buffer.takeError();
  std::shared_ptr<const MemoryBuffer> file = std::move(*buffer);
  ArrayRef<char> bytes(file->getBufferStart(), file->getBufferSize());
  return arrayOf(bytes, path, inPlace ? file : nullptr);
}

//===----------------------------------------------------------------------===//
// .npz: reading
//===----------------------------------------------------------------------===//

namespace {

/// Little-endian fields of a range of a file, each access checked.
class FieldReader {
public:
  FieldReader(ArrayRef<char> bytes, uint64_t at) : bytes(bytes), at(at) {}
  bool has(uint64_t count) const {
    return at <= bytes.size() && bytes.size() - at >= count;
  }
  uint64_t position() const { return at; }
  void skip(uint64_t count) { at += count; }
  uint16_t u16() { return support::endian::read16le(advance(2)); }
  uint32_t u32() { return support::endian::read32le(advance(4)); }
  uint64_t u64() { return support::endian::read64le(advance(8)); }
  StringRef text(uint64_t count) { return StringRef(advance(count), count); }

private:
  const char *advance(uint64_t count) {
    const char *field = bytes.data() + at;
    at += count;
    return field;
  }
  ArrayRef<char> bytes;
  uint64_t at;
};

} // namespace

static constexpr uint32_t kLocalHeader = 0x04034b50;
static constexpr uint32_t kDirectoryEntry = 0x02014b50;
static constexpr uint32_t kDirectoryEnd = 0x06054b50;
static constexpr uint32_t kDirectoryEnd64 = 0x06064b50;
static constexpr uint32_t kDirectoryEnd64Locator = 0x07064b50;

NpzArchive::NpzArchive() = default;
NpzArchive::NpzArchive(NpzArchive &&) = default;
NpzArchive &NpzArchive::operator=(NpzArchive &&) = default;
NpzArchive::~NpzArchive() = default;

Expected<NpzArchive> NpzArchive::open(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readFile(path);
  if (!buffer)
    return buffer.takeError();
  return parse(std::move(*buffer), path);
}

Expected<NpzArchive> NpzArchive::parse(std::unique_ptr<MemoryBuffer> buffer,
                                       StringRef name) {
  NpzArchive archive;
  archive.path = name.str();
  archive.buffer = std::move(buffer);
  if (Error error = archive.readDirectory())
    return std::move(error);
  return std::move(archive);
}

static ArrayRef<char> bytesOf(const MemoryBuffer &buffer) {
  return ArrayRef<char>(buffer.getBufferStart(), buffer.getBufferSize());
}

Error NpzArchive::readDirectory() {
  ArrayRef<char> bytes = bytesOf(*buffer);
  // The end record is 22 bytes and a comment of up to 65535.
  uint64_t end = bytes.size() < 22 ? 0 : bytes.size() - 22;
  uint64_t lowest = end < 65535 ? 0 : end - 65535;
  bool found = false;
  for (uint64_t at = end + 1; bytes.size() >= 22 && at-- > lowest;)
    if (support::endian::read32le(bytes.data() + at) == kDirectoryEnd) {
      end = at;
      found = true;
      break;
    }
  if (!found)
    return makeError(
        path,
        "not an .npz archive, or cut off: no zip directory in its {0} bytes",
        bytes.size());
  FieldReader fields(bytes, end + 10);
  uint64_t count = fields.u16();
  uint64_t size = fields.u32();
  uint64_t start = fields.u32();
  if (count == 0xffff || size == 0xffffffff || start == 0xffffffff) {
    if (end < 20 || support::endian::read32le(bytes.data() + end - 20) !=
                        kDirectoryEnd64Locator)
      return atByte(path, end, "zip64 directory locator is missing");
    uint64_t end64 = FieldReader(bytes, end - 20 + 8).u64();
    FieldReader fields64(bytes, end64);
    if (!fields64.has(56) || fields64.u32() != kDirectoryEnd64)
      return atByte(path, end64, "no zip64 directory here");
    fields64.skip(28);
    count = fields64.u64();
    size = fields64.u64();
    start = fields64.u64();
  }
  if (start > end || size > end - start)
    return atByte(path, end,
                  "the zip directory is said to be outside the file");

  FieldReader entries(bytes.take_front(start + size), start);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t at = entries.position();
    if (!entries.has(46) || entries.u32() != kDirectoryEntry)
      return atByte(path, at,
                    "entry " + Twine(i) + " of the zip directory is damaged");
    Member member;
    entries.skip(4);
    uint16_t flags = entries.u16(), method = entries.u16();
    entries.skip(4);
    member.checksum = entries.u32();
    member.storedSize = entries.u32();
    member.size = entries.u32();
    uint16_t nameBytes = entries.u16(), extraBytes = entries.u16(),
             commentBytes = entries.u16();
    entries.skip(8);
    member.headerOffset = entries.u32();
    if (!entries.has(uint64_t(nameBytes) + extraBytes + commentBytes))
      return atByte(path, at,
                    "entry " + Twine(i) + " of the zip directory is cut off");
    if (nameBytes > kMaxNameBytes)
      return atByte(path, at,
                    "member name of " + Twine(nameBytes) + " bytes, at most " +
                        Twine(kMaxNameBytes) + " are read");
    StringRef name = entries.text(nameBytes);
    member.name = (name.ends_with(".npy") ? name.drop_back(4) : name).str();
    uint64_t extraEnd = entries.position() + extraBytes;
    while (entries.position() + 4 <= extraEnd) {
      uint16_t tag = entries.u16(), length = entries.u16();
      uint64_t fieldEnd = entries.position() + length;
      if (fieldEnd > extraEnd)
        break;
      if (tag == 1) // zip64: those of the three that did not fit, in this order
        for (uint64_t *value :
             {&member.size, &member.storedSize, &member.headerOffset})
          if (*value == 0xffffffff && entries.position() + 8 <= fieldEnd)
            *value = entries.u64();
      entries.skip(fieldEnd - entries.position());
    }
    entries.skip(extraEnd - entries.position() + commentBytes);
    if (flags & 1)
      return atByte(path, at, "member '" + name + "' is encrypted");
    if (method != 0 && method != 8)
      return atByte(path, at,
                    "member '" + name + "' uses compression method " +
                        Twine(method) +
                        ", expected 0 (stored) or 8 (deflated)");
    member.deflated = method == 8;
    if (contains(member.name))
      return atByte(path, at, "member '" + name + "' occurs twice");
    members.push_back(std::move(member));
  }
  return Error::success();
}

std::vector<std::string> NpzArchive::names() const {
  std::vector<std::string> names;
  for (const Member &member : members)
    names.push_back(member.name);
  return names;
}

bool NpzArchive::contains(StringRef name) const {
  return any_of(members,
                [&](const Member &member) { return member.name == name; });
}

/// Inflates `in` (a raw deflate stream) to exactly `size` bytes. Returns false
/// if it is damaged, shorter or longer.
static bool inflateExactly(ArrayRef<char> in, uint64_t size,
                           std::vector<char> &out) {
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return false;
  out.resize(size);
  uint64_t taken = 0, made = 0;
  int status = Z_OK;
  char spare;
  while (status == Z_OK) {
    // zlib counts in 32 bits.
    constexpr uint64_t piece = 1u << 30;
    stream.next_in =
        reinterpret_cast<Bytef *>(const_cast<char *>(in.data() + taken));
    stream.avail_in = std::min<uint64_t>(in.size() - taken, piece);
    bool full = made == size;
    stream.next_out =
        reinterpret_cast<Bytef *>(full ? &spare : out.data() + made);
    stream.avail_out = full ? 1 : std::min<uint64_t>(size - made, piece);
    uint64_t inBefore = stream.avail_in, outBefore = stream.avail_out;
    status = inflate(&stream, Z_NO_FLUSH);
    taken += inBefore - stream.avail_in;
    made += outBefore - stream.avail_out;
    if (made > size ||
        (inBefore == stream.avail_in && outBefore == stream.avail_out))
      break;
  }
  inflateEnd(&stream);
  return status == Z_STREAM_END && made == size;
}

/// The zip checksum of what `checksum` covers and `bytes` after it.
static uint32_t extendChecksum(uint32_t checksum, ArrayRef<char> bytes) {
  // zlib takes a null address for a request to start anew.
  if (bytes.empty())
    return checksum;
  return crc32_z(checksum, reinterpret_cast<const Bytef *>(bytes.data()),
                 bytes.size());
}

Expected<NpyArray> NpzArchive::read(StringRef name, uint64_t mostBytes,
                                    bool inPlace) const {
  auto member = find_if(
      members, [&](const Member &candidate) { return candidate.name == name; });
  if (member == members.end())
    return makeError(path, "no member '{0}'; there are: {1}", name,
                     members.empty() ? "none" : join(names(), ", "));
  if (member->size > mostBytes)
    return makeError(path, "member '{0}' has {1} bytes, expected {2} at most",
                     name, member->size, mostBytes);
  ArrayRef<char> bytes = bytesOf(*buffer);
  uint64_t at = member->headerOffset;
  FieldReader local(bytes, at);
  if (!local.has(30) || local.u32() != kLocalHeader)
    return atByte(path, at, "member '" + name + "': no local header here");
  local.skip(22);
  uint16_t nameBytes = local.u16(), extraBytes = local.u16();
  uint64_t start = local.position() + nameBytes + extraBytes;
  if (start > bytes.size() || member->storedSize > bytes.size() - start)
    return atByte(path, start,
                  "member '" + name + "' needs " + Twine(member->storedSize) +
                      " bytes, the file has " + Twine(bytes.size()));
  ArrayRef<char> stored = bytes.slice(start, member->storedSize);
  std::string label = (path + ": member '" + name + "'").str();
  std::vector<char> inflated;
  ArrayRef<char> contents = stored;
  if (member->deflated) {
    if (member->size / kMaxInflation > member->storedSize)
      return atByte(path, start,
                    "member '" + name + "' claims " + Twine(member->size) +
                        " bytes, which its " + Twine(member->storedSize) +
                        " compressed bytes cannot hold");
    if (!inflateExactly(stored, member->size, inflated))
      return atByte(path, start,
                    "member '" + name + "' does not inflate to " +
                        Twine(member->size) + " bytes: the data is damaged");
    contents = inflated;
  } else if (member->size != member->storedSize) {
    return atByte(path, at,
                  "member '" + name + "' is stored, but its two sizes differ");
  }
  // To compare it all of the array would be read.
  if (inPlace && !member->deflated)
    return arrayOf(contents, label, buffer);
  if (extendChecksum(0, contents) != member->checksum)
    return atByte(path, start,
                  "member '" + name +
                      "' has a wrong checksum: the data is damaged");
  return parseNpy(contents, label);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Everything of a .npy file before its data, padded to 64 bytes.
static std::string headerOf(const NpyView &array) {
  std::string shape = "(";
  for (int64_t size : array.shape)
    shape += std::to_string(size) + ", ";
  // Python's tuple of one is "(3,)"; of more, a last comma is fine.
  if (!array.shape.empty())
    shape.pop_back();
  shape += ")";
  std::string dict =
      formatv("{{'descr': '{0}', 'fortran_order': False, 'shape': {1}, }",
              array.type.str(), shape);
  dict.append(63 - (10 + dict.size()) % 64, ' ');
  dict += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dict.size() & 0xff);
  header += static_cast<char>(dict.size() >> 8);
  return header + dict;
}

Error shardc::writeNpy(StringRef path, const NpyView &array) {
  return writeOutputFile(path, [&](raw_fd_ostream &out) {
    out << headerOf(array);
    out.write(array.data.data(), array.data.size());
  });
}

Error shardc::writeNpz(StringRef path, ArrayRef<NpyView> arrays) {
  return writeOutputFile(path, [&](raw_fd_ostream &out) {
    support::endian::Writer writer(out, endianness::little);
    std::string directory;
    raw_string_ostream directoryOut(directory);
    support::endian::Writer entry(directoryOut, endianness::little);
    for (const NpyView &array : arrays) {
      std::string header = headerOf(array);
      std::string name = array.name + ".npy";
      uint64_t offset = out.tell(), size = header.size() + array.data.size();
      uint32_t checksum = extendChecksum(
          extendChecksum(0, ArrayRef<char>(header.data(), header.size())),
          array.data);
      bool big = size >= 0xffffffff || offset >= 0xffffffff;
      uint32_t size32 = big ? 0xffffffff : size;
      uint16_t version = big ? 45 : 20;
      constexpr uint16_t date =
          0x21; // 1980-01-01, so that equal data gives equal files

      writer.write<uint32_t>(kLocalHeader);
      for (uint16_t field :
           {version, uint16_t(0), uint16_t(0), uint16_t(0), date})
        writer.write(field);
      for (uint32_t field : {checksum, size32, size32})
        writer.write(field);
      writer.write<uint16_t>(name.size());
      writer.write<uint16_t>(big ? 20 : 0);
      out << name;
      if (big) {
        writer.write<uint16_t>(1);
        writer.write<uint16_t>(16);
        writer.write<uint64_t>(size);
        writer.write<uint64_t>(size);
      }
      out << header;
      out.write(array.data.data(), array.data.size());

      entry.write<uint32_t>(kDirectoryEntry);
      for (uint16_t field :
           {version, version, uint16_t(0), uint16_t(0), uint16_t(0), date})
        entry.write(field);
      for (uint32_t field : {checksum, size32, size32})
        entry.write(field);
      for (size_t field :
           {name.size(), size_t(big ? 28 : 0), size_t(0), size_t(0), size_t(0)})
        entry.write<uint16_t>(field);
      entry.write<uint32_t>(0);
      entry.write<uint32_t>(big ? 0xffffffff : offset);
      directoryOut << name;
      if (big) {
        entry.write<uint16_t>(1);
        entry.write<uint16_t>(24);
        for (uint64_t field : {size, size, offset})
          entry.write(field);
      }
    }
    directoryOut.flush();
    uint64_t start = out.tell();
    out << directory;
    uint64_t end = out.tell(), count = arrays.size();
    bool big = start >= 0xffffffff || directory.size() >= 0xffffffff ||
               count >= 0xffff;
    if (big) {
      writer.write<uint32_t>(kDirectoryEnd64);
      writer.write<uint64_t>(44);
      writer.write<uint16_t>(45);
      writer.write<uint16_t>(45);
      writer.write<uint32_t>(0);
      writer.write<uint32_t>(0);
      for (uint64_t field : {count, count, uint64_t(directory.size()), start})
        writer.write(field);
      writer.write<uint32_t>(kDirectoryEnd64Locator);
      writer.write<uint32_t>(0);
      writer.write<uint64_t>(end);
      writer.write<uint32_t>(1);
    }
    writer.write<uint32_t>(kDirectoryEnd);
    writer.write<uint32_t>(0);
    for (int i = 0; i < 2; ++i)
      writer.write<uint16_t>(big ? 0xffff : count);
    writer.write<uint32_t>(big ? 0xffffffff : directory.size());
    writer.write<uint32_t>(big ? 0xffffffff : start);
    writer.write<uint16_t>(0);
  });
}
