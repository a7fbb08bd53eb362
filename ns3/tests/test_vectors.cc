// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The golden vectors of every kind through this host's classes, by the core's reader; of estimators also the
// RTO that ns-3's own formula makes of them. Usage: test_ns3_vectors VECTORS_FOLDER
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "loss_classifier.h"
#include "ns3/simulator.h"
#include "resend_timer.h"
#include "rtt_estimator.h"
#include "startup.h"
#include "tcplearn/vectors.h"

namespace {

using tcplearn::Spec;

int failures = 0;

void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  ++failures;
}

// Plays the events of a case. It is made from the case's spec, as users write it.
class Player {
 public:
  virtual ~Player() = default;
  virtual int play(const tl_vector_event& event, tl_vector_answer& answer) = 0;
};

void add(tl_vector_answer& answer, double value, double units) {
  answer.whole[answer.count] = static_cast<std::int64_t>(value * units);
  answer.real[answer.count++] = value;
}

std::uint32_t count(const tl_vector_event& e, std::size_t i) {
  return static_cast<std::uint32_t>(e.number[i]);
}

class Estimators final : public Player {
 public:
  explicit Estimators(const Spec& spec) : estimator_(tcplearn::make_estimator({spec, ""})) {
    in_ns3_->choose({spec, ""});
  }

  int play(const tl_vector_event& e, tl_vector_answer& answer) override {
    if (e.word != TL_VECTOR_BEGIN) {
      const tl_sample in{e.number[0] + e.later_us,
                         e.number[1] + e.later_us,
                         e.number[2],
                         e.number[3],
                         count(e, 4),
                         static_cast<std::uint8_t>(e.number[5]),
                         static_cast<std::uint8_t>(e.number[6])};
      estimator_->update(in);
      in_ns3_->observe(in);
    }
    if (!e.asked) return 0;
    const tl_prediction p = estimator_->query();
    add(answer, p.rtt_us, 256);
    add(answer, p.rto_us, 256);
    // TcpSocketBase: RTO = max(estimate + max(G, 4 variation), MinRto), both zero here
    const ns3::Time rto = in_ns3_->GetEstimate() + std::max(ns3::Time(0), in_ns3_->GetVariation() * 4);
    const double wanted_us = std::fmax(p.rto_us, 1000);  // ns-3's floor: RtoFloor
    if (std::fabs(static_cast<double>(rto.GetNanoSeconds()) * 1e-3 - wanted_us) > 0.5 + 1e-6)
      fail("ns-3's RTO is " + std::to_string(rto.GetSeconds()) + " s where the core's is " +
           std::to_string(p.rto_us) + " us");
    return 1;
  }

 private:
  std::unique_ptr<tcplearn::Estimator> estimator_;
  ns3::Ptr<tcplearn::CoreRttEstimator> in_ns3_ = ns3::CreateObject<tcplearn::CoreRttEstimator>();
};

class Losses final : public Player {
 public:
  Losses(const Spec& spec, bool features)
      : classifier_(tcplearn::make_loss_classifier(spec)), features_(features) {}

  int play(const tl_vector_event& e, tl_vector_answer& answer) override {
    if (e.word == TL_VECTOR_BEGIN) return 0;
    if (e.word == 0) {
      classifier_->observe({e.number[0], e.number[1], count(e, 2), count(e, 3)});
      return 0;
    }
    tl_loss_moment at{};
    at.time_us = e.number[0];
    at.flight_segments = count(e, 1);
    at.cwnd_segments = count(e, 2);
    at.ssthresh_segments = count(e, 3);
    at.truth = e.word == 1 ? count(e, 4) : static_cast<std::uint32_t>(TL_LOSS_UNKNOWN);
    if (e.word == 2) {
      classifier_->change(at, static_cast<tl_loss_change>(e.number[4]),
                          e.number[5] < 2 ? static_cast<tl_loss_cause>(e.number[5]) : said_.cause);
      return 0;
    }
    if (features_)
      for (const double f : classifier_->features(at)) add(answer, f, 1073741824.0);
    said_ = classifier_->decide(at);
    if (features_) return 1;
    add(answer, said_.cause, 1);
    add(answer, said_.congestion, 1073741824.0);
    return 1;
  }

 private:
  std::unique_ptr<tcplearn::LossClassifier> classifier_;
  bool features_;
  tl_loss_decision said_{};
};

class Startups final : public Player {
 public:
  explicit Startups(const Spec& spec) : startup_(spec) {}

  int play(const tl_vector_event& e, tl_vector_answer& answer) override {
    if (e.word == TL_VECTOR_BEGIN) return 0;
    if (e.word == 1) {
      startup_.report({e.number[0], count(e, 1), count(e, 2), e.number[3], e.number[4]});
      return 0;
    }
    const tl_startup_window w =
        startup_.windows({e.number[0], e.number[1], count(e, 2), count(e, 3), count(e, 4), count(e, 5)});
    add(answer, w.iw_segments, 1);
    add(answer, w.ssthresh_segments, 1);
    return 1;
  }

 private:
  tcplearn::Startup startup_;
};

class Resends final : public Player {
 public:
  explicit Resends(const Spec& spec) : spec_(spec), timer_(std::make_unique<tcplearn::ResendTimer>(spec)) {}

  int play(const tl_vector_event& e, tl_vector_answer& answer) override {
    if (e.word == TL_VECTOR_BEGIN) return 0;
    std::int64_t wait_us = 0;
    if (e.word == 0)
      wait_us = timer_->sent_us(e.number[0], count(e, 1));
    else if (e.word == 1)
      wait_us = timer_->fired_us(e.number[0], count(e, 1));
    else if (e.word == 2)
      wait_us = timer_->acknowledged_us({e.number[0], e.number[1], count(e, 2), count(e, 3)});
    else
      timer_ = timer_->next_connection(spec_);
    add(answer, static_cast<double>(wait_us), 1);
    add(answer, wait_us > 0 && timer_->ends_in_probe(), 1);
    return 1;
  }

 private:
  Spec spec_;
  std::unique_ptr<tcplearn::ResendTimer> timer_;
};

class FirstRtos final : public Player {
 public:
  explicit FirstRtos(const Spec& spec) : places_(4, {TL_KIND_FIRST_RTO, spec}) {}

  int play(const tl_vector_event& e, tl_vector_answer& answer) override {
    if (e.word == TL_VECTOR_BEGIN) return 0;
    auto& place = places_.at(static_cast<std::size_t>(e.number[0]));
    const auto& verbs = place.verbs();
    if (e.word == 0)
      verbs.report(place.state(), e.number[1], e.number[2]);
    else if (e.word == 1)
      verbs.doubt(place.state(), e.number[1]);
    else if (e.word == 2)
      verbs.resent(place.state(), e.number[1], e.number[2], e.number[3]);
    if (e.word != 3) return 0;
    const auto& prefix = places_.at(static_cast<std::size_t>(e.number[1]));
    const std::int64_t rto_us = verbs.rto_us(
        place.state(), prefix.state(), static_cast<std::int32_t>(e.number[3]), count(e, 4), e.number[2]);
    add(answer, static_cast<double>(rto_us), 1);
    return 1;
  }

 private:
  std::vector<tcplearn::Algorithm<tl_first_rto_policy>> places_;
};

struct Kind {
  tl_kind_of kind;
  const char* folder;
  const char* words;
  std::uint32_t least_answers;
};

const Kind kKinds[] = {
    {TL_KIND_ESTIMATOR, "expected", "sample", 1000},
    {TL_KIND_LOSS, "features", "ack|decide|change", 50},
    {TL_KIND_LOSS, "expected", "ack|decide|change", 50},
    {TL_KIND_STARTUP, "expected", "handshake|report", 100},
    {TL_KIND_RESEND, "expected", "send|timer|ack|next", 1000},
    {TL_KIND_FIRST_RTO, "expected", "report|doubt|resent|query", 500},
};

std::unique_ptr<Player> player_of(const Kind& kind, const Spec& spec) {
  switch (kind.kind) {
    case TL_KIND_ESTIMATOR:
      return std::make_unique<Estimators>(spec);
    case TL_KIND_LOSS:
      return std::make_unique<Losses>(spec, std::string(kind.folder) == "features");
    case TL_KIND_STARTUP:
      return std::make_unique<Startups>(spec);
    case TL_KIND_RESEND:
      return std::make_unique<Resends>(spec);
    default:
      return std::make_unique<FirstRtos>(spec);
  }
}

// Replays the vectors of one algorithm in one arithmetic. It keeps the text of the case, because ns-3 parses
// specs by itself.
class Replay {
 public:
  Replay(const Kind& kind, tl_arithmetic arithmetic) : kind_(kind), events_(8192) {
    host_ = {tl_kind_at(kind.kind, arithmetic), kind.words, &begin, &play, this};
    tl_vectors_init(&reader_, &host_, arithmetic, events_.data(), static_cast<std::uint32_t>(events_.size()));
  }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  void line(const std::string& text) {
    if (text.compare(0, 5, "case ") == 0) case_ = text.substr(5);
    tl_vectors_line(&reader_, text.c_str(), static_cast<std::uint32_t>(text.size()));
  }

  const tl_vectors& reader() const { return reader_; }

 private:
  static int begin(void* host, const tl_algorithm* algorithm, const void*) {
    auto* self = static_cast<Replay*>(host);
    self->player_ = player_of(self->kind_, {self->case_, algorithm->arithmetic});
    return 0;
  }

  static int play(void* host, const tl_algorithm*, const tl_vector_event* event, tl_vector_answer* answer) {
    answer->count = 0;
    return static_cast<Replay*>(host)->player_->play(*event, *answer);
  }

  const Kind& kind_;
  std::vector<tl_vector_event> events_;
  tl_vector_player host_{};
  tl_vectors reader_{};
  std::string case_;
  std::unique_ptr<Player> player_;
};

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": missing");
  std::vector<std::string> out;
  for (std::string line; std::getline(file, line);) out.push_back(line);
  return out;
}

// Replays one file of vectors. A line "case,SERIES,key=value,..." of the file becomes the lines of the series
// and "case NAME:key=value,..." for the reader.
void replay(const std::string& vectors, const Kind& kind, const std::string& name, tl_arithmetic arithmetic) {
  const std::string folder = vectors + "/" + tl_kind_at(kind.kind, arithmetic)->key;
  std::string file = name;
  if (const std::size_t slash = file.find('/'); slash != std::string::npos) file.replace(slash, 1, "--");
  Replay replay(kind, arithmetic);
  for (const std::string& line : lines_of(folder + "/" + kind.folder + "/" + file + ".csv")) {
    if (line.compare(0, 5, "case,") != 0) {
      replay.line(line);
      continue;
    }
    if (replay.reader().cases) replay.line("end");
    const std::size_t comma = line.find(',', 5);
    replay.line("series");
    for (const std::string& event : lines_of(folder + "/series/" + line.substr(5, comma - 5) + ".csv"))
      replay.line(event);
    replay.line("case " + name + (comma == std::string::npos ? "" : ":" + line.substr(comma + 1)));
  }
  replay.line("end");
  const tl_vectors& r = replay.reader();
  if (r.wrong || r.bad_lines || r.answers < kind.least_answers)
    fail(name + ": " + std::to_string(r.answers) + " answers, " + std::to_string(r.wrong) + " wrong, " +
         std::to_string(r.bad_lines) + " lines not understood: " + r.problem);
  if (arithmetic == TL_FIX) std::printf("%-26s %6u answers\n", name.c_str(), r.answers);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    for (const Kind& kind : kKinds) {
      const tl_kind* of = tl_kind_at(kind.kind, TL_FIX);
      const std::uint32_t names = std::string(kind.folder) == "features" ? 1 : of->count;
      for (std::uint32_t i = 0; i < names; ++i)
        for (const tl_arithmetic arithmetic : {TL_F64, TL_FIX})
          replay(argv[1], kind, of->at(i)->name, arithmetic);
    }
  } catch (const std::exception& error) {
    fail(error.what());
  }
  return failures ? 1 : 0;
}
