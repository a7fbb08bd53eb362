// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "pipe_estimator.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <map>
#include <stdexcept>

namespace tcplearn {

class PipeProcess {
 public:
  explicit PipeProcess(const std::string& command) {
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0) throw std::runtime_error("no pipe for an estimator");
    std::signal(SIGPIPE, SIG_IGN);  // a dead child then gives an error, below
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("no process for an estimator");
    if (pid_ == 0) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      for (int fd : {in[0], in[1], out[0], out[1]}) close(fd);
      execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    to_ = fdopen(in[1], "w");
    from_ = fdopen(out[0], "r");
  }

  ~PipeProcess() {
    std::fclose(to_);
    std::fclose(from_);
    waitpid(pid_, nullptr, 0);
  }

  PipeProcess(const PipeProcess&) = delete;
  PipeProcess& operator=(const PipeProcess&) = delete;

  void tell(const std::string& line) {
    std::fprintf(to_, "%s\n", line.c_str());
    std::fflush(to_);
  }

  tl_prediction ask(const std::string& line) {
    tl_prediction out;
    tell(line);
    if (std::fscanf(from_, "%lf %lf", &out.rtt_us, &out.rto_us) != 2)
      throw std::runtime_error("the estimator's process stopped answering");
    return out;
  }

  unsigned next_id() { return ids_++; }

 private:
  pid_t pid_;
  FILE *to_, *from_;
  unsigned ids_ = 0;
};

namespace {

std::shared_ptr<PipeProcess> process_of(const std::string& command) {
  static std::map<std::string, std::weak_ptr<PipeProcess>> running;
  std::shared_ptr<PipeProcess> found = running[command].lock();
  if (!found) running[command] = found = std::make_shared<PipeProcess>(command);
  return found;
}

}  // namespace

PipeEstimator::PipeEstimator(const std::string& command)
    : process_(process_of(command)),
      id_(process_->next_id()),
      prediction_(process_->ask("new " + std::to_string(id_))) {}

PipeEstimator::PipeEstimator(std::shared_ptr<PipeProcess> process, unsigned from)
    : process_(std::move(process)),
      id_(process_->next_id()),
      prediction_(process_->ask("copy " + std::to_string(id_) + " " + std::to_string(from))) {}

PipeEstimator::~PipeEstimator() { process_->tell("drop " + std::to_string(id_)); }

void PipeEstimator::update(const tl_sample& sample) {
  prediction_ = process_->ask("update " + std::to_string(id_) + " " + std::to_string(sample.time_us) + " " +
                              std::to_string(sample.sent_us) + " " + std::to_string(sample.rtt_us) + " " +
                              std::to_string(sample.flight_segments));
}

std::unique_ptr<Estimator> PipeEstimator::copy() const {
  return std::make_unique<PipeEstimator>(process_, id_);
}

}  // namespace tcplearn
