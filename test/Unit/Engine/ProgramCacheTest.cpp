//===- ProgramCacheTest.cpp - Programs of caches and files ----------------===//

#include "Programs.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/resource.h>

using namespace shardc::test;

namespace {

/// A folder that goes with the test; the user's key is there too.
class Folder {
public:
  Folder() {
    path = testing::TempDir() + "shardc-engine-XXXXXX";
    EXPECT_NE(mkdtemp(path.data()), nullptr);
    setenv("XDG_CONFIG_HOME", path.c_str(), 1);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::vector<std::filesystem::path> files(const std::string &suffix) const {
    std::vector<std::filesystem::path> found;
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(path))
      if (entry.path().string().ends_with(suffix))
        found.push_back(entry.path());
    return found;
  }
  std::string path;
};

EnginePtr makeCachingEngine(const std::string &folder) {
  shardc_engine_options options = {};
  options.size = sizeof(options);
  options.threads = 1;
  options.cache_directory = folder.c_str();
  shardc_engine *engine = nullptr;
  EXPECT_GOOD(shardc_engine_create(&options, &engine));
  return EnginePtr(engine);
}

std::vector<float> doubled(shardc_engine *engine, shardc_program *program) {
  BufferPtr x = put(engine, 0, {1, 2, 3, 4}, {4});
  return get(run(program, {{x.get(), x.get()}})[0][0].get());
}

TEST(Programs, AreFoundInTheCache) {
  Folder folder;
  std::string cache = folder.path + "/a/b";
  std::vector<float> right = {2, 4, 6, 8};
  {
    EnginePtr engine = makeCachingEngine(cache);
    ProgramPtr program = compile(engine.get(), kAddMul);
    EXPECT_EQ(doubled(engine.get(), program.get()), right);
  }
  auto files = folder.files(".program");
  ASSERT_EQ(files.size(), 1u);
  namespace fs = std::filesystem;
  EXPECT_EQ(fs::status(files[0]).permissions(), fs::perms(0600));
  EXPECT_EQ(fs::status(cache).permissions(), fs::perms(0700));
  auto before = fs::last_write_time(files[0]);
  // Found: used, and not written again.
  {
    EnginePtr engine = makeCachingEngine(cache);
    ProgramPtr program = compile(engine.get(), kAddMul);
    EXPECT_EQ(doubled(engine.get(), program.get()), right);
    EXPECT_STREQ(shardc_program_name(program.get()), "add_mul");
  }
  EXPECT_GT(fs::last_write_time(files[0]), before);
  EXPECT_EQ(folder.files(".program").size(), 1u);
  // Of other options it is another one.
  {
    EnginePtr engine = makeCachingEngine(cache);
    compile(engine.get(), kAddMul, {{"reproducible", "true"}});
    EXPECT_EQ(folder.files(".program").size(), 2u);
  }
  // What is damaged, or may be of others, is not used.
  for (int damage = 0; damage < 3; ++damage) {
    for (const fs::path &file : folder.files(".program")) {
      if (damage == 0) {
        std::fstream bytes(file, std::ios::in | std::ios::out);
        bytes.seekp(-1, std::ios::end);
        bytes.put('x');
      } else if (damage == 1) {
        fs::resize_file(file, 20);
      } else {
        fs::permissions(file, fs::perms(0666));
      }
    }
    EnginePtr engine = makeCachingEngine(cache);
    ProgramPtr program = compile(engine.get(), kAddMul);
    EXPECT_EQ(doubled(engine.get(), program.get()), right);
    EXPECT_EQ(fs::status(files[0]).permissions(), fs::perms(0600));
  }
}

/// The bytes of a file of test/.
std::string testFile(const std::string &path) {
  std::ifstream file(SHARDC_TEST_FOLDER "/" + path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// SHARDC_TEST_MUTANTS=N damages it in as many ways.
TEST(Programs, SurviveDamagedBytecode) {
  EnginePtr engine = makeEngine(1);
  ProgramPtr program;
  // In-process it ends the reader's process.
  EXPECT_FAILS(
      tryCompile(engine.get(),
                 testFile("Tools/shard-run/Inputs/crashes-the-reader.mlirbc"),
                 {}, program),
      SHARDC_REFUSED, "");
  const std::string whole = testFile("Python/Inputs/export_mlp.mlirbc");
  ASSERT_GOOD(tryCompile(engine.get(), whole, {}, program));
  const char *asked = std::getenv("SHARDC_TEST_MUTANTS");
  int count = asked ? std::atoi(asked) : 20, refused = 0;
  std::mt19937 random(1);
  for (int i = 0; i < count; ++i) {
    std::string mutant = whole;
    for (unsigned changes = 1 + random() % 4; changes-- > 0;)
      switch (random() % 3) {
      case 0:
        mutant[4 + random() % (mutant.size() - 4)] = char(random());
        break;
      case 1:
        mutant[4 + random() % (mutant.size() - 4)] ^= char(1 << random() % 8);
        break;
      default:
        mutant.resize(8 + random() % (mutant.size() - 8));
      }
    ErrorPtr error(tryCompile(engine.get(), mutant, {}, program));
    refused += bool(error);
  }
  EXPECT_GT(refused, count / 2);
  ASSERT_GOOD(tryCompile(engine.get(), whole, {}, program));
}

/// Rises with each process that this one started and that has ended.
int64_t pagesOfChildren() {
  struct rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  return usage.ru_minflt;
}

TEST(Programs, ComeBackFromArtifacts) {
  Folder folder;
  const int64_t children = pagesOfChildren();
  EnginePtr engine = makeEngine(1);
  shardc_bytes bytes = {};
  {
    ProgramPtr program = compile(engine.get(), kAddMul);
    ASSERT_GOOD(shardc_program_serialize(program.get(), &bytes));
  }
  std::string artifact(bytes.data, bytes.size);
  shardc_bytes_free(&bytes);
  EXPECT_EQ(bytes.data, nullptr);
  auto load = [&](const std::string &from, ProgramPtr &program) {
    shardc_program *made = nullptr;
    shardc_error *error =
        shardc_program_load(engine.get(), from.data(), from.size(), &made);
    program.reset(made);
    return error;
  };
  ProgramPtr program;
  ASSERT_GOOD(load(artifact, program));
  EXPECT_EQ(doubled(engine.get(), program.get()),
            (std::vector<float>{2, 4, 6, 8}));
  EXPECT_NE(std::string(shardc_program_local_text(program.get())).find("add"),
            std::string::npos);
  // Once more from what was loaded.
  ASSERT_GOOD(shardc_program_serialize(program.get(), &bytes));
  EXPECT_EQ(std::string(bytes.data, bytes.size), artifact);
  shardc_bytes_free(&bytes);
  EXPECT_EQ(pagesOfChildren(), children) << "another process was started";
  // With another key its code is not used; what it carries is compiled.
  Folder other;
  ASSERT_GOOD(load(artifact, program));
  EXPECT_EQ(doubled(engine.get(), program.get()),
            (std::vector<float>{2, 4, 6, 8}));
  EXPECT_FAILS(load("nothing", program), SHARDC_ARTIFACT,
               "the artifact is refused: ");
  artifact[artifact.size() / 2] ^= 1;
  EXPECT_FAILS(load(artifact, program), SHARDC_ARTIFACT,
               "the artifact is refused: ");
}

} // namespace
