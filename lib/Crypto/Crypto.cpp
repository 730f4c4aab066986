//===- Crypto.cpp - Digests, keys, proofs, sealed frames ------------------===//
//
// Thin: each function is one of libsodium's, with types that cannot be mixed
// up.
//
//===----------------------------------------------------------------------===//
#include "shardc/Crypto/Crypto.h"
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <sodium.h>

namespace shardc::crypto {

// libsodium chooses its implementations once; without a source of random bits
// it cannot start, and nothing that follows would be secret.
static void needSodium() {
  static const int status = sodium_init();
  if (status < 0) {
    std::fputs(
        "shardc: the system gives no random bits: cryptography cannot start\n",
        stderr);
    std::abort();
  }
}

struct Sha256::State {
  crypto_hash_sha256_state sodium;
};

Sha256::Sha256() : state(std::make_unique<State>()) {
  needSodium();
  crypto_hash_sha256_init(&state->sodium);
}

Sha256::~Sha256() = default;
Sha256::Sha256(Sha256 &&) noexcept = default;
Sha256 &Sha256::operator=(Sha256 &&) noexcept = default;

void Sha256::update(Bytes bytes) {
  crypto_hash_sha256_update(&state->sodium, bytes.data(), bytes.size());
}

Digest Sha256::finish() {
  Digest digest;
  crypto_hash_sha256_final(&state->sodium, digest.data());
  return digest;
}

Digest sha256(Bytes bytes) {
  Digest digest;
  crypto_hash_sha256(digest.data(), bytes.data(), bytes.size());
  return digest;
}

Digest hmacSha256(const Key &key, Bytes bytes) {
  Digest digest;
  static_assert(crypto_auth_hmacsha256_KEYBYTES == 32 &&
                crypto_auth_hmacsha256_BYTES == 32);
  crypto_auth_hmacsha256(digest.data(), bytes.data(), bytes.size(), key.data());
  return digest;
}

void fillRandom(std::span<uint8_t> bytes) {
  needSodium();
  randombytes_buf(bytes.data(), bytes.size());
}

Key randomKey() {
  Key key;
  fillRandom(key);
  return key;
}

bool equal(Bytes a, Bytes b) {
  return a.size() == b.size() &&
         sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

void wipe(std::span<uint8_t> bytes) {
  sodium_memzero(bytes.data(), bytes.size());
}

std::string toHex(Bytes bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

static int digitOf(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

std::optional<std::vector<uint8_t>> fromHex(std::string_view text) {
  if (text.size() % 2)
    return std::nullopt;
  std::vector<uint8_t> bytes;
  bytes.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    int high = digitOf(text[i]), low = digitOf(text[i + 1]);
    if (high < 0 || low < 0)
      return std::nullopt;
    bytes.push_back(uint8_t(high << 4 | low));
  }
  return bytes;
}

std::optional<Key> keyFromHex(std::string_view text) {
  auto bytes = fromHex(text);
  if (!bytes || bytes->size() != sizeof(Key))
    return std::nullopt;
  Key key;
  std::copy(bytes->begin(), bytes->end(), key.begin());
  wipe(*bytes);
  return key;
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

// libsodium's secret key is the seed with the public key behind it.
static std::array<uint8_t, crypto_sign_SECRETKEYBYTES>
sodiumKey(const SigningKey &key) {
  static_assert(crypto_sign_SECRETKEYBYTES == 64 &&
                crypto_sign_SEEDBYTES == 32);
  std::array<uint8_t, crypto_sign_SECRETKEYBYTES> joined;
  std::copy(key.seed.begin(), key.seed.end(), joined.begin());
  std::copy(key.publicKey.begin(), key.publicKey.end(), joined.begin() + 32);
  return joined;
}

SigningKey makeSigningKey() { return signingKeyFromSeed(randomKey()); }

SigningKey signingKeyFromSeed(const Key &seed) {
  needSodium();
  SigningKey key{seed, {}};
  std::array<uint8_t, crypto_sign_SECRETKEYBYTES> joined;
  crypto_sign_seed_keypair(key.publicKey.data(), joined.data(), seed.data());
  wipe(joined);
  return key;
}

Signature sign(const SigningKey &key, Bytes bytes) {
  needSodium();
  auto joined = sodiumKey(key);
  Signature signature;
  static_assert(crypto_sign_BYTES == sizeof(Signature));
  crypto_sign_detached(signature.data(), nullptr, bytes.data(), bytes.size(),
                       joined.data());
  wipe(joined);
  return signature;
}

bool verify(const PublicKey &key, Bytes bytes, const Signature &signature) {
  needSodium();
  return crypto_sign_verify_detached(signature.data(), bytes.data(),
                                     bytes.size(), key.data()) == 0;
}

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

static_assert(crypto_aead_chacha20poly1305_ietf_ABYTES == sealBytes &&
              crypto_aead_chacha20poly1305_ietf_KEYBYTES == sizeof(Key));

// The 96 bits that never come twice: the frame's number.
static std::array<uint8_t, crypto_aead_chacha20poly1305_ietf_NPUBBYTES>
nonceOf(uint64_t number) {
  std::array<uint8_t, crypto_aead_chacha20poly1305_ietf_NPUBBYTES> nonce{};
  for (int i = 0; i < 8; ++i)
    nonce[4 + i] = uint8_t(number >> 8 * i);
  return nonce;
}

void seal(const Key &key, uint64_t number, Bytes header, Bytes plain,
          std::span<uint8_t> sealed) {
  assert(sealed.size() == plain.size() + sealBytes &&
         "a sealed frame is sealBytes longer");
  needSodium();
  auto nonce = nonceOf(number);
  crypto_aead_chacha20poly1305_ietf_encrypt(
      sealed.data(), nullptr, plain.data(), plain.size(), header.data(),
      header.size(), nullptr, nonce.data(), key.data());
}

bool open(const Key &key, uint64_t number, Bytes header, Bytes sealed,
          std::span<uint8_t> plain) {
  if (sealed.size() < sealBytes || plain.size() != sealed.size() - sealBytes)
    return false;
  needSodium();
  auto nonce = nonceOf(number);
  return crypto_aead_chacha20poly1305_ietf_decrypt(
             plain.data(), nullptr, nullptr, sealed.data(), sealed.size(),
             header.data(), header.size(), nonce.data(), key.data()) == 0;
}

} // namespace shardc::crypto
