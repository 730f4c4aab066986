//===- RefinePlaceholders.cpp - Numbers that stand for open extents -------===//
#include "Refiner.h"
#include "shardc/Layout/Placeholders.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

/// The usual placeholders: primes, of which neither a few times nor a half, a
/// third or a quarter is beside a number with small factors alone, which are
/// what programs have.
static constexpr int64_t kPrimes[] = {
    225383, 246713, 169681, 204917, 178349, 208837, 249859, 220399,
    257707, 156679, 186113, 198647, 229717, 234499, 201907, 210659,
    195413, 214541, 176777, 231347, 182617, 187987, 197033, 162229,
    261673, 154799, 152843, 150223, 159169, 236771, 192307, 166487};

static bool isPrime(int64_t number) {
  for (int64_t divisor = 2; divisor * divisor <= number; ++divisor)
    if (number % divisor == 0)
      return false;
  return true;
}

/// True if `number` is beside one whose factors are 2, 3 and, from some size
/// on, 5.
static bool isBesidePlain(int64_t number) {
  int64_t beside = nearby + 1, largest = number + beside;
  for (int64_t fives = 1; fives <= (number < 2 * 4096 ? 1 : largest);
       fives *= 5)
    for (int64_t threes = fives; threes <= largest; threes *= 3) {
      int64_t plain = threes;
      while (plain < number - beside)
        plain *= 2;
      if (plain <= largest)
        return true;
    }
  return false;
}

int64_t shardc::import::primeIn(int64_t placeholder,
                                const Placeholders &placeholders) {
  for (const PlaceholderNumbers &numbers : llvm::reverse(placeholders.primes))
    if (int64_t prime = numbers[placeholders.setIndex()];
        placeholder % prime == 0)
      return prime;
  return placeholder;
}

/// True if `number` and parts of it are told from plain numbers, and it from a
/// few times each of `found`.
static bool isClear(int64_t number, ArrayRef<int64_t> found) {
  for (int64_t times = 1; times <= timesBeside; ++times) {
    // A part that is less than any placeholder says nothing.
    if (isBesidePlain(times * number) ||
        (number / times >= Extents::least && isBesidePlain(number / times)))
      return false;
    for (int64_t other : found)
      for (int64_t more = 1; more <= timesBeside; ++more)
        if (std::abs(times * number - more * other) <= 2 * nearby)
          return false;
  }
  return true;
}

/// Halves, thirds and so on of `number` are rounded otherwise than of `usual`,
/// and no other such number divides it.
static bool isEvenLike(int64_t number, int64_t usual) {
  return number % 4 == 2 && number % 3 != usual % 3 &&
         number % 5 != usual % 5 && number % 7 != usual % 7 &&
         isPrime(number / 2);
}

/// Gives those of `usual` that there is one for an even number a little larger,
/// so that they have the same order, and what is a part of it is another number
/// too.
static std::vector<PlaceholderNumbers>
withEven(ArrayRef<std::array<int64_t, 2>> usual) {
  std::vector<PlaceholderNumbers> all;
  SmallVector<int64_t> found;
  for (auto [prime, other] : usual) {
    int64_t number = prime + prime / 128, last = number + 400;
    while (number < last &&
           !(isEvenLike(number, prime) && isClear(number, found)))
      ++number;
    if (number == last)
      continue;
    found.push_back(number);
    all.push_back({prime, number, other});
  }
  return all;
}

/// Where those are too large, since several are in one tensor: primes up to
/// `most` of the same kind, which are told from a few times one another.
std::vector<PlaceholderNumbers> shardc::import::primesUpTo(int64_t most) {
  std::vector<std::array<int64_t, 2>> pairs;
  if (most >= kMostPlaceholder) {
    for (int64_t prime : kPrimes) {
      int64_t other = prime + 200;
      while (!isPrime(other))
        ++other;
      pairs.push_back({prime, other});
    }
    return withEven(pairs);
  }
  std::vector<int64_t> found;
  for (int64_t number = most;
       number >= Extents::least && found.size() < 2 * std::size(kPrimes);
       --number)
    if (isPrime(number) && isClear(number, found))
      found.push_back(number);
  // Where there are few, the other one of each is the usual one of the next.
  size_t step = found.size() < 2 * std::size(kPrimes) ? 1 : 2;
  for (size_t i = 0; i + 1 < found.size(); i += step)
    pairs.push_back({found[i], found[i + 1]});
  return withEven(pairs);
}
