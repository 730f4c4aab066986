//===- LaunchTest.cpp - Launchers' variables ------------------------------===//

#include "TestLaunch.h"
#include <fcntl.h>

using namespace shardrt;
using namespace shardrt::test;

namespace {

TEST(Launch, WithoutALauncherThereIsOneProcess) {
  Launch launch;
  EXPECT_EQ(read({{"MASTER_PORT", "1"}}, launch), "");
  EXPECT_EQ(launch.size, 1);
  EXPECT_EQ(launch.launcher, "");
}

TEST(Launch, Torchrun) {
  Launch launch;
  EXPECT_EQ(read({{"RANK", "5"},
                  {"WORLD_SIZE", "8"},
                  {"LOCAL_RANK", "1"},
                  {"MASTER_ADDR", "n1"},
                  {"MASTER_PORT", "29500"},
                  {"TORCHELASTIC_RUN_ID", "abc"},
                  // Under srun: torchrun's own count.
                  {"SLURM_PROCID", "1"},
                  {"SLURM_NTASKS", "2"}},
                 launch),
            "");
  EXPECT_EQ(launch.launcher, "torchrun");
  EXPECT_EQ(launch.rank, 5);
  EXPECT_EQ(launch.size, 8);
  EXPECT_EQ(launch.localRank, 1);
  EXPECT_EQ(launch.host, "n1");
  EXPECT_EQ(launch.port, 29500);
  EXPECT_EQ(launch.token, "abc");
}

TEST(Launch, TorchrunThatListensItself) {
  Launch launch, again;
  Map variables = {{"RANK", "0"},
                   {"WORLD_SIZE", "2"},
                   {"MASTER_ADDR", "localhost"},
                   {"MASTER_PORT", "29500"},
                   {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                   {"TORCHELASTIC_RESTART_COUNT", "0"},
                   {"TORCHELASTIC_RUN_ID", "abc"}};
  EXPECT_EQ(read(variables, launch), "");
  EXPECT_NE(launch.port, 29500);
  EXPECT_GE(launch.port, 20000);
  variables["RANK"] = "1";
  EXPECT_EQ(read(variables, again), "");
  EXPECT_EQ(again.port, launch.port);
  // Started anew, perhaps while the port is not free yet.
  variables["TORCHELASTIC_RESTART_COUNT"] = "1";
  EXPECT_EQ(read(variables, again), "");
  EXPECT_NE(again.port, launch.port);
}

TEST(Launch, MpirunOnOneHost) {
  Launch open, hydra, other;
  Map variables = {{"OMPI_COMM_WORLD_RANK", "3"},
                   {"OMPI_COMM_WORLD_SIZE", "4"},
                   {"OMPI_COMM_WORLD_LOCAL_RANK", "3"},
                   {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                   {"PMIX_NAMESPACE", "job1"}};
  EXPECT_EQ(read(variables, open), "");
  EXPECT_EQ(open.rank, 3);
  EXPECT_EQ(open.localRank, 3);
  EXPECT_EQ(open.host, "127.0.0.1");
  EXPECT_EQ(open.token, "job1");
  EXPECT_GE(open.port, 20000);
  // Another job has another port, as a rule.
  variables["PMIX_NAMESPACE"] = "job2";
  EXPECT_EQ(read(variables, other), "");
  EXPECT_NE(open.port, other.port);

  EXPECT_EQ(read({{"PMI_RANK", "1"},
                  {"PMI_SIZE", "2"},
                  {"MPI_LOCALRANKID", "0"},
                  {"MPI_LOCALNRANKS", "1"},
                  {"SHARDRT_JOB_TOKEN", "mine"},
                  {"PMI_JOBID", "theirs"},
                  {"MASTER_ADDR", "head"}},
                 hydra),
            "");
  EXPECT_EQ(hydra.rank, 1);
  EXPECT_EQ(hydra.localRank, 0);
  EXPECT_EQ(hydra.host, "head");
  EXPECT_EQ(hydra.token, "mine");
}

TEST(Launch, Srun) {
  Launch launch;
  EXPECT_EQ(read({{"SLURM_PROCID", "9"},
                  {"SLURM_NTASKS", "16"},
                  {"SLURM_LOCALID", "1"},
                  {"SLURM_STEP_NODELIST", "gpu[07-08,11],login"},
                  {"SLURM_JOB_ID", "4711"},
                  {"SLURM_STEP_ID", "2"}},
                 launch),
            "");
  EXPECT_EQ(launch.rank, 9);
  EXPECT_EQ(launch.localRank, 1);
  EXPECT_EQ(launch.host, "gpu07");
  EXPECT_EQ(launch.token, "4711.2");
}

TEST(Launch, AScriptOfABatchJobIsNoTask) {
  Launch launch;
  EXPECT_EQ(read({{"SLURM_PROCID", "0"},
                  {"SLURM_NTASKS", "16"},
                  {"SLURM_JOB_ID", "4711"}},
                 launch),
            "");
  EXPECT_EQ(launch.launcher, "");
  EXPECT_EQ(launch.size, 1);
}

TEST(Launch, FirstOfAListOfHosts) {
  EXPECT_EQ(firstHost("a"), "a");
  EXPECT_EQ(firstHost("a,b"), "a");
  EXPECT_EQ(firstHost("a,n[1-2]"), "a");
  EXPECT_EQ(firstHost("n[1-2],a"), "n1");
  EXPECT_EQ(firstHost("n[03,05-09]"), "n03");
  EXPECT_EQ(firstHost("n[1-4]-ib"), "n1-ib");
  EXPECT_EQ(firstHost("n[1"), "");
  EXPECT_EQ(firstHost(""), "");
}

TEST(Launch, WhatIsMissingOrMakesNoSenseIsSaid) {
  Launch launch;
  EXPECT_EQ(read({{"RANK", "0"}}, launch),
            "RANK is set, but WORLD_SIZE is not");
  EXPECT_EQ(read({{"RANK", "4"}, {"WORLD_SIZE", "4"}}, launch),
            "RANK=4: expected a number from 0 to 3");
  EXPECT_EQ(read({{"RANK", "0"}, {"WORLD_SIZE", "two"}}, launch),
            "WORLD_SIZE=two: expected a number from 1 to 65536");
  EXPECT_EQ(read({{"RANK", "0"},
                  {"WORLD_SIZE", "2"},
                  {"MASTER_ADDR", "a"},
                  {"MASTER_PORT", "99999"}},
                 launch),
            "MASTER_PORT=99999: expected a number from 1 to 65535");
  EXPECT_EQ(
      read({{"OMPI_COMM_WORLD_RANK", "0"},
            {"OMPI_COMM_WORLD_SIZE", "4"},
            {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
            {"PMIX_NAMESPACE", "x"}},
           launch),
      "mpirun does not say where rank 0 is: set MASTER_ADDR to its host's "
      "name, the same for all ranks");
  EXPECT_EQ(read({{"PMI_RANK", "0"},
                  {"PMI_SIZE", "4"},
                  {"MPI_LOCALNRANKS", "2"},
                  {"MASTER_ADDR", "head"}},
                 launch),
            "mpirun does not say which job this is: set SHARDRT_JOB_TOKEN, or "
            "MASTER_PORT, the same for all ranks");
}

} // namespace
