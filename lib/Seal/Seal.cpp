//===- Seal.cpp - What says that an artifact is whole, and whose ----------===//
//
// Begin, digest, size and end of a seal stay where they are in all formats to
// come: so damage is distinguished from another format.
//
//===----------------------------------------------------------------------===//

#include "shardc/Seal/Seal.h"
#include <algorithm>
#include <cstring>
#include <elf.h>
#include <tuple>
#include <unistd.h>

using namespace shardc;
using crypto::Bytes;

static constexpr std::string_view kBegin("\x89shardc seal\r\n\x1a\n", 16);
static constexpr std::string_view kEnd("\x89shardc artifact", kSealEndBytes);
/// Behind what the seal's own digest covers: that digest, the size, the end.
static constexpr size_t kTrailer = 32 + 8 + kSealEndBytes;
/// Key and signature; zeros where nobody signed.
static constexpr size_t kSignature = 32 + 64;
/// Format, whether it is signed, the number of sections.
static constexpr size_t kHead = kBegin.size() + 3 * 4;
static constexpr size_t kMostSections = 4096;
static constexpr size_t kLongestName = 256;
static constexpr std::string_view kProgramName = "program";
/// What is signed begins with what it is: a signature has one meaning.
static constexpr std::string_view kSignedAs = "shardc artifact\n";

//===----------------------------------------------------------------------===//
// The parts of a shared object
//===----------------------------------------------------------------------===//

namespace {
struct Part {
  uint64_t offset, bytes;
  std::string name;
};
} // namespace

/// The object at `offset` of `file`; nullopt if it is not all there.
template <typename T>
static std::optional<T> at(std::string_view file, uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T))
    return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

static std::string textAt(std::string_view file, uint64_t offset) {
  if (offset >= file.size())
    return "?";
  std::string_view text = file.substr(offset, kLongestName);
  return std::string(text.substr(0, text.find('\0')));
}

/// What `code` holds by its own tables; empty where it is no 64-bit ELF file.
static std::vector<Part> findParts(std::string_view code) {
  auto header = at<Elf64_Ehdr>(code, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64)
    return {};
  std::vector<Part> parts = {
      {0, header->e_ehsize, "ELF header"},
      {header->e_phoff, uint64_t(header->e_phnum) * header->e_phentsize,
       "program headers"},
      {header->e_shoff, uint64_t(header->e_shnum) * header->e_shentsize,
       "section headers"}};
  auto sectionAt = [&](uint64_t number) {
    return at<Elf64_Shdr>(code, header->e_shoff +
                                    number * uint64_t(header->e_shentsize));
  };
  auto names = sectionAt(header->e_shstrndx);
  for (uint64_t i = 0; i < header->e_shnum; ++i)
    if (auto section = sectionAt(i); section && section->sh_type != SHT_NULL &&
                                     section->sh_type != SHT_NOBITS)
      parts.push_back(
          {section->sh_offset, section->sh_size,
           names ? textAt(code, names->sh_offset + section->sh_name) : "?"});
  return parts;
}

/// Cuts `code` into its parts and what is between them, without a gap.
static std::vector<SealedSection> cut(std::string_view code) {
  std::vector<Part> parts = findParts(code);
  std::sort(parts.begin(), parts.end(), [](const Part &a, const Part &b) {
    return std::tie(a.offset, a.bytes, a.name) <
           std::tie(b.offset, b.bytes, b.name);
  });
  std::vector<SealedSection> sections;
  uint64_t done = 0;
  auto add = [&](std::string name, uint64_t end) {
    if (end > done)
      sections.push_back({std::move(name), done, end - done, {}});
    done = std::max(done, end);
  };
  for (Part &part : parts) {
    if (part.offset > code.size() || part.bytes > code.size() - part.offset ||
        part.bytes == 0 || part.offset + part.bytes <= done)
      continue;
    add("padding before " + part.name, part.offset);
    add(std::move(part.name), part.offset + part.bytes);
  }
  add("rest of the shared object", code.size());
  return sections;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static void putNumber(std::string &to, uint64_t number, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    to += static_cast<char>(number >> (8 * i));
}

static void putBytes(std::string &to, Bytes bytes) {
  to.append(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

std::string shardc::sealArtifact(std::string_view code,
                                 std::string_view program,
                                 const crypto::SigningKey *key) {
  return sealArtifact(code, {{std::string(kProgramName), program}}, key);
}

std::string shardc::sealArtifact(std::string_view code,
                                 const std::vector<SealedPart> &parts,
                                 const crypto::SigningKey *key) {
  std::vector<SealedSection> sections = cut(code);
  std::string file(code);
  for (const SealedPart &part : parts) {
    if (!part.bytes.empty())
      sections.push_back({part.name, file.size(), part.bytes.size(), {}});
    file += part.bytes;
  }

  std::string seal(kBegin);
  putNumber(seal, kArtifactFormat, 4);
  putNumber(seal, key ? 1 : 0, 4);
  putNumber(seal, sections.size(), 4);
  for (const SealedSection &section : sections) {
    putNumber(seal, section.offset, 8);
    putNumber(seal, section.bytes, 8);
    putNumber(seal, section.name.size(), 2);
    seal += section.name;
    putBytes(seal, crypto::sha256(crypto::bytesOf(std::string_view(file).substr(
                       section.offset, section.bytes))));
  }
  if (key) {
    std::string signedText = std::string(kSignedAs) + seal;
    putBytes(seal, key->publicKey);
    putBytes(seal, crypto::sign(*key, crypto::bytesOf(signedText)));
  } else {
    seal.append(kSignature, '\0');
  }
  putBytes(seal, crypto::sha256(crypto::bytesOf(seal)));
  putNumber(seal, seal.size() + 8 + kEnd.size(), 8);
  seal += kEnd;
  return file + seal;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

bool shardc::endsInSeal(Bytes end) {
  return end.size() >= kEnd.size() &&
         std::memcmp(end.data() + end.size() - kEnd.size(), kEnd.data(),
                     kEnd.size()) == 0;
}

uint64_t shardc::countWorthReading(int file, uint64_t size) {
  constexpr uint64_t kLarge = uint64_t(64) << 20, kHeader = uint64_t(1) << 16;
  uint8_t end[kSealEndBytes];
  if (size <= kLarge)
    return size;
  ssize_t count =
      pread(file, end, sizeof end, static_cast<off_t>(size - sizeof end));
  return count == sizeof end && endsInSeal({end, sizeof end}) ? size : kHeader;
}

namespace {
/// Takes numbers and bytes off the front of a seal.
struct Reader {
  std::string_view rest;
  bool failed = false;

  std::string_view take(size_t bytes) {
    if (failed || rest.size() < bytes) {
      failed = true;
      return {};
    }
    std::string_view taken = rest.substr(0, bytes);
    rest.remove_prefix(bytes);
    return taken;
  }
  uint64_t number(size_t bytes) {
    uint64_t value = 0;
    size_t shift = 0;
    for (char c : take(bytes))
      value |= uint64_t(uint8_t(c)) << 8 * shift++;
    return value;
  }
  template <typename Array> Array array() {
    Array value = {};
    std::string_view bytes = take(value.size());
    std::copy(bytes.begin(), bytes.end(), value.begin());
    return value;
  }
};
} // namespace

/// The format that an artifact from before there were seals says it has.
static std::string olderFormat(std::string_view file) {
  constexpr std::string_view key = "{\"format\":";
  size_t begin = file.find(key);
  if (begin == std::string_view::npos ||
      file.find("shardc_main") == std::string_view::npos)
    return {};
  begin += key.size();
  std::string number;
  while (begin < file.size() && number.size() < 9 && file[begin] >= '0' &&
         file[begin] <= '9')
    number += file[begin++];
  return number;
}

static std::string otherFormat(const std::string &number) {
  return "is an artifact of format " + number + ", this build reads " +
         std::to_string(kArtifactFormat) +
         ": compile the program again with shard-translate";
}

static std::string damaged(const std::string &name, const std::string &what) {
  return "damaged: section '" + name + "' " + what;
}

/// Takes program and parts beside the code, which are last, out of `bytes`, of
/// which the seal's sections are `end` bytes. Returns the name of which there
/// are two: of these one reader would take the first, another one the last.
static std::string takeParts(Bytes bytes, uint64_t end, Seal &seal) {
  seal.codeBytes = end;
  for (auto part = seal.sections.rbegin(); part != seal.sections.rend();
       ++part) {
    Bytes view = bytes.subspan(part->offset, part->bytes);
    if (part->name == kProgramName) {
      if (!seal.program.empty())
        return part->name;
      seal.program = view;
    } else if (part->name.starts_with(kBeside)) {
      if (!seal.beside.emplace(part->name, view).second)
        return part->name;
    } else {
      break;
    }
    seal.codeBytes = part->offset;
  }
  return {};
}

std::string shardc::readSeal(Bytes bytes, Seal &seal) {
  std::string_view file(reinterpret_cast<const char *>(bytes.data()),
                        bytes.size());
  if (!endsInSeal(bytes)) {
    std::string older = olderFormat(file);
    if (!older.empty() && older != std::to_string(kArtifactFormat))
      return otherFormat(older);
    if (auto header = at<Elf64_Ehdr>(file, 0);
        header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
        header->e_type == ET_REL)
      return "is an object file; shard-translate --emit=artifact makes an "
             "artifact";
    return damaged("seal", "is not at the end of the file: the file is cut "
                           "short, changed, or no artifact of shardc");
  }
  size_t smallest = kHead + kSignature + kTrailer;
  Reader size{file.size() >= kTrailer
                  ? file.substr(file.size() - kEnd.size() - 8)
                  : std::string_view()};
  uint64_t sealBytes = size.number(8);
  if (size.failed || sealBytes < smallest || sealBytes > file.size())
    return damaged("seal", "has a size that makes no sense");
  uint64_t begin = file.size() - sealBytes;
  std::string_view text = file.substr(begin, sealBytes - kTrailer);
  if (text.substr(0, kBegin.size()) != kBegin)
    return damaged("seal", "does not begin where it says");
  Bytes digest = bytes.subspan(file.size() - kTrailer, 32);
  if (!crypto::equal(crypto::sha256(crypto::bytesOf(text)), digest))
    return damaged("seal", "does not have the digest that it gives");

  Reader reader{text.substr(kBegin.size())};
  uint64_t format = reader.number(4);
  if (format != kArtifactFormat)
    return otherFormat(std::to_string(format));
  uint64_t isSigned = reader.number(4), count = reader.number(4);
  if (isSigned > 1 || count > kMostSections)
    return damaged("seal", "has numbers that make no sense");
  seal = {};
  uint64_t done = 0;
  for (uint64_t i = 0; i < count && !reader.failed; ++i) {
    SealedSection section;
    section.offset = reader.number(8);
    section.bytes = reader.number(8);
    uint64_t length = reader.number(2);
    section.name = reader.take(length);
    section.digest = reader.array<crypto::Digest>();
    if (reader.failed || section.offset != done || section.bytes == 0 ||
        section.bytes > begin - done || length > kLongestName + 16)
      return damaged("seal", "has a table that makes no sense");
    for (char c : section.name)
      if (c < 0x20 || c > 0x7e)
        return damaged("seal", "names a section in unprintable letters");
    done += section.bytes;
    seal.sections.push_back(std::move(section));
  }
  size_t signedBytes = text.size() - reader.rest.size();
  auto signer = reader.array<crypto::PublicKey>();
  auto signature = reader.array<crypto::Signature>();
  if (reader.failed || !reader.rest.empty() || done != begin)
    return damaged("seal", "has a table that does not cover the file");
  for (const SealedSection &section : seal.sections)
    if (!crypto::equal(
            crypto::sha256(bytes.subspan(section.offset, section.bytes)),
            section.digest))
      return damaged(section.name,
                     "(bytes " + std::to_string(section.offset) + " to " +
                         std::to_string(section.offset + section.bytes) +
                         ") does not have the SHA-256 that its seal gives");
  if (std::string twice = takeParts(bytes, begin, seal); !twice.empty())
    return damaged("seal", "has two parts '" + twice + "'");
  if (!isSigned)
    return {};
  std::string signedText(kSignedAs);
  signedText += text.substr(0, signedBytes);
  if (!crypto::verify(signer, crypto::bytesOf(signedText), signature))
    return damaged("seal", "has a signature that does not hold");
  seal.signer = signer;
  return {};
}
