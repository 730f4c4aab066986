//===- Handshake.cpp - Two processes prove that they are of a job ---------===//

#include "Comm/Bootstrap/Handshake.h"
#include <utility>

using namespace shardrt;
using namespace shardc::crypto;

/// Opens every greeting, and says which handshake it begins.
static constexpr std::string_view magic = "SHARDRT2";
static_assert(magic.size() == 8);

static void append(std::string &text, uint64_t word, int bytes) {
  for (int i = 0; i < bytes; ++i)
    text.push_back(static_cast<char>(word >> (8 * i)));
}

static uint32_t wordAt(std::string_view text, size_t at) {
  uint32_t word = 0;
  for (int i = 0; i < 4; ++i)
    word |= static_cast<uint32_t>(static_cast<unsigned char>(text[at + i]))
            << (8 * i);
  return word;
}

/// With its length before it, so that no two lists of words read the same.
static void appendWord(std::string &text, std::string_view word) {
  append(text, word.size(), 8);
  text += word;
}

static std::string makeNonce() {
  Key nonce = randomKey();
  return {reinterpret_cast<const char *>(nonce.data()), nonce.size()};
}

static std::string textOf(const Digest &digest) {
  return {reinterpret_cast<const char *>(digest.data()), digest.size()};
}

Digest Handshake::prove(std::string_view side) const {
  std::string words;
  appendWord(words, "shardrt handshake");
  appendWord(words, side);
  appendWord(words, link.purpose);
  appendWord(words, link.job);
  append(words, static_cast<uint64_t>(link.port), 8);
  append(words, static_cast<uint64_t>(link.listener), 8);
  appendWord(words, greeting);
  appendWord(words, nonce);
  return hmacSha256(secret, bytesOf(words));
}

void Handshake::makeKeys(bool isConnecter) {
  made.send = prove("key of the connecter");
  made.receive = prove("key of the listener");
  if (!isConnecter)
    std::swap(made.send, made.receive);
  state = State::Done;
}

std::string Handshake::greet(const Claim &claim) {
  claimed = claim;
  greeting = magic;
  append(greeting, static_cast<uint64_t>(claim.rank), 4);
  append(greeting, static_cast<uint64_t>(claim.size), 4);
  append(greeting, claim.flags, 4);
  greeting += makeNonce();
  state = State::Greeted;
  return greeting;
}

std::string Handshake::answer(std::string_view challenge) {
  if (std::exchange(state, State::Done) != State::Greeted ||
      challenge.size() != challengeBytes)
    return {};
  nonce = challenge.substr(0, 32);
  if (!equal(prove("listener"), bytesOf(challenge.substr(32))))
    return {};
  makeKeys(/*isConnecter=*/true);
  return textOf(prove("connecter"));
}

std::string Handshake::challenge(std::string_view words) {
  if (state != State::Begin || words.size() != greetingBytes ||
      words.substr(0, magic.size()) != magic)
    return {};
  greeting = words;
  claimed = {wordAt(words, 8), wordAt(words, 12), wordAt(words, 16)};
  nonce = makeNonce();
  state = State::Challenged;
  return nonce + textOf(prove("listener"));
}

bool Handshake::check(std::string_view proof) {
  if (std::exchange(state, State::Done) != State::Challenged ||
      !equal(prove("connecter"), bytesOf(proof)))
    return false;
  makeKeys(/*isConnecter=*/false);
  return true;
}

std::string SealedStream::seal(std::string_view body) {
  std::string frame;
  append(frame, body.size() + sealBytes, 4);
  frame.resize(4 + body.size() + sealBytes);
  auto *at = reinterpret_cast<uint8_t *>(frame.data());
  shardc::crypto::seal(keys.send, sent++, {at, 4}, bytesOf(body),
                       {at + 4, body.size() + sealBytes});
  return frame;
}

SealedStream::Taken SealedStream::take(std::string &received, std::string &body,
                                       size_t most) {
  if (received.size() < 4)
    return Taken::Nothing;
  size_t length = wordAt(received, 0);
  if (length < sealBytes || length > most + sealBytes)
    return Taken::Forged;
  if (received.size() < 4 + length)
    return Taken::Nothing;
  body.resize(length - sealBytes);
  Bytes all = bytesOf(received);
  if (!open(keys.receive, taken++, all.first(4), all.subspan(4, length),
            {reinterpret_cast<uint8_t *>(body.data()), body.size()}))
    return Taken::Forged;
  received.erase(0, 4 + length);
  return Taken::Frame;
}
