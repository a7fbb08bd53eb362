#!/bin/busybox sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=dash
# Real programs in the place of lib.sh's `send`: each is called with ADDRESS BYTES CONGESTION, moves that
# much from c0 to the receiver (a namespace, set by the scenario's script), and prints what it saw.

# In c0, for curl to fetch from.
start_nginx() {
	mkdir -p /tmp/www
	head -c "$1" /dev/zero >/tmp/www/file
	cat >/tmp/nginx.conf <<-END
		user root;
		worker_processes 1;
		error_log /out/nginx.log;
		pid /tmp/nginx.pid;
		events { worker_connections 64; }
		http {
			access_log off;
			sendfile on; ${nginx_more:-}
			keepalive_timeout ${nginx_kept:-0};
			client_body_temp_path /tmp/nginx-1;
			proxy_temp_path /tmp/nginx-2;
			fastcgi_temp_path /tmp/nginx-3;
			uwsgi_temp_path /tmp/nginx-4;
			scgi_temp_path /tmp/nginx-5;
			server { listen 5002; root /tmp/www; }
		}
	END
	in_ns c0 nginx -e /out/nginx.log -c /tmp/nginx.conf
}

send_nginx() {
	in_ns c0 sysctl -qw net.ipv4.tcp_congestion_control="$3"
	if [ -n "${beside:-}" ]; then
		# shellcheck disable=SC2086  # words
		/bin/ip netns exec "${receiver:?}" /scenario/$beside >/dev/null &
		beside_pid=$!
		sleep 0.1
	fi
	in_ns "${receiver:?}" timeout 3600 curl -sS -o /dev/null \
		-w 'bytes %{size_download}\nseconds %{time_total}\nfirst_byte_s %{time_starttransfer}\n' \
		http://10.0.0.1:5002/file >/tmp/curl
	[ -z "${beside:-}" ] || kill "$beside_pid"
	python3 /scenario/summary.py </tmp/curl
	sleep 1 # its end, after the last byte
}

# What was answered, "US START_US" a line, as send_requests leaves it; prints what `send` does.
visited() { # BYTES FILE
	awk -v bytes="$1" '{ us += $1 } END { print "bytes", bytes * NR; print "elapsed_us", us }' "$2"
}

# Requests of curl to nginx. visits: a variable of the scenario's script, COUNT A_MINUTE SEED ON
send_nginx_visits() {
	visits_bytes=$2
	in_ns c0 sysctl -qw net.ipv4.tcp_congestion_control="$3"
	# shellcheck disable=SC2086  # four words
	set -- ${visits:?}
	visits_close=
	[ "$4" = kept ] || visits_close='Connection: close'
	in_ns "${receiver:?}" timeout 36000 curl -sS --rate "$2/m" -H "$visits_close" -o /dev/null -w '%{time_total}\n' \
		"http://10.0.0.1:5002/file?[1-$1]" >/tmp/curl
	awk '{ printf "%d 0\n", $1 * 1000000 }' /tmp/curl >"${transfer_out:?}/requests"
	visited "$visits_bytes" "$transfer_out/requests"
	sleep 1
}

# Lines that are typed, and echoed by the other end: likewise
start_echo() {
	in_ns "${receiver:?}" python3 /scenario/echo.py serve 5004 "$1" &
	sleep 1
}

send_echo_visits() {
	# shellcheck disable=SC2086  # four words
	in_ns c0 timeout 36000 python3 /scenario/echo.py type "$1" 5004 "$2" "$3" ${visits:?} >"${transfer_out:?}/requests"
	visited "$2" "$transfer_out/requests"
	sleep 1
}

start_iperf3() {
	in_ns "${receiver:?}" iperf3 -s -p 5003 >/out/iperf3-server.log 2>&1 &
	sleep 1
}

send_iperf3() {
	in_ns c0 timeout 3600 iperf3 -c "$1" -p 5003 -n "$2" -C "$3" -J >/tmp/iperf3.json
	python3 /scenario/summary.py iperf3 </tmp/iperf3.json
	sleep 1
}

# Pages of these sizes, as Debian's nginx serves them: header and body in one segment.
start_pages() {
	nginx_more='tcp_nopush on;'
	start_nginx 1
	for size in "$@"; do
		head -c "$size" /dev/zero >"/tmp/www/$size"
	done
}

# The transfers of one algorithm, each from the next port; pages_* are variables of the scenario's script.
pages_port=10000
send_pages() {
	in_ns c0 sysctl -qw net.ipv4.tcp_congestion_control="$3"
	# shellcheck disable=SC2086  # three words
	python3 /scenario/pages.py "${receiver:?}" c1 "$pages_port" "${pages_count:?}" "${pages_sizes:?}" ${pages_dropped:?} \
		/tmp/lost "${transfer_out:?}/pages"
	for size in $(echo "$pages_sizes" | tr , ' '); do
		pages_port=$((pages_port + pages_count))
	done
	sleep 1
}

# startup POLICY: of connections of the sender from now on; what was known of places is forgotten
startup() { in_ns c0 sysctl -qw net.tcplearn.startup="$1"; }

# in_cgroup NAME NS COMMAND: before it becomes the command, whose /sys is another
in_cgroup() {
	busybox sh -c 'echo $$ >"/sys/fs/cgroup/$1/cgroup.procs"; shift; exec /bin/ip netns exec "$@"' - "$@"
}

# first_rto_load NAME: the sock_ops program, with /scenario/NAME.settings, in the cgroup of that name
first_rto_load() {
	bpftool prog load /scenario/first_rto.o "/sys/fs/bpf/$1" type sockops pinmaps "/sys/fs/bpf/maps-$1"
	# shellcheck disable=SC2046  # a word a byte
	bpftool map update pinned "/sys/fs/bpf/maps-$1/settings" key 0 0 0 0 value $(cat "/scenario/$1.settings")
	bpftool cgroup attach "/sys/fs/cgroup/$1" sock_ops pinned "/sys/fs/bpf/$1"
}

# capture_handshakes NAME NS DEVICE: SYNs and SYN-ACKs
capture_handshakes() {
	mkdir -p /out/pcap
	/bin/ip netns exec "$2" tcpdump -i "$3" -n -s 96 -Z root -w "/out/pcap/$1.pcap" \
		"tcp[13] & 2 != 0" 2>"/out/pcap/$1.txt" &
	captures="$captures $!"
}
