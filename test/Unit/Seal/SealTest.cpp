//===- SealTest.cpp - What says that an artifact is whole, and whose ------===//

#include "shardc/Seal/Seal.h"
#include "gtest/gtest.h"
#include <cstring>
#include <elf.h>

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
