// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// What the user of a capture that cannot be read can do.
#ifndef TCPLEARN_CAPTURE_REMEDY_H
#define TCPLEARN_CAPTURE_REMEDY_H

#include <string>

namespace tcplearn {

// Returns `text` as one word of a shell's command line.
inline std::string shell_word(const std::string& text) {
  static const std::string kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+:@%=,-";
  if (text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

// Returns what to do about `damage`, the message of libpcap on a pcapng file with several interfaces; "" for
// other messages.
inline std::string remedy(const std::string& damage, const std::string& name) {
  if (damage.find("of the first interface") == std::string::npos) return "";
  if (damage.find("snapshot length") == std::string::npos) return "; capture again on one interface";
  return "; convert it first: editcap -F pcap " + shell_word(name) + " converted.pcap";
}

}  // namespace tcplearn

#endif
