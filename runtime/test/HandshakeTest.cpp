//===- HandshakeTest.cpp - Who proves to be of a job ----------------------===//
//
// Every field of what two processes know and say of a connection matters: one
// bit of difference, and neither side takes the other in.
//
//===----------------------------------------------------------------------===//

#include "Comm/Bootstrap/Handshake.h"
#include <functional>
#include <gtest/gtest.h>

using namespace shardrt;
using namespace shardc::crypto;

namespace {
const Key secret = sha256(bytesOf("the secret of a job"));
const Link store = {"store", "job 7", 29'500, 0};
const Claim rankTwo = {2, 4, 0};

std::string flipped(std::string text, size_t bit) {
  text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
  return text;
}

/// Both sides of a handshake, and what they said.
struct Dialogue {
  Handshake connecter{secret, store}, listener{secret, store};
  std::string greeting = connecter.greet(rankTwo);
  std::string challenge = listener.challenge(greeting);
  std::string proof = connecter.answer(challenge);
  bool isProven = listener.check(proof);
};

TEST(Handshake, ThoseOfAJobProveItAndHaveTheSameKeys) {
  Dialogue one, two;
  ASSERT_TRUE(one.isProven && two.isProven);
  EXPECT_EQ(one.listener.claim().rank, 2);
  EXPECT_EQ(one.listener.claim().size, 4);
  EXPECT_EQ(one.connecter.keys().send, one.listener.keys().receive);
  EXPECT_EQ(one.connecter.keys().receive, one.listener.keys().send);
  // One for each direction, and of each connection others.
  EXPECT_NE(one.connecter.keys().send, one.connecter.keys().receive);
  EXPECT_NE(one.connecter.keys().send, two.connecter.keys().send);
  // No word holds the secret, its digits or the job's name.
  std::string all = one.greeting + one.challenge + one.proof;
  std::string raw(secret.begin(), secret.end());
  for (const std::string &word : {raw, toHex(secret), store.job})
    EXPECT_EQ(all.find(word), std::string::npos);
}

TEST(Handshake, OneBitOfWhatIsSaidIsEnoughToBeRefused) {
  Dialogue good;
  ASSERT_TRUE(good.isProven);
  int refused = 0;
  for (size_t bit = 0; bit < 8 * good.greeting.size(); ++bit) {
    Handshake connecter(secret, store), listener(secret, store);
    std::string challenge =
        listener.challenge(flipped(connecter.greet(rankTwo), bit));
    std::string proof = connecter.answer(challenge);
    EXPECT_TRUE(proof.empty()) << "bit " << bit << " of the greeting";
    // As would one who goes on without having been convinced.
    EXPECT_FALSE(!challenge.empty() && listener.check(proof));
    ++refused;
  }
  for (size_t bit = 0; bit < 8 * good.challenge.size(); ++bit) {
    Handshake connecter(secret, store), listener(secret, store);
    std::string challenge = listener.challenge(connecter.greet(rankTwo));
    EXPECT_TRUE(connecter.answer(flipped(challenge, bit)).empty())
        << "bit " << bit << " of the challenge";
    ++refused;
  }
  for (size_t bit = 0; bit < 8 * good.proof.size(); ++bit) {
    Handshake connecter(secret, store), listener(secret, store);
    std::string proof =
        connecter.answer(listener.challenge(connecter.greet(rankTwo)));
    ASSERT_FALSE(proof.empty());
    EXPECT_FALSE(listener.check(flipped(proof, bit)))
        << "bit " << bit << " of the proof";
    // There is no second try.
    EXPECT_FALSE(listener.check(proof));
    ++refused;
  }
  EXPECT_EQ(refused, 8 * (52 + 64 + 32));
}

TEST(Handshake, OneBitOfWhatIsKnownIsEnoughToBeRefused) {
  struct {
    const char *what;
    std::function<void(Key &, Link &)> change;
  } const cases[] = {
      {"the secret's first bit", [](Key &key, Link &) { key[0] ^= 1; }},
      {"the secret's last bit", [](Key &key, Link &) { key[31] ^= 0x80; }},
      {"the purpose", [](Key &, Link &link) { link.purpose = "storf"; }},
      {"the world", [](Key &, Link &link) { link.purpose = "world 1"; }},
      {"the job", [](Key &, Link &link) { link.job = "job 6"; }},
      {"no job", [](Key &, Link &link) { link.job = ""; }},
      {"a letter that moved",
       [](Key &, Link &link) {
         link.purpose = "storej";
         link.job = "ob 7";
       }},
      {"the port", [](Key &, Link &link) { link.port ^= 1; }},
      {"the listener's rank", [](Key &, Link &link) { link.listener = 1; }},
  };
  for (const auto &one : cases) {
    Key key = secret;
    Link link = store;
    one.change(key, link);
    Handshake connecter(key, link), listener(secret, store);
    std::string challenge = listener.challenge(connecter.greet(rankTwo));
    EXPECT_FALSE(challenge.empty());
    EXPECT_TRUE(connecter.answer(challenge).empty()) << one.what;
    // One who does not mind whom it talks to, with what the other does not
    // know.
    Handshake careless(key, link), strict(secret, store);
    std::string greeting = careless.greet(rankTwo);
    Handshake accomplice(key, link);
    std::string proof = careless.answer(accomplice.challenge(greeting));
    ASSERT_FALSE(proof.empty());
    strict.challenge(greeting);
    EXPECT_FALSE(strict.check(proof)) << one.what;
  }
}

TEST(Handshake, ReplayReflectionAndOtherPlacesAreWorthNothing) {
  Dialogue observed;
  ASSERT_TRUE(observed.isProven);
  // All that a rank once said, said again.
  Handshake listener(secret, store);
  EXPECT_FALSE(listener.challenge(observed.greeting).empty());
  EXPECT_FALSE(listener.check(observed.proof));
  // All that a listener once said, to a rank that connects.
  Handshake connecter(secret, store);
  connecter.greet(rankTwo);
  EXPECT_TRUE(connecter.answer(observed.challenge).empty());
  // A listener's own proof as that of the connecter.
  Handshake mirrored(secret, store);
  std::string challenge = mirrored.challenge(observed.greeting);
  EXPECT_FALSE(mirrored.check(std::string_view(challenge).substr(32)));
  // A rank's greeting as its challenge.
  Handshake talker(secret, store);
  std::string greeting = talker.greet(rankTwo);
  EXPECT_TRUE(talker.answer(greeting + std::string(12, '\0')).empty());
  // A proof for one rank's connection from another's.
  Handshake third(secret, store), at(secret, store);
  std::string said = at.challenge(third.greet({3, 4, 0}));
  EXPECT_FALSE(at.check(observed.proof));
  EXPECT_FALSE(third.answer(said).empty());
  // Out of order.
  Handshake early(secret, store);
  EXPECT_FALSE(early.check(observed.proof));
  EXPECT_TRUE(early.answer(observed.challenge).empty());
  EXPECT_TRUE(early.challenge(observed.greeting.substr(1)).empty());
}

TEST(SealedStream, AFrameThatIsNotTheNextOneIsNoticed) {
  Dialogue finished;
  SealedStream here(finished.connecter.keys()), there(finished.listener.keys());
  std::string body, first = here.seal("one"), second = here.seal("two");
  EXPECT_EQ(first.find("one"), std::string::npos);
  using Taken = SealedStream::Taken;
  // In order, in pieces, and with the next one behind it.
  std::string received = first.substr(0, 5);
  EXPECT_EQ(there.take(received, body, 100), Taken::Nothing);
  received += first.substr(5) + second;
  EXPECT_EQ(there.take(received, body, 100), Taken::Frame);
  EXPECT_EQ(body, "one");
  EXPECT_EQ(there.take(received, body, 100), Taken::Frame);
  EXPECT_EQ(body, "two");
  // The other direction has keys and numbers of its own.
  std::string back = there.seal("three");
  EXPECT_EQ(here.take(back, body, 100), Taken::Frame);

  auto takes = [&](std::string words, size_t most = 100) {
    SealedStream fresh(finished.listener.keys());
    return fresh.take(words, body, most);
  };
  EXPECT_EQ(takes(first), Taken::Frame);
  EXPECT_EQ(takes(second), Taken::Forged) << "one was left out";
  EXPECT_EQ(takes(first, 2), Taken::Forged) << "longer than what is taken";
  EXPECT_EQ(takes(std::string(4, '\xff')), Taken::Forged);
  SealedStream mirror(finished.connecter.keys());
  std::string own = first;
  EXPECT_EQ(mirror.take(own, body, 100), Taken::Forged) << "reflected";
  {
    SealedStream fresh(finished.listener.keys());
    std::string twice = first + first;
    EXPECT_EQ(fresh.take(twice, body, 100), Taken::Frame);
    EXPECT_EQ(fresh.take(twice, body, 100), Taken::Forged) << "repeated";
  }
  for (size_t bit = 0; bit < 8 * first.size(); ++bit)
    EXPECT_NE(takes(flipped(first, bit)), Taken::Frame) << "bit " << bit;
}
} // namespace
