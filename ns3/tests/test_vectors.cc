// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The golden vectors through this host: the estimators as its sockets hold them, and the RTO that
// ns-3's own formula makes of them. Usage: test_ns3_vectors VECTORS_FOLDER
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "rtt_estimator.h"

namespace {

constexpr double kDoubleTolerance = 1e-12;
int failures = 0;

void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  ++failures;
}

struct Series {
  std::size_t repeat = 0, every = 0;
  std::int64_t period_us = 0;
  std::vector<tl_sample> rows;
};

std::ifstream opened(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": missing");
  return file;
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string word; std::getline(in, word, ',');) out.push_back(word);
  return out;
}

const Series& series_of(const std::string& folder, const std::string& name) {
  static std::map<std::string, Series> known;
  if (known.count(name)) return known[name];
  Series& s = known[name];
  std::ifstream file = opened(folder + "/series/" + name + ".csv");
  std::string line;
  std::getline(file, line);
  const auto head = split(line);  // repeat,N,period_us,N,every,N
  s.repeat = std::stoul(head.at(1));
  s.period_us = std::stoll(head.at(3));
  s.every = std::stoul(head.at(5));
  std::getline(file, line);  // the column names
  while (std::getline(file, line)) {
    const auto w = split(line);
    s.rows.push_back({std::stoll(w.at(0)), std::stoll(w.at(1)), std::stoll(w.at(2)), std::stoll(w.at(3)),
                      static_cast<std::uint32_t>(std::stoul(w.at(4))),
                      static_cast<std::uint8_t>(std::stoul(w.at(5))),
                      static_cast<std::uint8_t>(std::stoul(w.at(6)))});
  }
  return s;
}

struct Replay {
  std::string where;
  std::unique_ptr<tcplearn::Estimator> fix, f64;
  ns3::Ptr<tcplearn::CoreRttEstimator> in_ns3 = ns3::CreateObject<tcplearn::CoreRttEstimator>();
  std::size_t answers = 0;

  Replay(const std::string& name, const std::vector<std::string>& words) : where(name + ": " + words.at(1)) {
    tcplearn::EstimatorSpec spec;
    spec.name = name;
    for (std::size_t i = 2; i < words.size(); ++i) {
      const std::size_t equals = words[i].find('=');
      spec.params.emplace_back(words[i].substr(0, equals), std::stod(words[i].substr(equals + 1)));
    }
    f64 = tcplearn::make_estimator(spec);
    in_ns3->choose(spec);
    spec.arithmetic = TL_FIX;
    fix = tcplearn::make_estimator(spec);
  }

  void update(const tl_sample& in) {
    fix->update(in);
    f64->update(in);
    in_ns3->observe(in);
  }

  void compare(const std::string& line) {
    const auto w = split(line);
    const tl_prediction p = fix->query(), q = f64->query();
    if (static_cast<long long>(p.rtt_us * 256) != std::stoll(w.at(0)) ||
        static_cast<long long>(p.rto_us * 256) != std::stoll(w.at(1)))
      fail(where + ": fixed point differs at answer " + std::to_string(answers));
    const auto off = [](double got, double wanted) {
      return std::fabs(got - wanted) / std::fmax(std::fabs(wanted), 1) > kDoubleTolerance;
    };
    if (off(q.rtt_us, std::stod(w.at(2))) || off(q.rto_us, std::stod(w.at(3))))
      fail(where + ": double differs at answer " + std::to_string(answers));
    // TcpSocketBase: RTO = max(estimate + max(G, 4 variation), MinRto), both zero here
    const ns3::Time rto = in_ns3->GetEstimate() + std::max(ns3::Time(0), in_ns3->GetVariation() * 4);
    const double wanted_us = std::fmax(std::stod(w.at(3)), 1000);  // the host's floor: RtoFloor
    if (std::fabs(static_cast<double>(rto.GetNanoSeconds()) * 1e-3 - wanted_us) > 0.5 + 1e-6)
      fail(where + ": ns-3's RTO differs at answer " + std::to_string(answers));
    ++answers;
  }
};

std::size_t replay(const std::string& folder, const std::string& kind, const std::string& name) {
  std::string base = name;
  if (const std::size_t slash = base.find('/'); slash != std::string::npos) base.replace(slash, 1, "--");
  std::ifstream file = opened(folder + "/expected/" + kind + "/" + base + ".csv");
  std::size_t answers = 0;
  std::string line;
  while (std::getline(file, line)) {
    const auto words = split(line);
    if (words.at(0) != "case") throw std::runtime_error(base + ": not a case: " + line);
    Replay r(name, words);
    const Series& s = series_of(folder, words.at(1));
    std::size_t seen = 0;
    std::getline(file, line);
    r.compare(line);
    for (std::size_t round = 0; round < s.repeat; ++round)
      for (tl_sample in : s.rows) {
        in.time_us += static_cast<std::int64_t>(round) * s.period_us;
        in.sent_us += static_cast<std::int64_t>(round) * s.period_us;
        r.update(in);
        if (++seen % s.every) continue;
        if (!std::getline(file, line)) throw std::runtime_error(base + ": ends early");
        r.compare(line);
      }
    answers += r.answers;
  }
  return answers;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    for (std::size_t i = 0; i < tl_estimator_count(); ++i) {
      const char* name = tl_estimator_at(i, TL_F64)->name;
      const std::size_t answers = replay(argv[1], "estimators", name);
      if (answers < 1000) fail(std::string(name) + ": too few answers");
      std::printf("%-26s %6zu answers\n", name, answers);
    }
  } catch (const std::exception& error) {
    fail(error.what());
  }
  return failures ? 1 : 0;
}
