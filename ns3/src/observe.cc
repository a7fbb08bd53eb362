// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "observe.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <numeric>
#include <ostream>
#include <stdexcept>

#include "run.h"

namespace tcplearn {
namespace {

using Column = std::vector<std::int64_t>;

void write_column(std::FILE* to, const Column& column) {
  const std::size_t rows = column.size();
  std::fwrite(&rows, sizeof rows, 1, to);
  std::fwrite(column.data(), sizeof(std::int64_t), rows, to);
}

bool read_column(std::FILE* from, Column& column) {
  std::size_t rows = 0;
  if (std::fread(&rows, sizeof rows, 1, from) != 1) return false;
  column.resize(rows);
  return std::fread(column.data(), sizeof(std::int64_t), rows, from) == rows;
}

// Returns `column` in the order `order`.
Column ordered(const Column& column, const std::vector<std::size_t>& order) {
  Column out(column.size());
  std::transform(order.begin(), order.end(), out.begin(), [&](std::size_t row) { return column[row]; });
  return out;
}

void sort_by_time(PathStatistics& of) {
  std::vector<std::size_t> order(of.sent_us.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return of.sent_us[a] < of.sent_us[b]; });
  of.rtt_us = ordered(of.rtt_us, order);
  of.sent_us = ordered(of.sent_us, order);
}

// Runs in the child process: simulates, and writes what was seen.
void simulate(Scenario scenario, std::FILE* to) {
  PathStatistics seen;
  scenario.socket.limit = Limit::kClairvoyant;
  scenario.socket.observed = &seen;
  std::ostream nowhere(nullptr);
  run(scenario, nowhere);
  sort_by_time(seen);
  std::fwrite(&seen.first, sizeof seen.first, 1, to);
  std::fwrite(&seen.again, sizeof seen.again, 1, to);
  write_column(to, seen.sent_us);
  write_column(to, seen.rtt_us);
}

[[noreturn]] void observe_and_exit(const Scenario& scenario, int to) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int code = 1;
  try {
    std::FILE* file = fdopen(to, "wb");
    simulate(scenario, file);
    code = std::fclose(file) == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tcplearn-ns3: %s\n", error.what());
  }
  _exit(code);
}

}  // namespace

std::shared_ptr<const PathStatistics> observe(const Scenario& scenario) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("cannot make a pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot start a process that observes the path");
  if (child == 0) {
    close(ends[0]);
    observe_and_exit(scenario, ends[1]);
  }
  close(ends[1]);
  auto seen = std::make_shared<PathStatistics>();
  std::FILE* from = fdopen(ends[0], "rb");
  const bool whole = std::fread(&seen->first, sizeof seen->first, 1, from) == 1 &&
                     std::fread(&seen->again, sizeof seen->again, 1, from) == 1 &&
                     read_column(from, seen->sent_us) && read_column(from, seen->rtt_us);
  std::fclose(from);
  int status = 0;
  waitpid(child, &status, 0);
  if (!whole || status != 0) throw std::runtime_error("the run that observes the path failed");
  return seen;
}

}  // namespace tcplearn
