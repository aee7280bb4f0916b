@S@
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <vector>

static std::string number(long long value) { return std::to_string(value); }

TEST(Sample, Passes) { EXPECT_EQ(1 + 1, 2); }

TEST(Sample, ValueOfASum) { EXPECT_EQ(1 + 2, @V@); }
@S@
TEST(Sample, ValueInAMessage) { FAIL() << "the sum is not " << @V@; }

TEST(Sample, KindOfError) { throw @K@("the same words"); }

TEST(Sample, Renamed@N@) { FAIL() << "the same words"; }

TEST(Sample, Address) {
  auto one = std::make_unique<int>(1);
  EXPECT_EQ(one.get(), nullptr);
}

TEST(Sample, TemporaryFile) {
  char name[] = "/tmp/run-XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  std::string path = std::string(name) + "/settings.json";
  rmdir(name);
  EXPECT_TRUE(std::ifstream(path).good()) << "cannot open " << path;
}

TEST(Sample, ProjectFile) {
  char here[4096];
  ASSERT_NE(getcwd(here, sizeof here), nullptr);
  FAIL() << "cannot open " << here << "/missing.txt";
}

TEST(Sample, Time) {
  time_t now = time(nullptr);
  FAIL() << "late: " << ctime(&now);
}
@S@
TEST(Sample, Elapsed) {
  auto start = std::chrono::steady_clock::now();
  usleep(1500);
  auto took = std::chrono::steady_clock::now() - start;
  FAIL() << "took " << std::chrono::duration_cast<std::chrono::microseconds>(took).count() << " us";
}

TEST(Sample, ProcessId) { FAIL() << "worker died (pid " << getpid() << ")"; }

TEST(Sample, Seed) { FAIL() << "failed with seed " << std::random_device()() % 99999; }

TEST(Sample, Port) { FAIL() << "127.0.0.1:" << number(32768 + std::random_device()() % 20000) << " is in use"; }

TEST(Sample, Vector) { EXPECT_EQ((std::vector<int>{1, 2, 3}), (std::vector<int>{1, 2, 4})); }

TEST(Sample, Lines) { EXPECT_STREQ("one\ntwo\nvalue\n", "one\ntwo\nother\n"); }

TEST(Sample, TwoValues) {
  EXPECT_EQ(1, @V@);
  EXPECT_LT(@V@, 1);
}

class Numbers : public testing::TestWithParam<int> {};
TEST_P(Numbers, ValueWithParameters) { EXPECT_EQ(GetParam(), @V@ + 1); }
INSTANTIATE_TEST_SUITE_P(Some, Numbers, testing::Values(1, 2));
