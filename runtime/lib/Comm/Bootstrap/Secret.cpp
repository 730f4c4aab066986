//===- Secret.cpp - How processes come by their job's secret --------------===//

#include "Comm/Bootstrap/Secret.h"
#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

using namespace shardrt;
using namespace shardc::crypto;

static std::string textOf(const Variables &variables, const char *name) {
  const char *text = variables(name);
  return text ? text : "";
}

/// Whether nobody but this user gets at what is in `path`.
static bool isPrivate(const std::string &path) {
  struct stat found = {};
  return lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
         found.st_uid == geteuid() && (found.st_mode & 077) == 0;
}

/// Where the secret of `launch` goes. The name says which job, and of which
/// network of this host: there is one listener at a port of each.
static std::string placeOf(const Variables &variables, const Launch &launch) {
  char network[64] = "";
  (void)!readlink("/proc/self/ns/net", network, sizeof(network) - 1);
  std::string words = "shardrt secret\n" + launch.launcher + "\n" +
                      launch.token + "\n" + launch.host + "\n" +
                      std::to_string(launch.port) + "\n" +
                      std::to_string(launch.size) + "\n" + network;
  std::string name =
      "/shardrt-" + toHex(sha256(bytesOf(words))).substr(0, 32) + ".secret";
  std::string runtime = textOf(variables, "XDG_RUNTIME_DIR");
  if (!runtime.empty() && runtime.front() == '/' && isPrivate(runtime))
    return runtime + name;
  std::string base = textOf(variables, "TMPDIR");
  if (base.empty() || base.front() != '/')
    base = "/tmp";
  return base + "/shardrt-" + std::to_string(geteuid()) + name;
}

std::string shardrt::readSecret(const Variables &variables, Launch &launch) {
  launch.isInsecure |= textOf(variables, "SHARDRT_INSECURE") == "1";
  launch.encrypts |= textOf(variables, "SHARDRT_ENCRYPT") == "1";
  std::string file = textOf(variables, "SHARDRT_SECRET_FILE"),
              text = textOf(variables, "SHARDRT_SECRET");
  if (!file.empty()) {
    Key key;
    std::string error = readSecretFile(file, key);
    if (!error.empty())
      return "SHARDRT_SECRET_FILE: " + error;
    launch.secret = key;
    return {};
  }
  if (!text.empty()) {
    launch.secret = keyFromHex(text);
    // Its digits are not for a message.
    return launch.secret ? std::string()
                         : "SHARDRT_SECRET: expected 64 hexadecimal digits, as "
                           "'openssl rand -hex 32' prints them";
  }
  if (launch.isOneHost) {
    launch.secretFile = placeOf(variables, launch);
    return {};
  }
  if (launch.isInsecure)
    return {};
  return (launch.launcher.empty() ? std::string("the job") : launch.launcher) +
         " does not say that all ranks are on one host, and there is no secret "
         "by which they know one another: give all of them "
         "SHARDRT_SECRET_FILE, a file of mode 0600 ('umask 077; openssl rand "
         "-hex 32 > FILE'), or SHARDRT_SECRET; --insecure does without, on a "
         "network where all are trusted";
}

std::string shardrt::shareSecret(const Launch &launch, const Key &secret) {
  std::string directory =
      launch.secretFile.substr(0, launch.secretFile.rfind('/'));
  std::string error;
  // Another job may take the empty directory away between two of these steps.
  for (int attempt = 0; attempt < 20; ++attempt) {
    if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
      return "cannot make " + directory +
             " for the job's secret: " + std::strerror(errno);
    if (!isPrivate(directory)) {
      if (access(directory.c_str(), F_OK) != 0)
        continue;
      return directory + " belongs to another user, or is open to others: "
                         "remove it, or set XDG_RUNTIME_DIR or TMPDIR to a "
                         "directory of yours, or SHARDRT_SECRET_FILE";
    }
    bool isTaken = false;
    error = writeSecretFile(launch.secretFile, secret, &isTaken);
    if (error.empty())
      return {};
    if (isTaken)
      unlink(launch.secretFile.c_str());
    else if (access(directory.c_str(), F_OK) == 0)
      return error;
  }
  return error;
}

void shardrt::removeSecret(const Launch &launch, const Key &secret) {
  Key found;
  if (launch.secretFile.empty() ||
      !readSecretFile(launch.secretFile, found).empty() ||
      !equal(found, secret))
    return;
  unlink(launch.secretFile.c_str());
  std::string directory =
      launch.secretFile.substr(0, launch.secretFile.rfind('/'));
  std::string own = "/shardrt-" + std::to_string(geteuid());
  if (directory.size() > own.size() && directory.ends_with(own))
    rmdir(directory.c_str()); // Stays while another job's is in it.
}
