# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Load BPF programs by libbpf, without bpftool. Programs and maps are not pinned in a file system, so the
kernel detaches and unloads all of them when this process ends, for whatever reason."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import c_char_p, c_int, c_size_t, c_uint32, c_void_p
from functools import cache
from pathlib import Path

from tcplearn.errors import FailedError, UserError, printable

_LIBRARY = "libbpf.so.1"
_POINTERS = (  # functions of libbpf that return a pointer
    "bpf_object__open_file",
    "bpf_object__find_program_by_name",
    "bpf_program__attach_cgroup",
    "bpf_program__attach_iter",
)
_SOCK_OPS = 3  # BPF_CGROUP_SOCK_OPS of enum bpf_attach_type
# of struct bpf_prog_info: where the name begins, its size, and the number of bytes that are read
_NAME_AT, _NAME_BYTES, _INFO_BYTES = 64, 16, 128
_ITERATOR_WORDS = 4  # 32-bit words in union bpf_iter_link_info; the first is the map's file descriptor
_MOST_PROGRAMS = 64  # the kernel's BPF_CGROUP_MAX_PROGS


class _TestRun(ctypes.Structure):
    """The struct bpf_test_run_opts of libbpf."""

    _fields_ = (
        ("sz", c_size_t),
        ("data_in", c_void_p),
        ("data_out", c_void_p),
        ("data_size_in", c_uint32),
        ("data_size_out", c_uint32),
        ("ctx_in", c_void_p),
        ("ctx_out", c_void_p),
        ("ctx_size_in", c_uint32),
        ("ctx_size_out", c_uint32),
        ("retval", c_uint32),
        ("repeat", c_int),
        ("duration", c_uint32),
        ("flags", c_uint32),
        ("cpu", c_uint32),
        ("batch_size", c_uint32),
    )


class _Iterator(ctypes.Structure):
    """The struct bpf_iter_attach_opts of libbpf."""

    _fields_ = (("sz", c_size_t), ("link_info", c_void_p), ("length", c_uint32))


@cache
def _libbpf() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(_LIBRARY, use_errno=True)
    except OSError as error:
        raise UserError(f"{_LIBRARY} is missing: apt-get install libbpf1") from error
    for name in _POINTERS:
        getattr(library, name).restype = c_void_p
    library.libbpf_set_print(None)
    return library


def need_library() -> None:
    """Raise UserError if libbpf is missing."""
    _libbpf()


def _failed(what: str, code: int | None = None) -> FailedError:
    number = ctypes.get_errno() if code is None else -code
    return FailedError(f"{what}: {os.strerror(number).lower()}")


class Object:
    """The programs and maps of an object file, which stay in the kernel until close() is called."""

    def __init__(self, path: Path) -> None:
        self._links: list[c_void_p] = []
        self._handle = c_void_p(_libbpf().bpf_object__open_file(c_char_p(os.fsencode(path)), None))
        if not self._handle:
            raise _failed(f"opening {printable(path.name)}")
        if code := _libbpf().bpf_object__load(self._handle):
            self.close()
            raise _failed("the kernel does not take the BPF program", code)

    def close(self) -> None:
        """Detach all programs and unload the object."""
        while self._links:
            _libbpf().bpf_link__destroy(self._links.pop())
        if self._handle:
            _libbpf().bpf_object__close(self._handle)
        self._handle = c_void_p(None)

    def _program(self, name: str) -> c_void_p:
        found = _libbpf().bpf_object__find_program_by_name(self._handle, c_char_p(name.encode()))
        assert found, name
        return c_void_p(found)

    def attach(self, name: str, cgroup: Path) -> int:
        """Attach the program `name` to `cgroup`; return the descriptor of the link that keeps it attached."""
        with _opened(cgroup) as handle:
            link = c_void_p(_libbpf().bpf_program__attach_cgroup(self._program(name), handle))
        if not link:
            raise _failed(f"attaching to {printable(cgroup)}")
        self._links.append(link)
        return int(_libbpf().bpf_link__fd(link))

    def records(self, name: str, of: Map, size: int) -> Iterator[bytes]:
        """Run the iterator program `name` over the elements of the map `of`; yield each record of `size`
        bytes that it writes."""
        number = c_uint32(of.handle)
        info = (c_uint32 * _ITERATOR_WORDS)(number.value)
        options = _Iterator(
            sz=ctypes.sizeof(_Iterator), link_info=ctypes.addressof(info), length=ctypes.sizeof(info)
        )
        link = c_void_p(_libbpf().bpf_program__attach_iter(self._program(name), ctypes.byref(options)))
        if not link:
            raise _failed(f"starting {name}")
        try:
            handle = _libbpf().bpf_iter_create(_libbpf().bpf_link__fd(link))
            if handle < 0:
                raise _failed(f"reading {name}", handle)
            with os.fdopen(handle, "rb") as file:
                while record := file.read(size):
                    yield record
        finally:
            _libbpf().bpf_link__destroy(link)

    def map(self, name: str) -> Map:
        handle = _libbpf().bpf_object__find_map_fd_by_name(self._handle, c_char_p(name.encode()))
        assert handle >= 0, name
        return Map(handle)

    def run(self, name: str, context: ctypes.Structure) -> int:
        """Run the program `name`, of the type syscall, once, and return its result. The program may change
        `context`."""
        size = ctypes.sizeof(context)
        here = ctypes.cast(ctypes.pointer(context), c_void_p)
        options = _TestRun(sz=ctypes.sizeof(_TestRun), ctx_in=here, ctx_size_in=size)
        handle = _libbpf().bpf_program__fd(self._program(name))
        if code := _libbpf().bpf_prog_test_run_opts(handle, ctypes.byref(options)):
            raise _failed(f"running {name}", code)
        return int(options.retval)


class Map:
    """A BPF map, known by its file descriptor."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    @property
    def id(self) -> int:
        info, size = (c_uint32 * (_INFO_BYTES // 4))(), c_uint32(_INFO_BYTES)
        if _libbpf().bpf_obj_get_info_by_fd(self.handle, info, ctypes.byref(size)):
            raise _failed("a map")
        return int(info[1])

    def put(self, key: bytes, value: bytes) -> None:
        if _libbpf().bpf_map_update_elem(self.handle, c_char_p(key), c_char_p(value), 0):
            raise _failed("writing a map")

    def get(self, key: bytes, size: int) -> bytes:
        value = ctypes.create_string_buffer(size)
        if _libbpf().bpf_map_lookup_elem(self.handle, c_char_p(key), value):
            raise _failed("reading a map")
        return value.raw

    def items(self, key_size: int, size: int, most: int) -> Iterator[tuple[bytes, bytes]]:
        """Yield the keys and values of a hash map with at most `most` elements, read in one system call."""
        keys, values = ctypes.create_string_buffer(key_size * most), ctypes.create_string_buffer(size * most)
        count, after = c_uint32(most), c_uint32()
        code = _libbpf().bpf_map_lookup_batch(
            self.handle, None, ctypes.byref(after), keys, values, ctypes.byref(count), None
        )
        if code and code != -errno.ENOENT:  # ENOENT: the whole map was read
            raise _failed("reading a map", code)
        all_keys, all_values = keys.raw, values.raw
        for at in range(count.value):
            yield all_keys[at * key_size : (at + 1) * key_size], all_values[at * size : (at + 1) * size]

    def remove(self, key: bytes) -> None:
        """Remove `key` from the map. Do nothing if the map does not contain it."""
        _libbpf().bpf_map_delete_elem(self.handle, c_char_p(key))

    def of_each_cpu(self, key: bytes, size: int) -> list[bytes]:
        """Return the value of `key`, of `size` bytes (a multiple of 8), for each processor, from a map with a
        value for each."""
        cpus = _libbpf().libbpf_num_possible_cpus()
        values = self.get(key, size * cpus)
        return [values[i * size : (i + 1) * size] for i in range(cpus)]

    def keys(self, size: int) -> Iterator[bytes]:
        key = ctypes.create_string_buffer(size)
        before = None
        while _libbpf().bpf_map_get_next_key(self.handle, before, key) == 0:
            yield key.raw
            before = ctypes.create_string_buffer(key.raw, size)


@contextmanager
def map_of(number: int) -> Iterator[Map]:
    """Yield the BPF map with the id `number`, which may be a map of another process."""
    handle = _libbpf().bpf_map_get_fd_by_id(c_uint32(number))
    if handle < 0:
        raise _failed(f"map {number}", handle)
    try:
        yield Map(handle)
    finally:
        os.close(handle)


def sock_ops_programs(cgroup: Path) -> list[str]:
    """Return the names of the sock_ops programs that are attached to `cgroup` itself."""
    ids, count = (c_uint32 * _MOST_PROGRAMS)(), c_uint32(_MOST_PROGRAMS)
    with _opened(cgroup) as handle:
        if code := _libbpf().bpf_prog_query(handle, _SOCK_OPS, 0, None, ids, ctypes.byref(count)):
            raise _failed(f"asking which programs {printable(cgroup)} has", code)
    return [_name_of(number) for number in ids[: count.value]]


def _name_of(number: int) -> str:
    handle = _libbpf().bpf_prog_get_fd_by_id(c_uint32(number))
    if handle < 0:
        return f"id {number}"
    info, size = ctypes.create_string_buffer(_INFO_BYTES), c_uint32(_INFO_BYTES)
    failed = _libbpf().bpf_obj_get_info_by_fd(handle, info, ctypes.byref(size))
    os.close(handle)
    name = info.raw[_NAME_AT : _NAME_AT + _NAME_BYTES].split(b"\0")[0].decode(errors="replace")
    return f"id {number}" if failed or not name else printable(name)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield handle
    finally:
        os.close(handle)
