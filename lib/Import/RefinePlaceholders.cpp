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

/// The first of some numbers from `from` down, `step` apart, that is told from
/// `found` and is as asked.
static std::optional<int64_t> nextClear(int64_t from, int64_t step,
                                        ArrayRef<int64_t> found,
                                        function_ref<bool(int64_t)> isLike) {
  constexpr int64_t tries = 400;
  int64_t last = std::max(Extents::least, from - tries * step);
  for (int64_t number = from; number >= last; number -= step)
    if (isLike(number) && isClear(number, found))
      return number;
  return std::nullopt;
}

/// Gives each of `usual` the numbers of twins, a little lesser ones, so that
/// they have the same order, and parts of them are other numbers too. Leaves
/// out those that there are none for.
static std::vector<PlaceholderNumbers> withTwins(ArrayRef<int64_t> usual) {
  std::vector<PlaceholderNumbers> all;
  SmallVector<int64_t> evens, odds;
  for (int64_t prime : usual) {
    std::optional<int64_t> even =
        nextClear(prime - prime / 128, 1, evens,
                  [&](int64_t number) { return isEvenLike(number, prime); });
    // With the same remainders by what strides mostly are.
    int64_t step = prime >= kMostPlaceholder / 16 ? 720 : 12;
    std::optional<int64_t> odd = nextClear(prime - step, step, odds, isPrime);
    if (!even || !odd)
      continue;
    evens.push_back(*even);
    odds.push_back(*odd);
    all.push_back({prime, *even, *odd});
  }
  return all;
}

/// Where those are too large, since several are in one tensor: primes up to
/// `most` of the same kind, which are told from a few times one another.
std::vector<PlaceholderNumbers> shardc::import::primesUpTo(int64_t most) {
  if (most >= kMostPlaceholder)
    return withTwins(kPrimes);
  SmallVector<int64_t> found;
  for (int64_t number = most;
       number >= Extents::least && found.size() < std::size(kPrimes); --number)
    if (isPrime(number) && isClear(number, found))
      found.push_back(number);
  return withTwins(found);
}
