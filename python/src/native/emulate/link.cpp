// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "emulate/link.h"

#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <deque>
#include <system_error>
#include <utility>
#include <vector>

namespace tcplearn::emulate {

namespace {

constexpr std::size_t kPacketBytes = 2048;  // more than the devices' MTU
constexpr int kReadAtOnce = 64;             // of one device, before packets that are due are released
constexpr int kReleaseAtOnce = 16;          // before packets that have come are read
// Of a process with priority that never sleeps, Linux takes the processor away for 50 ms in each second
// (sched_rt_runtime_us). So the link sleeps a little more than 5 % of the time by itself.
constexpr std::int64_t kMostAwakeNs = 900'000, kLeastSleepNs = 60'000;
constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

bool take_priority() {
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);  // ns; without priority a sleep ends up to 50 us late
  sched_param lowest{};
  lowest.sched_priority = sched_get_priority_min(SCHED_FIFO);
  return sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest) == 0;
}

// Room for packets on the path; the room of those that have left it is used again.
class Packets {
 public:
  std::uint32_t take() {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(all_.size()));
      all_.emplace_back();
    }
    const std::uint32_t handle = free_.back();
    free_.pop_back();
    return handle;
  }
  void give_back(std::uint32_t handle) { free_.push_back(handle); }
  std::uint8_t* at(std::uint32_t handle) { return all_[handle].data(); }
  std::uint64_t taken() const { return all_.size() - free_.size(); }

 private:
  std::deque<std::array<std::uint8_t, kPacketBytes>> all_;
  std::vector<std::uint32_t> free_;
};

class Link {
 public:
  Link(Path& path, const Ends& ends, ForcedDrops forced)
      : path_(path), ends_(ends), forced_(std::move(forced)), begun_ns_(clock_ns()) {}

  LinkResult run(std::int64_t spin_ns) {
    result_.real_time = take_priority();
    for (;;) {
      take_all(true);
      take_all(false);
      release();
      const std::int64_t now = now_ns();
      const std::int64_t wait_ns = path_.next_ns() == kNever ? kNever : path_.next_ns() - now - spin_ns;
      const bool is_tired = now - awake_since_ns_ > kMostAwakeNs;
      if (wait_ns <= 0 && !is_tired) continue;
      pause(wait_ns, is_tired);
      if (is_to_stop()) break;
    }
    result_.lasted_ns = now_ns();
    result_.in_flight = packets_.taken();
    return std::move(result_);
  }

 private:
  std::int64_t now_ns() const { return clock_ns() - begun_ns_; }

  void take_all(bool forward) {
    for (int i = 0; i < kReadAtOnce; ++i)
      if (!take(forward)) return;
  }

  bool take(bool forward) {
    const std::uint32_t handle = packets_.take();
    const ssize_t got = read(forward ? ends_.client : ends_.server, packets_.at(handle), kPacketBytes);
    if (got <= 0) {
      packets_.give_back(handle);
      if (got < 0 && errno != EAGAIN && errno != EINTR)
        throw std::system_error(errno, std::generic_category(), "the TUN device");
      return false;
    }
    const Packet packet{handle, static_cast<std::uint32_t>(got), forward};
    Counts& counts = result_.counts[forward];
    ++counts.packets;
    counts.bytes += packet.bytes;
    if (forced_.drops(packets_.at(handle), packet.bytes)) {
      ++counts.dropped[static_cast<std::size_t>(Cause::kForced)];
      packets_.give_back(handle);
    } else {
      path_.enter(packet, now_ns());
    }
    return true;
  }

  void release() {
    for (int i = 0; i < kReleaseAtOnce; ++i) {
      const auto outcome = path_.next(now_ns());
      if (!outcome) return;
      const Packet& packet = outcome->packet;
      Counts& counts = result_.counts[packet.forward];
      if (outcome->cause == Cause::kNone)
        deliver(packet, outcome->due_ns, counts);
      else
        ++counts.dropped[static_cast<std::size_t>(outcome->cause)];
      packets_.give_back(packet.handle);
    }
  }

  void deliver(const Packet& packet, std::int64_t due_ns, Counts& counts) {
    result_.lateness.add(now_ns() - due_ns);
    const int to = packet.forward ? ends_.server : ends_.client;
    if (write(to, packets_.at(packet.handle), packet.bytes) == static_cast<ssize_t>(packet.bytes)) {
      ++counts.delivered;
      counts.delivered_bytes += packet.bytes;
    } else {
      ++counts.refused;
    }
  }

  // Sleeps for `wait_ns`, or until there is something to read; if `is_tired`, for a while in any case.
  void pause(std::int64_t wait_ns, bool is_tired) {
    if (is_tired) {
      const timespec least{0, kLeastSleepNs};
      clock_nanosleep(CLOCK_MONOTONIC, 0, &least, nullptr);
    } else {
      pollfd handles[] = {{ends_.stop, POLLIN, 0}, {ends_.client, POLLIN, 0}, {ends_.server, POLLIN, 0}};
      const timespec wait{wait_ns / kSecond, wait_ns % kSecond};
      ppoll(handles, 3, wait_ns == kNever ? nullptr : &wait, nullptr);
    }
    awake_since_ns_ = now_ns();
  }

  bool is_to_stop() const {
    pollfd handle{ends_.stop, POLLIN, 0};
    return poll(&handle, 1, 0) > 0;
  }

  Path& path_;
  Ends ends_;
  ForcedDrops forced_;
  Packets packets_;
  LinkResult result_;
  std::int64_t begun_ns_;
  std::int64_t awake_since_ns_ = 0;
};

}  // namespace

LinkResult carry(Path& path, const Ends& ends, ForcedDrops forced, std::int64_t spin_ns) {
  return Link(path, ends, std::move(forced)).run(spin_ns);
}

}  // namespace tcplearn::emulate
