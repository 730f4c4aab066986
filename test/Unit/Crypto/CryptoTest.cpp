//===- CryptoTest.cpp - Published vectors, and one bit changed ------------===//
#include "shardc/Crypto/Crypto.h"
#include <gtest/gtest.h>

using namespace shardc::crypto;

static std::vector<uint8_t> hex(std::string_view text) {
  return fromHex(text).value();
}

// FIPS 180-4, the examples of NIST.
TEST(Crypto, Sha256OfPublishedMessages) {
  EXPECT_EQ(toHex(sha256(bytesOf(""))),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(toHex(sha256(bytesOf("abc"))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(toHex(sha256(bytesOf(
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Crypto, Sha256InPiecesIsThatOfTheWhole) {
  std::string million(1000000, 'a');
  for (size_t piece :
       {size_t(1), size_t(63), size_t(64), size_t(65), size_t(100000)}) {
    Sha256 sum;
    for (size_t at = 0; at < million.size(); at += piece)
      sum.update(bytesOf(std::string_view(million).substr(at, piece)));
    EXPECT_EQ(
        toHex(sum.finish()),
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
        << piece;
  }
}

// RFC 4231 gives keys of other lengths; a shorter key is the same as one with
// zeros behind it (RFC 2104). Test case 2: key "Jefe".
TEST(Crypto, HmacOfAPublishedMessage) {
  Key key{};
  std::copy_n("Jefe", 4, key.begin());
  EXPECT_EQ(toHex(hmacSha256(key, bytesOf("what do ya want for nothing?"))),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

// RFC 8032, section 7.1, tests 1 and 2.
TEST(Crypto, SignaturesOfPublishedKeys) {
  SigningKey key = signingKeyFromSeed(*keyFromHex(
      "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"));
  EXPECT_EQ(toHex(key.publicKey),
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  EXPECT_EQ(toHex(sign(key, {})),
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555f"
            "b8821590a33bacc61e39701cf9b46b"
            "d25bf5f0595bbe24655141438e7a100b");
  key = signingKeyFromSeed(*keyFromHex(
      "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"));
  EXPECT_EQ(toHex(sign(key, hex("72"))),
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da08"
            "5ac1e43e15996e458f3613d0f11d8c"
            "387b2eaeb4302aeeb00d291612bb0c00");
}

TEST(Crypto, ASignatureHoldsForItsKeyAndBytesAlone) {
  SigningKey key = makeSigningKey();
  std::vector<uint8_t> bytes = hex("00010203ff");
  Signature signature = sign(key, bytes);
  EXPECT_TRUE(verify(key.publicKey, bytes, signature));
  EXPECT_FALSE(verify(makeSigningKey().publicKey, bytes, signature));
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::vector<uint8_t> other = bytes;
    other[bit / 8] ^= 1 << bit % 8;
    EXPECT_FALSE(verify(key.publicKey, other, signature)) << bit;
  }
  for (size_t bit = 0; bit < 8 * signature.size(); ++bit) {
    Signature other = signature;
    other[bit / 8] ^= 1 << bit % 8;
    EXPECT_FALSE(verify(key.publicKey, bytes, other)) << bit;
  }
}

TEST(Crypto, ASealedFrameOpensWithItsKeyNumberAndHeaderAlone) {
  Key key = randomKey();
  std::vector<uint8_t> header = hex("0a0b"), plain = hex("112233445566"),
                       sealed(plain.size() + sealBytes), opened(plain.size());
  seal(key, 7, header, plain, sealed);
  ASSERT_TRUE(open(key, 7, header, sealed, opened));
  EXPECT_EQ(opened, plain);

  EXPECT_FALSE(open(key, 8, header, sealed, opened));
  EXPECT_FALSE(open(randomKey(), 7, header, sealed, opened));
  EXPECT_FALSE(open(key, 7, hex("0a0c"), sealed, opened));
  EXPECT_FALSE(open(key, 7, {}, sealed, opened));
  for (size_t bit = 0; bit < 8 * sealed.size(); ++bit) {
    std::vector<uint8_t> other = sealed;
    other[bit / 8] ^= 1 << bit % 8;
    EXPECT_FALSE(open(key, 7, header, other, opened)) << bit;
  }
  for (size_t length = 0; length < sealed.size(); ++length)
    EXPECT_FALSE(open(
        key, 7, header, Bytes(sealed).first(length),
        std::span(opened).first(length < sealBytes ? 0 : length - sealBytes)))
        << length;
}

TEST(Crypto, SealsInPlace) {
  Key key = randomKey();
  std::vector<uint8_t> plain(1000, 42), sealed(plain.size() + sealBytes),
      inPlace(sealed.size());
  seal(key, 0, {}, plain, sealed);
  std::copy(plain.begin(), plain.end(), inPlace.begin());
  seal(key, 0, {}, Bytes(inPlace).first(plain.size()), inPlace);
  EXPECT_EQ(inPlace, sealed);
  EXPECT_NE(std::vector<uint8_t>(sealed.begin(), sealed.begin() + plain.size()),
            plain);
}

TEST(Crypto, EqualComparesSizesAndBytes) {
  EXPECT_TRUE(equal({}, {}));
  EXPECT_TRUE(equal(hex("0102"), hex("0102")));
  EXPECT_FALSE(equal(hex("0102"), hex("0103")));
  EXPECT_FALSE(equal(hex("0102"), hex("010200")));
}

TEST(Crypto, HexadecimalDigitsAreReadAsTheyAreWritten) {
  EXPECT_EQ(toHex(hex("00Ff7a")), "00ff7a");
  EXPECT_EQ(fromHex("0"), std::nullopt);
  EXPECT_EQ(fromHex("0g"), std::nullopt);
  EXPECT_EQ(fromHex("+1"), std::nullopt);
  EXPECT_EQ(fromHex(" 1"), std::nullopt);
  EXPECT_EQ(fromHex("")->size(), 0u);
  EXPECT_EQ(keyFromHex(std::string(62, '0')), std::nullopt);
  EXPECT_TRUE(keyFromHex(std::string(64, '0')));
}

TEST(Crypto, RandomKeysDiffer) { EXPECT_NE(randomKey(), randomKey()); }
