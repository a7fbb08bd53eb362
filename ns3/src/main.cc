// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// tcplearn-ns3 RUN.json: simulates one run and prints its measurements as JSON lines.
// tcplearn-ns3 --with-parent RUN.json: the same, but exits when the process that started it ends.
// tcplearn-ns3 --version: prints the versions on which the result of a run depends besides its file.
#include <sys/prctl.h>

#include <csignal>
#include <cstring>
#include <exception>
#include <iostream>

#include "ns3_version.h"
#include "run.h"
#include "web_run.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    std::cout << "tcplearn-ns3 " << TL_VERSION << " ns-" << tcplearn::ns3_version() << '\n';
    return 0;
  }
  if (argc == 3 && std::strcmp(argv[1], "--with-parent") == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ++argv;
    --argc;
  }
  if (argc != 2) {
    std::cerr << "usage: tcplearn-ns3 [--with-parent] RUN.json\n";
    return 2;
  }
  try {
    const tcplearn::Scenario scenario = tcplearn::read_scenario(argv[1]);
    (scenario.load.kind == "web" ? tcplearn::run_web : tcplearn::run)(scenario, std::cout);
  } catch (const std::exception& error) {
    std::cerr << "tcplearn-ns3: " << error.what() << '\n';
    return 2;
  }
  return 0;
}
