//===- UserKey.cpp - Whose machine code is loaded -------------------------===//

#include "shardc/Seal/UserKey.h"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

using namespace shardc;

static constexpr std::string_view kPublic = "shardc-public-key ";

bool UserKey::trusts(const std::optional<crypto::PublicKey> &signer) const {
  return signer &&
         std::find(trusted.begin(), trusted.end(), *signer) != trusted.end();
}

static std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// Where the key is; an error, or an empty string.
static std::string findKey(const std::string &given, UserKey &key) {
  key.path = given.empty() ? environment("SHARDC_KEY") : given;
  key.isGiven = !key.path.empty();
  if (key.isGiven)
    return {};
  std::string config = environment("XDG_CONFIG_HOME");
  if (std::string home = environment("HOME"); config.empty() && !home.empty())
    config = home + "/.config";
  if (config.empty() || config[0] != '/')
    return "no place for a key: neither XDG_CONFIG_HOME nor HOME is set to a "
           "directory; name a file with --key=FILE or SHARDC_KEY";
  key.path = config + "/shardc/key";
  return {};
}

/// Reads a file of public keys; false where `path` is none. No secret is in it,
/// but who can write to it says what code runs.
static bool readPublicKeys(UserKey &key, std::string &problem) {
  int file = open(key.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return false;
  struct stat status;
  std::string text(1 << 16, '\0');
  ssize_t count = -1;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode))
    count = read(file, text.data(), text.size());
  close(file);
  text.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  if (text.compare(0, kPublic.size(), kPublic) != 0)
    return false;
  if ((status.st_uid != geteuid() && status.st_uid != 0) ||
      (status.st_mode & 022) != 0) {
    problem = key.path + ": others may write to this file of public keys: it "
                         "must belong to you, with mode 0644 or less "
                         "(chmod 644)";
    return true;
  }
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (line.empty())
      continue;
    std::optional<crypto::Key> known;
    if (line.substr(0, kPublic.size()) == kPublic)
      known = crypto::keyFromHex(line.substr(kPublic.size()));
    if (!known) {
      problem = key.path + ": expected lines of '" + std::string(kPublic) +
                "' and 64 hexadecimal digits, got '" +
                std::string(line.substr(0, 20)) + "'";
      key.trusted.clear();
      return true;
    }
    key.trusted.push_back(*known);
  }
  return true;
}

/// Makes the directory at `path` and those above it, for this user alone.
static bool makeDirectories(const std::string &path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    std::string part = path.substr(0, end);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST)
      return false;
    if (end == std::string::npos)
      return true;
  }
}

/// Makes the key that is to be at `key.path`, and a file of its public half. Of
/// processes that do so at once, one makes it, and all have that one.
static std::string makeKey(UserKey &key) {
  std::string directory = key.path.substr(0, key.path.find_last_of('/'));
  if (!makeDirectories(directory))
    return directory +
           ": a key for signing cannot be made here: " + std::strerror(errno);
  crypto::SigningKey made = crypto::makeSigningKey();
  bool taken = false;
  std::string problem = crypto::writeSecretFile(key.path, made.seed, &taken);
  if (taken)
    return {};
  if (!problem.empty())
    return problem;
  std::string text =
      std::string(kPublic) + crypto::toHex(made.publicKey) + "\n";
  // Nothing needs it here: it is there to be passed on. What somebody else has
  // put in its place is left alone, and a pipe is not waited for.
  int file =
      open((key.path + ".pub").c_str(),
           O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
  struct stat status;
  if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
      status.st_uid == geteuid() && status.st_nlink == 1 &&
      ftruncate(file, 0) == 0) {
    [[maybe_unused]] ssize_t count = write(file, text.data(), text.size());
  }
  if (file >= 0)
    close(file);
  return {};
}

std::string shardc::readUserKey(const std::string &given, bool make,
                                UserKey &key) {
  key = {};
  if (std::string problem = findKey(given, key); !problem.empty())
    return problem;
  if (!key.isGiven && access(key.path.c_str(), F_OK) != 0 && errno == ENOENT) {
    struct stat status;
    if (lstat(key.path.c_str(), &status) != 0) {
      if (!make)
        return {};
      if (std::string problem = makeKey(key); !problem.empty())
        return problem;
    }
  }
  std::string problem;
  if (readPublicKeys(key, problem))
    return problem;
  crypto::Key seed;
  problem = crypto::readSecretFile(key.path, seed);
  if (!problem.empty())
    return problem;
  key.secret = crypto::signingKeyFromSeed(seed);
  crypto::wipe(seed);
  key.trusted = {key.secret->publicKey};
  return {};
}
