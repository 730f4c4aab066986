//===- NpzTest.cpp - Reading and writing NumPy files ----------------------===//

#include "shardc/Support/Npz.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <cstring>
#include <optional>
#include <random>

using namespace llvm;
using namespace shardc;

/// Deflated, as Python's zipfile writes it: in0 (2x30, float32: 0.5, 1.5, ...),
/// in1 (a scalar, int16: -7), k (3, bool: true, false, true).
static constexpr char deflatedArchive[] =
    "UEsDBBQAAAAIAOwZdV3WZLFIUgAAAHABAAAHAAAAaW4wLm5weZvsF+obEMnIUMZQrZ6SWpxc"
    "pG6loG6TZqKuo6Cell9UUpSYF59flJIKEndLzClOBYoXZyQWpAL5GkY6CsYGmjoKtQrkAi4G"
    "BgZ7BoYD9iOFBgBQSwMEFAAAAAgA7Bl1XfiC9M5EAAAAggAAAAcAAABpbjEubnB5m+wX6hsQ"
    "ychQxlCtnpJanFykbqWgbpNppK6joJ6WX1RSlJgXn1+UkgoSd0vMKU4FihdnJBakAvkamjoK"
    "tQoUAa6f/wFQSwMEFAAAAAgA7Bl1XRaTjLtHAAAAgwAAAAUAAABrLm5weZvsF+obEMnIUMZQ"
    "rZ6SWpxcpG6loF6TZKiuo6Cell9UUpSYF59flJIKEndLzClOBYoXZyQWpAL5GsY6mjoKtQoU"
    "AC5GBkYAUEsBAhQDFAAAAAgA7Bl1XdZksUhSAAAAcAEAAAcAAAAAAAAAAAAAAIABAAAAAGlu"
    "MC5ucHlQSwECFAMUAAAACADsGXVd+IL0zkQAAACCAAAABwAAAAAAAAAAAAAAgAF3AAAAaW4x"
    "Lm5weVBLAQIUAxQAAAAIAOwZdV0Wk4y7RwAAAIMAAAAFAAAAAAAAAAAAAACAAeAAAABrLm5w"
    "eVBLBQYAAAAAAwADAJ0AAABKAQAAAAA=";

static std::vector<char> decode(StringRef base64) {
  std::vector<char> bytes;
  EXPECT_FALSE(bool(decodeBase64(base64, bytes)));
  return bytes;
}

static Expected<NpzArchive> parseArchive(ArrayRef<char> bytes) {
  return NpzArchive::parse(
      MemoryBuffer::getMemBufferCopy(StringRef(bytes.data(), bytes.size())),
      "test.npz");
}

/// Reads everything there is; returns the errors. Never to crash, whatever the
/// bytes are.
static std::string readAll(ArrayRef<char> bytes) {
  Expected<NpzArchive> archive = parseArchive(bytes);
  if (!archive)
    return toString(archive.takeError());
  std::string errors;
  for (const std::string &name : archive->names())
    if (Expected<NpyArray> array = archive->read(name); !array)
      errors += toString(array.takeError()) + "\n";
  return errors;
}

static std::vector<char> npyBytes(StringRef dict, StringRef data) {
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(dict.size());
  text += '\0';
  text += dict;
  text += data;
  return std::vector<char>(text.begin(), text.end());
}

/// What `parseNpy` has against an array.
static std::string refusal(StringRef dict, StringRef data = "") {
  Expected<NpyArray> array = parseNpy(npyBytes(dict, data), "a.npy");
  return array ? std::string() : toString(array.takeError());
}

template <typename T> static std::vector<T> valuesOf(const NpyArray &array) {
  std::vector<T> values(array.data.size() / sizeof(T));
  std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

TEST(Npz, ReadsDeflatedMembers) {
  Expected<NpzArchive> archive = parseArchive(decode(deflatedArchive));
  ASSERT_TRUE(bool(archive)) << toString(archive.takeError());
  EXPECT_EQ(archive->names(), (std::vector<std::string>{"in0", "in1", "k"}));
  Expected<NpyArray> in0 = archive->read("in0");
  ASSERT_TRUE(bool(in0)) << toString(in0.takeError());
  EXPECT_EQ(in0->type.str(), "<f4");
  EXPECT_EQ(in0->shape, (std::vector<int64_t>{2, 30}));
  EXPECT_EQ(valuesOf<float>(*in0)[1], 1.5f);
  Expected<NpyArray> in1 = archive->read("in1");
  ASSERT_TRUE(bool(in1)) << toString(in1.takeError());
  EXPECT_TRUE(in1->shape.empty());
  EXPECT_EQ(valuesOf<int16_t>(*in1), std::vector<int16_t>{-7});
  Expected<NpyArray> missing = archive->read("in2");
  EXPECT_EQ(toString(missing.takeError()),
            "test.npz: no member 'in2'; there are: in0, in1, k");
}

TEST(Npz, WritesWhatItReads) {
  SmallString<128> path;
  ASSERT_FALSE(sys::fs::createUniqueDirectory("npz", path));
  std::string file = (path + "/a.npz").str();
  std::vector<double> values = {1, 2, 3, 4, 5, 6};
  std::vector<char> data(48), empty;
  std::memcpy(data.data(), values.data(), 48);
  ASSERT_FALSE(bool(writeNpz(
      file, {{"a", {'f', 8}, {2, 3}, data}, {"b", {'c', 16}, {0, 7}, empty}})));
  Expected<NpzArchive> archive = NpzArchive::open(file);
  ASSERT_TRUE(bool(archive)) << toString(archive.takeError());
  Expected<NpyArray> a = archive->read("a"), b = archive->read("b");
  ASSERT_TRUE(bool(a)) << toString(a.takeError());
  ASSERT_TRUE(bool(b)) << toString(b.takeError());
  EXPECT_EQ(valuesOf<double>(*a), values);
  EXPECT_EQ(b->type.str(), "<c16");
  EXPECT_EQ(b->shape, (std::vector<int64_t>{0, 7}));
  ASSERT_FALSE(bool(writeNpy(file, {"", {'f', 8}, {6}, data})));
  Expected<NpyArray> single = readNpy(file);
  ASSERT_TRUE(bool(single)) << toString(single.takeError());
  EXPECT_EQ(single->shape, std::vector<int64_t>{6});
  sys::fs::remove_directories(path);
}

TEST(Npz, StaysInItsFileWhereThatHoldsItAsItIs) {
  SmallString<128> path;
  ASSERT_FALSE(sys::fs::createUniqueDirectory("npz", path));
  std::string file = (path + "/a.npz").str();
  std::vector<double> values = {1, 2, 3, 4, 5, 6};
  std::vector<char> data(48);
  std::memcpy(data.data(), values.data(), 48);
  ASSERT_FALSE(bool(writeNpz(file, {{"a", {'f', 8}, {2, 3}, data}})));
  std::optional<NpyArray> kept;
  {
    Expected<NpzArchive> archive = NpzArchive::open(file);
    ASSERT_TRUE(bool(archive)) << toString(archive.takeError());
    Expected<NpyArray> a = archive->read("a", UINT64_MAX, /*inPlace=*/true);
    ASSERT_TRUE(bool(a)) << toString(a.takeError());
    kept = std::move(*a);
  }
  // Longer than what it was read out of.
  EXPECT_TRUE(kept->data.empty());
  EXPECT_EQ(kept->inFile, ArrayRef<char>(data));
  ASSERT_FALSE(bool(writeNpy(file, {"", {'f', 8}, {6}, data})));
  Expected<NpyArray> single = readNpy(file, /*inPlace=*/true);
  ASSERT_TRUE(bool(single)) << toString(single.takeError());
  EXPECT_EQ(single->inFile, ArrayRef<char>(data));
  sys::fs::remove_directories(path);
  // A deflated member is read whole.
  Expected<NpzArchive> deflated = parseArchive(decode(deflatedArchive));
  ASSERT_TRUE(bool(deflated)) << toString(deflated.takeError());
  Expected<NpyArray> member = deflated->read("in0", UINT64_MAX, true);
  ASSERT_TRUE(bool(member)) << toString(member.takeError());
  EXPECT_EQ(member->data.size(), 240u);
  EXPECT_FALSE(member->file);
}

TEST(Npz, WritingIntoNowhereIsAnError) {
  std::string message = toString(writeNpz("no/such/directory/a.npz", {}));
  EXPECT_NE(message.find("no/such/directory/a.npz: cannot be written"),
            std::string::npos)
      << message;
}

TEST(Npy, ConvertsFortranOrderAndBigEndian) {
  // Columns (1, 4), (2, 5), (3, 6).
  StringRef data("\0\1\0\4\0\2\0\5\0\3\0\6", 12);
  Expected<NpyArray> array = parseNpy(
      npyBytes("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n",
               data),
      "a.npy");
  ASSERT_TRUE(bool(array)) << toString(array.takeError());
  EXPECT_EQ(valuesOf<int16_t>(*array),
            (std::vector<int16_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, RefusesWhatItCannotRead) {
  auto has = [](const std::string &message, StringRef part) {
    return StringRef(message).contains(part);
  };
  EXPECT_TRUE(
      has(refusal("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}"),
          "refused"));
  EXPECT_TRUE(has(
      refusal("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}"),
      "records"));
  EXPECT_TRUE(
      has(refusal("{'descr': '<f3', 'fortran_order': False, 'shape': ()}"),
          "'<f3' is not supported"));
  EXPECT_TRUE(
      has(refusal("{'descr': '<f4', 'fortran_order': False, 'shape': (4,)}",
                  "abcd"),
          "promises 16 bytes of data, the file has 4"));
  EXPECT_TRUE(
      has(refusal("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
                  "abcdefgh"),
          "promises 4 bytes of data, the file has 8"));
  EXPECT_TRUE(has(refusal("{'descr': '<f4', 'fortran_order': False, 'shape': "
                          "(9223372036854775807, 4)}"),
                  "overflows"));
  EXPECT_TRUE(has(refusal("{'descr': '<f4', 'fortran_order': False, 'shape': "
                          "(99999999999999999999,)}"),
                  "expected a size"));
  EXPECT_TRUE(
      has(refusal("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}"),
          "expected a size"));
  EXPECT_TRUE(
      has(refusal("{'descr': '<f4', 'shape': ()}"), "expected the keys"));
  EXPECT_TRUE(has(refusal("{'descr': '<f4', 'descr': '<f4'}"),
                  "unexpected key 'descr'"));
  EXPECT_TRUE(has(refusal("{'descr': '<f4"), "does not end"));
  EXPECT_TRUE(has(refusal(""), "expected a dict"));
  EXPECT_TRUE(has(refusal("{'descr': '<f4', 'fortran_order': False, "
                          "'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}"),
                  "more than 16 dims"));
}

TEST(Npy, SaysWhatAHeaderLacksAndWhere) {
  static constexpr const char *cases[][2] = {
      {"{'descr' '<f4'}",
       "a.npy: at byte 19: array header: expected ':' after key 'descr'"},
      {"{descr: '<f4'}", "a.npy: at byte 11: array header: expected a string"},
      {"{'descr': '<f4", "array header: a string does not end"},
      {"{'descr': ''}", "array header: empty element type"},
      {"{'descr': '<'}", "array header: empty element type"},
      {"{'descr': [('a', '<f4')]}",
       "array header: arrays of records are not supported"},
      {"{'descr': '|O'}", "array of Python objects ('|O') refused: reading it "
                          "could run code; save plain numbers"},
      {"{'fortran_order': 1}", "array header: expected True or False"},
      {"{'shape': [1]}", "array header: expected the shape as a tuple"},
      {"{'shape': (1 2)}", "array header: expected ',' or ')' in the shape"},
      {"{'descr': '<f4' 'shape': ()}", "array header: expected ',' or '}'"},
      {"{'shape': (1,)}", "array header: expected the keys 'descr', "
                          "'fortran_order' and 'shape'"},
      {"{'name': 'a'}", "array header: unexpected key 'name'"}};
  for (const auto &[header, message] : cases)
    EXPECT_TRUE(StringRef(refusal(header)).contains(message))
        << header << " gives: " << refusal(header);
}

TEST(Npz, EveryTruncationIsAnError) {
  std::vector<char> bytes = decode(deflatedArchive);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(readAll(ArrayRef<char>(bytes).take_front(size)).empty())
        << size;
}

TEST(Npz, DamagedArchivesNeverCrash) {
  std::vector<char> original = decode(deflatedArchive);
  EXPECT_EQ(readAll(original), "");
  std::mt19937 random(7);
  for (size_t i = 0; i < original.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<char> bytes = original;
      bytes[i] ^= 1 << bit;
      readAll(bytes);
    }
  for (int round = 0; round < 20000; ++round) {
    std::vector<char> bytes = original;
    for (unsigned edits = random() % 4 + 1; edits-- > 0;) {
      static constexpr char interesting[] = {0,    1,    -1,  127,
                                             -128, '\'', '(', ','};
      size_t at = random() % bytes.size();
      if (random() % 2)
        bytes[at] = interesting[random() % sizeof(interesting)];
      else
        bytes[at] = static_cast<char>(random());
    }
    readAll(bytes);
  }
}

/// One member "a" of `data`, not deflated, as zip has it.
static std::vector<char> storedArchive(StringRef data) {
  std::string text;
  auto put = [&](uint64_t value, int bytes) {
    for (; bytes-- > 0; value >>= 8)
      text += static_cast<char>(value);
  };
  auto numbers = [&](uint32_t signature, bool isEntry) {
    put(signature, 4);
    put(isEntry ? 20 : 0, isEntry ? 4 : 2); // versions
    put(0, 8);                              // flags, method, time
    put(0, 4);                              // checksum
    put(data.size(), 4);
    put(data.size(), 4);
    put(1, 2); // of the name
    put(0, isEntry ? 16 : 2);
    text += 'a';
  };
  numbers(0x04034b50, /*isEntry=*/false);
  text += data;
  size_t directory = text.size();
  numbers(0x02014b50, /*isEntry=*/true);
  size_t bytes = text.size() - directory;
  put(0x06054b50, 4);
  put(0, 4);
  put(1, 2);
  put(1, 2);
  put(bytes, 4);
  put(directory, 4);
  put(0, 2);
  return std::vector<char>(text.begin(), text.end());
}

TEST(Npz, SaysWhatIsWrongAndWhere) {
  // The local header ends at 31 and the data at 35; an entry of 47 bytes and
  // the end of the directory, of 22, follow.
  const std::vector<char> good = storedArchive("data");
  constexpr size_t kEntry = 35, kEnd = kEntry + 47;
  ASSERT_EQ(good.size(), kEnd + 22);
  auto with = [&](size_t at, std::initializer_list<int> bytes) {
    std::vector<char> poked = good;
    for (int byte : bytes)
      poked[at++] = static_cast<char>(byte);
    return StringRef(readAll(poked)).rtrim().str();
  };
  EXPECT_EQ(with(kEnd + 10, {0xff, 0xff}),
            "test.npz: at byte 82: zip64 directory locator is missing");
  EXPECT_EQ(with(kEnd + 16, {100, 0, 0, 0}),
            "test.npz: at byte 82: the zip directory is said to be outside the "
            "file");
  EXPECT_EQ(with(kEntry, {0}),
            "test.npz: at byte 35: entry 0 of the zip directory is damaged");
  EXPECT_EQ(with(kEnd + 10, {2}),
            "test.npz: at byte 82: entry 1 of the zip directory is damaged");
  EXPECT_EQ(with(kEntry + 28, {9, 0}),
            "test.npz: at byte 35: entry 0 of the zip directory is cut off");
  EXPECT_EQ(with(kEntry + 8, {1}),
            "test.npz: at byte 35: member 'a' is encrypted");
  EXPECT_EQ(with(kEntry + 10, {12}),
            "test.npz: at byte 35: member 'a' uses compression method 12, "
            "expected 0 (stored) or 8 (deflated)");
  EXPECT_EQ(with(0, {0}),
            "test.npz: at byte 0: member 'a': no local header here");
  EXPECT_EQ(
      with(kEntry + 20, {200}),
      "test.npz: at byte 31: member 'a' needs 200 bytes, the file has 104");
  EXPECT_EQ(with(kEntry + 24, {5}),
            "test.npz: at byte 0: member 'a' is stored, but its two sizes "
            "differ");
  EXPECT_EQ(with(kEntry + 10,
                 {8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 64}),
            "test.npz: at byte 31: member 'a' claims 1073741824 bytes, which "
            "its 4 compressed bytes cannot hold");
}

TEST(Npz, FollowsTheLocatorOfALargeDirectory) {
  std::vector<char> bytes = storedArchive("data");
  constexpr size_t kEnd = 82;
  // A locator that points to what is no directory.
  std::vector<char> locator = {0x50, 0x4b, 0x06, 0x07, 0, 0, 0, 0, 7, 0,
                               0,    0,    0,    0,    0, 0, 1, 0, 0, 0};
  bytes.insert(bytes.begin() + kEnd, locator.begin(), locator.end());
  bytes[kEnd + 20 + 10] = bytes[kEnd + 20 + 11] = -1;
  EXPECT_EQ(readAll(bytes), "test.npz: at byte 7: no zip64 directory here");
}

TEST(Npy, SaysWhereTheFileEnds) {
  auto said = [](StringRef text) {
    Expected<NpyArray> array =
        parseNpy(ArrayRef<char>(text.data(), text.size()), "a.npy");
    return array ? std::string() : toString(array.takeError());
  };
  EXPECT_EQ(said("no array at all"), "a.npy: at byte 0: not a .npy array");
  EXPECT_EQ(said(StringRef("\x93NUMPY\x04\x00\x00\x00", 10)),
            "a.npy: at byte 6: format version 4, expected 1, 2 or 3");
  EXPECT_EQ(said(StringRef("\x93NUMPY\x02\x00\x00\x00", 10)),
            "a.npy: at byte 10: the file ends inside the array header");
  EXPECT_EQ(said(StringRef("\x93NUMPY\x01\x00\x09\x00{}", 12)),
            "a.npy: at byte 12: the file ends inside the array header");
  EXPECT_EQ(refusal("{'descr': '<f4', 'fortran_order': False, 'shape': "
                    "(4611686018427387904, 4)}"),
            "a.npy: at byte 10: the array's size overflows");
}
