// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Bindings for the reader of captures.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "bind.h"
#include "bind_explain.h"
#include "capture/reader.h"
#include "explain/explainer.h"
#include "explain/windows.h"

namespace tcplearn {

namespace {

constexpr std::size_t kRowsAtOnce = std::size_t{1} << 15;

nb::object next_batch(CaptureReader& reader, std::size_t max_rows) {
  Batch batch;
  bool more = false;
  {
    nb::gil_scoped_release unlocked;
    more = reader.next(batch, max_rows);
  }
  if (!more) return nb::none();
  nb::dict columns;
#define TCPLEARN_X(type, name, unknown, meaning) columns[#name] = to_numpy(std::move(batch.name));
  TCPLEARN_BATCH_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
  nb::dict losses;
#define TCPLEARN_X(type, name, unknown, meaning) losses[#name] = to_numpy(std::move(batch.losses.name));
  TCPLEARN_LOSS_COLUMNS(TCPLEARN_X)
  TCPLEARN_WITHDRAWN_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
  columns["losses"] = losses;
  if (batch.events.wanted) {
    nb::dict events;
#define TCPLEARN_X(type, name, unknown, meaning) events[#name] = to_numpy(std::move(batch.events.name));
    TCPLEARN_EVENT_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
    columns["events"] = events;
  }
  columns["ended"] = to_numpy(std::move(batch.ended));
  // take the rows in large portions, because each portion becomes a table
  auto* explainer = dynamic_cast<Explainer*>(reader.observer());
  if (explainer != nullptr && (reader.finished() || explainer->held() >= kRowsAtOnce)) {
    ExplainedRows rows;
    {
      nb::gil_scoped_release unlocked;
      rows = explainer->take(reader.finished());
    }
    columns["explained"] = explained(std::move(rows));
  }
  if (auto* windows = dynamic_cast<Windows*>(reader.observer()))
    columns["packets"] = packets_of(windows->take());
  return columns;
}

nb::dict flow_dict(const CaptureReader& reader, std::uint32_t id) {
  FlowInfo info;
  try {
    info = reader.flow(id);
  } catch (const std::out_of_range& error) {
    throw nb::key_error(error.what());
  }
  nb::dict d;
  d["id"] = info.id;
  d["peer"] = info.peer;
  d["name"] = info.name;
  d["near_sender"] = info.near_sender;
  d["near_reason"] = info.near_reason;
  d["chosen"] = info.chosen;
  d["data_packets"] = info.data_packets;
  d["data_bytes"] = info.data_bytes;
  d["retransmitted_packets"] = info.retransmitted_packets;
  d["acks"] = info.acks;
  d["samples"] = info.samples;
  d["mss_bytes"] = info.mss_bytes;
  d["first_us"] = info.first_us;
  d["last_us"] = info.last_us;
  return d;
}

ReaderOptions options_of(const std::string& sender, bool every_ack, double idle_s, bool events,
                         const std::optional<std::vector<std::string>>& explain,
                         const std::vector<PacketWindow>& windows) {
  ReaderOptions options;
  if (!windows.empty()) options.observer = std::make_shared<Windows>(windows);
  if (explain) options.observer = std::make_shared<Explainer>(*explain);
  options.events = events;
  options.sender = sender;
  options.every_ack = every_ack;
  if (!(idle_s > 0 && idle_s < 1e9)) throw TraceError("idle_s must be above 0 and below 1e9");
  options.idle_us = static_cast<std::int64_t>(idle_s * 1e6);
  return options;
}

}  // namespace

void bind_capture(nb::module_& m) {
  nb::exception<TraceError>(m, "TraceError", PyExc_ValueError);

  nb::class_<CaptureReader>(m, "CaptureReader",
                            "Samples of a pcap or pcapng file, plain or gzipped, as a stream.")
      .def(
          "__init__",
          [](CaptureReader* self, nb::handle path, const std::string& name, const std::string& sender,
             bool every_ack, double idle_s, bool events,
             const std::optional<std::vector<std::string>>& explain,
             const std::vector<PacketWindow>& windows) {
            // a file name is bytes, which may not be valid text
            PyObject* encoded = nullptr;
            if (PyUnicode_FSConverter(path.ptr(), &encoded) == 0) throw nb::python_error();
            const nb::bytes file = nb::steal<nb::bytes>(encoded);
            const ReaderOptions options = options_of(sender, every_ack, idle_s, events, explain, windows);
            new (self) CaptureReader(std::string(file.c_str()), name.empty() ? file.c_str() : name, options);
          },
          nb::arg("path"), nb::arg("name") = "", nb::kw_only(), nb::arg("sender") = "auto",
          nb::arg("every_ack") = false, nb::arg("idle_s") = 300.0, nb::arg("events") = false,
          nb::arg("explain") = nb::none(), nb::arg("windows") = std::vector<PacketWindow>{})
      .def_static(
          "of_pipe",
          [](int descriptor, const nb::bytes& head, const std::string& name, const std::string& sender,
             bool every_ack, double idle_s, bool events,
             const std::optional<std::vector<std::string>>& explain,
             const std::vector<PacketWindow>& windows) {
            return CaptureReader::of_pipe(descriptor, std::string(head.c_str(), head.size()), name,
                                          options_of(sender, every_ack, idle_s, events, explain, windows));
          },
          nb::arg("descriptor"), nb::arg("head"), nb::arg("name"), nb::kw_only(), nb::arg("sender") = "auto",
          nb::arg("every_ack") = false, nb::arg("idle_s") = 300.0, nb::arg("events") = false,
          nb::arg("explain") = nb::none(), nb::arg("windows") = std::vector<PacketWindow>{},
          "From a pipe as it is written; `head` was read from it already. Closes the descriptor.")
      .def_static(
          "of_interface",
          [](const std::string& name, const std::string& sender, bool every_ack, double idle_s, bool events,
             const std::optional<std::vector<std::string>>& explain,
             const std::vector<PacketWindow>& windows) {
            return CaptureReader::of_interface(
                name, options_of(sender, every_ack, idle_s, events, explain, windows));
          },
          nb::arg("name"), nb::kw_only(), nb::arg("sender") = "auto", nb::arg("every_ack") = false,
          nb::arg("idle_s") = 300.0, nb::arg("events") = false, nb::arg("explain") = nb::none(),
          nb::arg("windows") = std::vector<PacketWindow>{}, "What passes a network interface from now on.")
      .def("next", &next_batch, nb::arg("max_rows") = 65536,
           nb::sig("def next(self, max_rows: int = 65536) -> dict[str, object] | None"),
           "Columns by name as NumPy arrays, about max_rows rows or fewer; None at the end.")
      .def("flow", &flow_dict, nb::arg("id"), nb::sig("def flow(self, id: int) -> dict[str, object]"),
           "What is known of a flow; near_sender and chosen are final once the flow has ended.")
      .def("release", &CaptureReader::release, nb::arg("id"), "Forget an ended flow.")
      .def("warnings", &CaptureReader::warnings)
      .def("stop", &CaptureReader::stop, "Read no further: next() ends with what there is.")
      .def_prop_ro("live", &CaptureReader::live)
      .def_prop_ro("packets", [](const CaptureReader& reader) { return reader.stats().packets; })
      .def(
          "progress",
          [](const CaptureReader& reader) {
            const Stats s = reader.stats();
            return s.bytes_total > 0 ? static_cast<double>(s.bytes_read) / static_cast<double>(s.bytes_total)
                                     : 0.0;
          },
          "The share of the file that was read, 0 to 1.");
}

}  // namespace tcplearn
