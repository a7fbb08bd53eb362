// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Bindings for the core's retry timer (tcplearn/retry.h), public as tcplearn.RetryTimer.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "bind.h"
#include "tcplearn/retry.h"

namespace tcplearn {

namespace {

static_assert(std::is_trivially_copyable_v<tl_retry>);

// A call is about a request that does not wait, as a second answer is.
struct NotWaiting : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// Throws std::invalid_argument with one line of text unless `code` says that a call did what it should.
void check(int code, std::uint64_t id = 0) {
  const std::string request = "request " + std::to_string(id);
  switch (code) {
    case TL_RETRY_FULL:
      throw std::invalid_argument(std::to_string(TL_RETRY_OUT) +
                                  " requests have no answer, the most of one timer; one must be answered or "
                                  "cancelled first");
    case TL_RETRY_TWICE:
      throw std::invalid_argument(request + " has been sent and has no answer yet");
    case TL_RETRY_UNKNOWN:
      throw NotWaiting(request + " does not wait: it was not sent, or it is answered or cancelled");
    case TL_RETRY_TIME:
      throw std::invalid_argument("now_us is before the time of an earlier call, or beyond 2**62");
    case TL_RETRY_COPY:
      throw std::invalid_argument(request + " has no such copy");
    case TL_RETRY_SETTINGS:
      throw std::invalid_argument(
          "a setting is out of range: rate 0.0001 to 0.5, price_us 0 to 2**32, budget 0 to 100000, waits 1 "
          "to "
          "2**32, min_wait_us at most max_wait_us");
    case TL_RETRY_BEGUN:
      throw std::invalid_argument("a timer inherits only before its first request");
    default:
      return;
  }
}

// Returns the integer that Python gave for an argument. Throws nb::type_error for another type, and
// std::invalid_argument for a value that `T` does not hold.
template <typename T>
T integer(nb::handle given, const char* name) {
  const nb::object index = nb::steal(PyNumber_Index(given.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    const std::string type = nb::cast<std::string>(given.type().attr("__name__"));
    throw nb::type_error((std::string(name) + " is an integer, not " + type).c_str());
  }
  T value{};
  if (nb::try_cast(index, value)) return value;
  const std::string range =
      std::to_string(std::numeric_limits<T>::min()) + " to " + std::to_string(std::numeric_limits<T>::max());
  throw std::invalid_argument(std::string(name) + " is out of range, " + range);
}

// A hash (FNV-1a) by which a damaged pickle is recognized.
std::uint64_t hash_of(const unsigned char* bytes, std::size_t n) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < n; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

class RetryTimer {
 public:
  RetryTimer(std::optional<double> rate, std::optional<std::int64_t> price_us, std::int64_t budget,
             std::int64_t first_wait_us, std::int64_t min_wait_us, std::int64_t max_wait_us) {
    tl_retry_settings how;
    tl_retry_defaults(&how);
    if (rate && price_us) throw std::invalid_argument("either rate or price_us is set, not both");
    if (rate) {
      if (!(*rate >= 0.0001 && *rate <= 0.5)) check(TL_RETRY_SETTINGS);
      how.rate_ppm = static_cast<std::uint32_t>(std::lround(*rate * 1e6));
    }
    if (price_us) how.price_us = *price_us;
    if (budget < 0 || budget > 100'000) check(TL_RETRY_SETTINGS);
    how.budget = static_cast<std::uint32_t>(budget);
    how.first_wait_us = first_wait_us;
    how.min_wait_us = min_wait_us;
    how.max_wait_us = max_wait_us;
    std::memset(static_cast<void*>(&timer_), 0, sizeof(timer_));  // equal states are then equal bytes
    check(tl_retry_init(&timer_, &how));
  }

  explicit RetryTimer(const nb::bytes& saved) {
    const auto* bytes = static_cast<const unsigned char*>(saved.data());
    std::uint64_t hash = 0;
    if (saved.size() != sizeof(timer_) + sizeof(hash))
      throw std::invalid_argument("this is no saved retry timer of this version of tcplearn");
    std::memcpy(&hash, bytes + sizeof(timer_), sizeof(hash));
    if (hash != hash_of(bytes, sizeof(timer_)))
      throw std::invalid_argument("this saved retry timer is damaged");
    std::memcpy(static_cast<void*>(&timer_), bytes, sizeof(timer_));
  }

  nb::bytes save() const {
    std::vector<unsigned char> bytes(sizeof(timer_) + sizeof(std::uint64_t));
    std::memcpy(bytes.data(), &timer_, sizeof(timer_));
    const std::uint64_t hash = hash_of(bytes.data(), sizeof(timer_));
    std::memcpy(bytes.data() + sizeof(timer_), &hash, sizeof(hash));
    return nb::bytes(bytes.data(), bytes.size());
  }

  void inherit(const RetryTimer& earlier) { check(tl_retry_inherit(&timer_, &earlier.timer_)); }

  std::int64_t sent(nb::handle id, nb::handle now_us) {
    const std::uint64_t number = id_of(id);
    check(tl_retry_sent(&timer_, number, time_of(now_us)), number);
    return tl_retry_deadline_of(&timer_, number);
  }

  std::optional<std::int64_t> deadline_us(nb::handle id) const {
    const std::int64_t us =
        id.is_none() ? tl_retry_deadline(&timer_) : tl_retry_deadline_of(&timer_, id_of(id));
    return us == TL_RETRY_NEVER ? std::nullopt : std::optional(us);
  }

  std::vector<std::pair<std::uint64_t, std::uint32_t>> fired(nb::handle now_us) {
    const std::int64_t us = time_of(now_us);
    std::vector<std::pair<std::uint64_t, std::uint32_t>> out;
    tl_retry_again again;
    for (;;) {
      const int code = tl_retry_fired(&timer_, us, &again);
      check(code);
      if (code != TL_RETRY_DUE) return out;
      out.emplace_back(again.id, again.copy);
    }
  }

  void answered(nb::handle id, nb::handle now_us, nb::handle copy) {
    const std::uint64_t number = id_of(id);
    const std::uint32_t which = copy.is_none() ? TL_RETRY_ANY : integer<std::uint32_t>(copy, "copy");
    if (which == TL_RETRY_ANY && !copy.is_none()) check(TL_RETRY_COPY, number);
    check(tl_retry_answered(&timer_, number, which, time_of(now_us)), number);
  }

  void cancelled(nb::handle id) {
    const std::uint64_t number = id_of(id);
    check(tl_retry_cancelled(&timer_, number), number);
  }

  nb::dict counts() const {
    const tl_retry_counts& c = timer_.counts;
    nb::dict out;
    out["requests"] = c.requests;
    out["answers"] = c.answers;
    out["resends"] = c.resends;
    out["needless"] = c.needless;
    out["unclear"] = c.unclear;
    return out;
  }

  std::uint32_t out() const { return timer_.out.count; }

 private:
  static std::uint64_t id_of(nb::handle given) { return integer<std::uint64_t>(given, "id"); }
  static std::int64_t time_of(nb::handle given) { return integer<std::int64_t>(given, "now_us"); }

  tl_retry timer_;
};

constexpr const char* kAbout =
    R"(When a request without an answer is sent again, for any protocol over datagrams or calls.

One timer serves one place (a server or a service) and up to `most_out` requests to it at once. Every time is an
integer in microseconds of one clock that does not go back, such as time.monotonic_ns() // 1000. Requests have
numbers from 0 to 2**64 - 1. A resend is needless if an earlier transmission of its request is answered first.

rate: the share of needless resends to keep, over the requests, 0.0001 to 0.5; or
price_us: how much expected waiting is worth one needless resend, 0 to 2**32. Without either, 100,000.
budget: resends without an answer that shows that they were needed, 0 to 100,000, until waits are at least those
    of Linux. Each request adds a fifth of a resend, and each needed resend is given back.
first_wait_us: the wait before the first answer (RFC 8961, section 4, requirement 1: at least one second).
min_wait_us, max_wait_us: bounds of every wait, 1 to 2**32.

With the defaults the timer meets RFC 8961, section 4, requirements 1, 2d and 3: after a resend it takes no sample
unless it is known which transmission was answered, and each resend doubles the wait. It gives up no request. A timer
can be copied and pickled; a pickle is for the same version of tcplearn. Raises ValueError for a setting that is out
of range, and each method raises ValueError, with the timer unchanged, for what it cannot do. For a request that does
not wait, as at a second answer, that is RetryTimer.NotWaiting, a subclass.)";

}  // namespace

void bind_retry(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<RetryTimer> timer(m, "RetryTimer", kAbout);
  nb::object not_waiting = nb::exception<NotWaiting>(timer, "NotWaiting", PyExc_ValueError);
  not_waiting.attr("__module__") = "tcplearn";  // by these names it is found when it is unpickled
  not_waiting.attr("__qualname__") = "RetryTimer.NotWaiting";
  timer
      .def(nb::init<std::optional<double>, std::optional<std::int64_t>, std::int64_t, std::int64_t,
                    std::int64_t, std::int64_t>(),
           nb::kw_only(), "rate"_a = nb::none(), "price_us"_a = nb::none(), "budget"_a = 40,
           "first_wait_us"_a = 1'000'000, "min_wait_us"_a = 1000, "max_wait_us"_a = 120'000'000)
      .def("inherit", &RetryTimer::inherit, "earlier"_a,
           "Take over, before the first request, what a timer of the same or a near place has learned (RFC "
           "9040).\n"
           "The width by rate is taken over only from a timer with the same rate. Raises ValueError later.")
      .def("sent", &RetryTimer::sent, "id"_a.none(), "now_us"_a.none(),
           nb::sig("def sent(self, id: int, now_us: int) -> int"),
           "The request is sent for the first time. Return when its wait ends, in us.\n"
           "Raises ValueError if it waits already, if `most_out` requests wait, or if the time goes back.")
      .def("deadline_us", &RetryTimer::deadline_us, "id"_a = nb::none(),
           nb::sig("def deadline_us(self, id: int | None = None) -> int | None"),
           "Return when the next request is sent again, or the request `id`, in us; None if none waits.\n"
           "An answer may make the time earlier, and a resend of another request later.")
      .def("fired", &RetryTimer::fired, "now_us"_a.none(),
           nb::sig("def fired(self, now_us: int) -> list[tuple[int, int]]"),
           "Return the requests whose waits have ended, as a list of (id, copy): the caller sends each again "
           "now.\n"
           "copy is 1 for the first resend. Their next waits begin. Raises ValueError if the time goes back.")
      .def("answered", &RetryTimer::answered, "id"_a.none(), "now_us"_a.none(), "copy"_a = nb::none(),
           nb::sig("def answered(self, id: int, now_us: int, copy: int | None = None) -> None"),
           "The request is answered. copy: which transmission the answer is for, 0 the first, 1 the first "
           "resend;\n"
           "None: not known (Karn's problem). Raises NotWaiting if the request does not wait, as for a "
           "second\n"
           "answer, and ValueError if it has no such copy, or if the time goes back.")
      .def("cancelled", &RetryTimer::cancelled, "id"_a.none(),
           nb::sig("def cancelled(self, id: int) -> None"),
           "The request is given up or no longer wanted; nothing is learned. Raises NotWaiting if it does "
           "not wait.")
      .def("__copy__", [](const RetryTimer& self) { return self; })
      .def(
          "__deepcopy__", [](const RetryTimer& self, const nb::dict&) { return self; }, "memo"_a)
      .def("__getstate__", &RetryTimer::save)
      .def("__setstate__", [](RetryTimer& self, const nb::bytes& saved) { new (&self) RetryTimer(saved); })
      .def_prop_ro(
          "counts", &RetryTimer::counts,
          "Sums so far: requests, answers, resends, needless (resends), unclear (answers after a resend\n"
          "without a copy).")
      .def_prop_ro("out", &RetryTimer::out, "Number of requests without an answer.")
      .def_prop_ro_static(
          "most_out", [](nb::handle) { return TL_RETRY_OUT; }, "The most of them at one time.")
      .def_prop_ro_static(
          "state_bytes", [](nb::handle) { return sizeof(tl_retry); }, "Size of the state.");
}

}  // namespace tcplearn
