//===- SealTest.cpp - What says that an artifact is whole, and whose ------===//

#include "shardc/Seal/Seal.h"
#include "gtest/gtest.h"
#include <cstring>
#include <elf.h>
#include <functional>
#include <optional>

using namespace shardc;

namespace {
/// A shared object of two sections with a gap between them, 400 bytes.
std::string smallObject() {
  std::string file(400, '\0');
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ehsize = sizeof(header);
  header.e_shoff = 200;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  std::memcpy(file.data(), &header, sizeof(header));
  auto put = [&](int number, unsigned type, unsigned name, uint64_t offset,
                 uint64_t size) {
    Elf64_Shdr section = {};
    section.sh_type = type;
    section.sh_name = name;
    section.sh_offset = offset;
    section.sh_size = size;
    std::memcpy(file.data() + 200 + number * sizeof(section), &section,
                sizeof(section));
  };
  put(1, SHT_PROGBITS, 1, 80, 16);
  put(2, SHT_STRTAB, 7, 120, 20);
  std::memcpy(file.data() + 120, "\0.text\0.names\0", 14);
  return file;
}

const crypto::SigningKey &someKey() {
  static const crypto::SigningKey key = crypto::signingKeyFromSeed({7});
  return key;
}

/// A line of a seal's table, which may say anything.
struct Entry {
  std::string name;
  uint64_t offset, bytes;
};

/// The seal of `file` with this table and digests that hold, by the text of
/// docs/Reference/artifact.md. It is not signed.
std::string forgeSeal(const std::string &file, const std::vector<Entry> &table,
                      std::optional<uint32_t> count = std::nullopt) {
  std::string seal("\x89shardc seal\r\n\x1a\n", 16);
  auto put = [&](uint64_t number, int bytes) {
    for (int i = 0; i < bytes; ++i)
      seal += static_cast<char>(number >> (8 * i));
  };
  auto putDigest = [&](std::string_view of) {
    crypto::Digest digest = crypto::sha256(crypto::bytesOf(of));
    seal.append(reinterpret_cast<const char *>(digest.data()), digest.size());
  };
  put(3, 4);
  put(0, 4);
  put(count.value_or(table.size()), 4);
  for (const Entry &entry : table) {
    put(entry.offset, 8);
    put(entry.bytes, 8);
    put(entry.name.size(), 2);
    seal += entry.name;
    std::string_view all = file;
    putDigest(entry.offset > all.size()
                  ? all
                  : all.substr(entry.offset, entry.bytes));
  }
  seal.append(32 + 64, '\0');
  putDigest(seal);
  put(seal.size() + 8 + kSealEndBytes, 8);
  return seal + std::string("\x89shardc artifact", kSealEndBytes);
}

std::string problemOf(const std::string &file) {
  Seal seal;
  return readSeal(crypto::bytesOf(file), seal);
}
} // namespace

TEST(Seal, NamesAllPartsAndLeavesNoGap) {
  std::string file = sealArtifact(smallObject(), "carried", nullptr);
  Seal seal;
  ASSERT_EQ(readSeal(crypto::bytesOf(file), seal), "");
  std::vector<std::string> names;
  uint64_t end = 0;
  for (const SealedSection &section : seal.sections) {
    EXPECT_EQ(section.offset, end);
    end += section.bytes;
    names.push_back(section.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{
                       "ELF header", "padding before .text", ".text",
                       "padding before .names", ".names",
                       "padding before section headers", "section headers",
                       "rest of the shared object", "program"}));
  EXPECT_EQ(end, 400 + 7u);
  EXPECT_EQ(seal.codeBytes, 400u);
  EXPECT_EQ(std::string(seal.program.begin(), seal.program.end()), "carried");
  EXPECT_FALSE(seal.signer);
}

TEST(Seal, SaysWhoSigned) {
  std::string file = sealArtifact(smallObject(), "", &someKey());
  Seal seal;
  ASSERT_EQ(readSeal(crypto::bytesOf(file), seal), "");
  EXPECT_EQ(seal.signer, someKey().publicKey);
  EXPECT_TRUE(seal.program.empty());
  // Signatures are no dice.
  EXPECT_EQ(file, sealArtifact(smallObject(), "", &someKey()));
}

TEST(Seal, NamesPartsBesideTheCode) {
  std::string object = smallObject();
  std::string file = sealArtifact(
      object,
      {{"beside: a", "first"}, {"beside: none", ""}, {"beside: b", "second"}},
      &someKey());
  Seal seal;
  ASSERT_EQ(readSeal(crypto::bytesOf(file), seal), "");
  EXPECT_EQ(seal.codeBytes, object.size());
  EXPECT_TRUE(seal.program.empty());
  ASSERT_EQ(seal.beside.size(), 2u);
  auto text = [&](const char *name) {
    crypto::Bytes part = seal.beside[name];
    return std::string(part.begin(), part.end());
  };
  EXPECT_EQ(text("beside: a"), "first");
  EXPECT_EQ(text("beside: b"), "second");
  // Each has its digest.
  for (size_t at = object.size(); at < object.size() + 11; ++at) {
    std::string damaged = file;
    damaged[at] ^= 1;
    Seal other;
    EXPECT_NE(readSeal(crypto::bytesOf(damaged), other).find("'beside: "),
              std::string::npos);
  }
}

TEST(Seal, EveryBitCounts) {
  std::string file = sealArtifact(smallObject(), "carried", &someKey());
  Seal seal;
  ASSERT_EQ(readSeal(crypto::bytesOf(file), seal), "");
  for (size_t bit = 0; bit < 8 * file.size(); ++bit) {
    std::string changed = file;
    changed[bit / 8] ^= static_cast<char>(1 << bit % 8);
    std::string name = "seal";
    for (const SealedSection &section : seal.sections)
      if (bit / 8 >= section.offset && bit / 8 < section.offset + section.bytes)
        name = section.name;
    ASSERT_NE(problemOf(changed).find("damaged: section '" + name + "'"),
              std::string::npos)
        << "bit " << bit << ": " << problemOf(changed);
  }
}

TEST(Seal, EveryLengthCounts) {
  std::string file = sealArtifact(smallObject(), "carried", &someKey());
  for (size_t length = 0; length < file.size(); ++length)
    ASSERT_NE(problemOf(file.substr(0, length)), "") << length;
  EXPECT_NE(problemOf(file + '\0'), "");
  EXPECT_NE(problemOf(file + file), "");
}

TEST(Seal, ASignatureOfOtherBytesDoesNotHold) {
  // The seal of one file, with the signature of another one and a digest that
  // is right: what an attacker can make.
  std::string mine = sealArtifact(smallObject(), "mine", &someKey());
  std::string other = sealArtifact(smallObject(), "evil", &someKey());
  size_t trailer = 32 + 8 + kSealEndBytes, at = mine.size() - trailer - 64;
  ASSERT_EQ(mine.size(), other.size());
  other.replace(at, 64, mine, at, 64);
  size_t begin = smallObject().size() + 4;
  crypto::Digest digest = crypto::sha256(crypto::bytesOf(
      std::string_view(other).substr(begin, other.size() - trailer - begin)));
  other.replace(other.size() - trailer, 32,
                reinterpret_cast<const char *>(digest.data()), 32);
  EXPECT_EQ(problemOf(other),
            "damaged: section 'seal' has a signature that does not hold");
}

// Tables as an attacker writes them: each digest is right, the seal's too.
TEST(Seal, TablesThatDoNotCutTheFileAreRefused) {
  std::string file = "0123456789abcdefghij";
  const std::vector<Entry> good = {
      {"a", 0, 8}, {"b", 8, 8}, {"program", 16, 4}};
  ASSERT_EQ(problemOf(file + forgeSeal(file, good)), "");
  auto refuses = [&](const std::string &what,
                     const std::function<void(std::vector<Entry> &)> &change,
                     const std::string &why =
                         "has a table that makes no sense") {
    std::vector<Entry> table = good;
    change(table);
    EXPECT_EQ(problemOf(file + forgeSeal(file, table)),
              "damaged: section 'seal' " + why)
        << what;
  };
  using Table = std::vector<Entry>;
  constexpr uint64_t kAll = UINT64_MAX;
  refuses("reordered", [](Table &t) { std::swap(t[0], t[1]); });
  refuses("duplicated", [](Table &t) { t.insert(t.begin(), t[0]); });
  refuses("overlapping", [](Table &t) { t[0].bytes += 1; });
  refuses("a gap", [](Table &t) { t[0].bytes -= 1; });
  refuses("an empty one",
          [](Table &t) { t.insert(t.begin() + 1, {"e", 8, 0}); });
  refuses("beyond the end", [](Table &t) { t[2].bytes += 1; });
  refuses("an end that wraps to itself",
          [](Table &t) { t[2].bytes -= 4 + 16; });
  refuses("all bytes there are", [](Table &t) { t[2].bytes = kAll; });
  refuses("an offset at the end of all",
          [](Table &t) { t[2].offset = kAll - 3; });
  refuses("the first begins before", [](Table &t) { t[0].offset = kAll; });
  refuses("a name without end",
          [](Table &t) { t[0].name = std::string(60000, 'n'); });
  refuses(
      "one less", [](Table &t) { t.pop_back(); },
      "has a table that does not cover the file");
  refuses(
      "none", [](Table &t) { t.clear(); },
      "has a table that does not cover the file");
  refuses(
      "more than can be", [](Table &t) { t.resize(4097, t[0]); },
      "has numbers that make no sense");
  refuses(
      "an unprintable name", [](Table &t) { t[1].name = "b\n"; },
      "names a section in unprintable letters");
  // Two programs, or parts of the same name beside the code: whoever reads the
  // first and whoever reads the last would have another one.
  for (const char *name : {"program", "beside: a"})
    refuses(
        "two of a kind", [&](Table &t) { t[1].name = t[2].name = name; },
        "has two parts '" + std::string(name) + "'");
}

// The count says how many there are; what is left over is no table.
TEST(Seal, CountsThatDoNotHoldAreRefused) {
  std::string file = "0123456789abcdefghij";
  const std::vector<Entry> table = {{"a", 0, 16}, {"program", 16, 4}};
  for (uint32_t count : {0u, 1u, 3u, 4096u, 4097u, UINT32_MAX})
    EXPECT_NE(problemOf(file + forgeSeal(file, table, count))
                  .find("damaged: section 'seal' has "),
              std::string::npos)
        << count;
}

TEST(Seal, OtherFormatsAreRefusedByNumber) {
  EXPECT_EQ(problemOf("\x7f"
                      "ELF shardc_main {\"format\":1,\"name\":\"f\"}"),
            "is an artifact of format 1, this build reads 3: compile the "
            "program again with shard-translate");
  std::string file = sealArtifact(smallObject(), "carried", nullptr);
  size_t begin = 400 + 7, trailer = 32 + 8 + kSealEndBytes;
  file[begin + 16] = 9;
  crypto::Digest digest = crypto::sha256(crypto::bytesOf(
      std::string_view(file).substr(begin, file.size() - trailer - begin)));
  file.replace(file.size() - trailer, 32,
               reinterpret_cast<const char *>(digest.data()), 32);
  EXPECT_EQ(problemOf(file),
            "is an artifact of format 9, this build reads 3: compile the "
            "program again with shard-translate");
}

TEST(Seal, TakesWhatIsNoSharedObject) {
  std::string file = sealArtifact("no ELF file", "", nullptr);
  Seal seal;
  ASSERT_EQ(readSeal(crypto::bytesOf(file), seal), "");
  ASSERT_EQ(seal.sections.size(), 1u);
  EXPECT_EQ(seal.sections[0].name, "rest of the shared object");
}
