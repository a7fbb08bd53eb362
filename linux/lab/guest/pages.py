# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Fetches COUNT pages of each size in BYTES from nginx by curl, each from a port of its own.

pages.py NAMESPACE ROUTER FIRST_PORT COUNT BYTES,... PACKET NTH DROPS LOST FILE

The file LOST has the numbers of the pages in whose handshakes the router drops packets (handshakes.py). A
line of FILE has the page's bytes, the port, whether packets were dropped, and the times in us of the
handshake, the first byte and the last byte."""

import subprocess
import sys
from pathlib import Path

from handshakes import lose

FIELDS = ("size_download", "local_port", "time_connect", "time_starttransfer", "time_total", "http_code")
CONFIG = Path("/tmp/pages.curl")


def fetch(namespace, size, ports):
    ask = f'url = "http://10.0.0.1:5002/{size}"\noutput = "/dev/null"\nmax-time = 300\nsilent\n'
    said = " ".join(f"%{{{name}}}" for name in FIELDS)
    pages = [f'{ask}local-port = {port}\nwrite-out = "{said}\\n"\n' for port in ports]
    CONFIG.write_text("next\n".join(pages))
    command = ["/bin/ip", "netns", "exec", namespace, "curl", "-K", str(CONFIG)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [dict(zip(FIELDS, line.split(), strict=True)) for line in lines]


def main(namespace, router, first_port, count, sizes, packet, nth, drops, lost_file, out):
    lost = set(map(int, Path(lost_file).read_text().split()))
    port, total, elapsed_us, count = int(first_port), 0, 0, int(count)
    with Path(out).open("w") as lines:
        for size in map(int, sizes.split(",")):
            ports = range(port, port + count)
            losing = [ports[i] for i in sorted(lost)]
            lose(router, packet, int(nth), int(drops), ports=losing)
            for page in fetch(namespace, size, ports):
                if (page["http_code"], int(page["size_download"])) != ("200", size):
                    sys.exit(f"pages: a page of {size} bytes came as {page}")
                times_us = [round(1e6 * float(page[name])) for name in FIELDS[2:5]]
                is_lost = int(int(page["local_port"]) in losing)
                print(size, page["local_port"], is_lost, *times_us, file=lines)
                total += size
                elapsed_us += times_us[-1]
            port += count
    lose(router)
    print(f"bytes {total}\nelapsed_us {elapsed_us}")


if __name__ == "__main__":
    main(*sys.argv[1:])
