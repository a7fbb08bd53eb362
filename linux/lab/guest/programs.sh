#!/bin/busybox sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=dash
# Real programs instead of lib.sh's `send`: each is called with ADDRESS BYTES CONGESTION, transfers BYTES from c0 to
# the receiver (a namespace, set by the scenario's script), and prints its figures.

# start_nginx BYTES: serves a file of this size in c0
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
	sleep 1 # until the connection has ended
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
