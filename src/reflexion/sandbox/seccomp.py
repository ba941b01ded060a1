"""The system calls that a job does not get: what would lead around a limit, and what no example needs.

A namespace of its own would give a job mounts without a size; memory of these kinds of IPC is counted nowhere; some
kinds of socket (AF_VSOCK, between a virtual machine and its host) know no network namespace; the rest is the
kernel's largest attack surface.
"""

import errno
import platform
import struct
from typing import NamedTuple

# From linux/filter.h and linux/seccomp.h: load a word of the record about the call, compare, return.
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000
_X32_CALLS = 0x40000000
# CLONE_NEWTIME is missing: it shares its bit with the signal that a child ends with, and is for unshare alone.
_NEW_NAMESPACES = 0x7E020000
_SOCKET_FAMILIES = (1, 2, 10, 16)  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK


class _Architecture(NamedTuple):
    audit: int
    clone: int
    socket: int
    denied: tuple[int, ...]


# open_tree to mount_setattr, open_tree_attr; io_uring; pidfd_getfd; memfd_secret: the same numbers everywhere.
_COMMON = (428, 429, 430, 431, 432, 433, 442, 467, 425, 426, 427, 438, 447)
# unshare, setns, mount, umount2, pivot_root, chroot, shmget, msgget, semget, memfd_create, mq_open, add_key,
# request_key, keyctl, bpf, perf_event_open, userfaultfd, ptrace, process_vm_readv, process_vm_writev.
_X86_64 = (272, 308, 165, 166, 155, 161, 29, 68, 64, 319, 240, 248, 249, 250, 321, 298, 323, 101, 310, 311)
_AARCH64 = (97, 268, 40, 39, 41, 51, 194, 186, 190, 279, 180, 217, 218, 219, 280, 241, 282, 117, 270, 271)
_CLONE3 = 435
_ARCHITECTURES = {
    "x86_64": _Architecture(0xC000003E, 56, 41, _X86_64 + _COMMON),
    "aarch64": _Architecture(0xC00000B7, 220, 198, _AARCH64 + _COMMON),
}


def seccomp_program() -> bytes | None:
    """Return the filter as bubblewrap takes it, None on a kind of machine whose numbers are not known here."""
    here = _ARCHITECTURES.get(platform.machine())
    if here is None:
        return None
    program = [
        _word(_ARCHITECTURE_AT),
        *_unless(_JUMP_EQUAL, here.audit, _KILL),
        _word(_NUMBER_AT),
        *_when(_JUMP_AT_LEAST, _X32_CALLS, _FAIL | errno.ENOSYS),
        # Its flags lie in memory, which a filter cannot read; libraries then use clone.
        *_when(_JUMP_EQUAL, _CLONE3, _FAIL | errno.ENOSYS),
    ]
    for number in here.denied:
        program += _when(_JUMP_EQUAL, number, _FAIL | errno.EPERM)
    program += _for_call(here.clone, _when(_JUMP_ANY_BIT, _NEW_NAMESPACES, _FAIL | errno.EPERM))
    families = [step for family in _SOCKET_FAMILIES for step in _when(_JUMP_EQUAL, family, _ALLOW)]
    program += _for_call(here.socket, [*families, _return(_FAIL | errno.EAFNOSUPPORT)])
    return b"".join([*program, _return(_ALLOW)])


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _word(offset: int) -> bytes:
    return _step(_LOAD, offset)


def _return(action: int) -> bytes:
    return _step(_RETURN, action)


def _when(test: int, value: int, action: int) -> list[bytes]:
    return [_step(test, value, 0, 1), _return(action)]


def _unless(test: int, value: int, action: int) -> list[bytes]:
    return [_step(test, value, 1, 0), _return(action)]


def _for_call(number: int, steps: list[bytes]) -> list[bytes]:
    """Return steps that look at the first argument of one call, and end with the number loaded again."""
    inside = [_word(_FIRST_ARGUMENT_AT), *steps, _word(_NUMBER_AT)]
    return [_step(_JUMP_EQUAL, number, 0, len(inside)), *inside]
