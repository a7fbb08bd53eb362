// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// What this host says of specs: of each line "KIND<tab>SPEC" the line that it is refused with, an empty one
// where it is taken. python/tests/lab/test_specs.py compares them with those of the other hosts.
#include <iostream>
#include <stdexcept>
#include <string>

#include "algorithm.h"

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const std::size_t tab = line.find('\t');
    const std::string key = line.substr(0, tab), spec = line.substr(tab + 1);
    std::string said;
    for (int k = 0; k < TL_KINDS; ++k) {
      const auto kind = static_cast<tl_kind_of>(k);
      if (key != tl_kind_at(kind, TL_FIX)->key) continue;
      try {
        tcplearn::make_ready(kind, tcplearn::read_spec(spec, TL_FIX));
      } catch (const std::invalid_argument& error) {
        said = error.what();
      }
    }
    std::cout << said << '\n';
  }
}
