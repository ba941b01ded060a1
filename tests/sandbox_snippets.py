"""Snippets that try what must not work, and the words that they have for it.

``attempt(what, function)`` says TRIED when the function failed, BREACH when it did not; ``finish()`` at the end tells
that the snippet came that far.
"""

PRELUDE = '''
import os, sys
FILES = os.environ["REFLEXION_FILES"]
MARKER, CANARY, PORT, UDP, UNIX, ABSTRACT, HOST_PID = sys.argv[1:8]

def say(text):
    os.write(1, (text + "\\n").encode())

def attempt(what, function):
    try:
        got = function()
    except (OSError, ImportError, KeyError, LookupError, MemoryError, ValueError) as error:
        say(f"TRIED {what}: {error!r}")
    else:
        say(f"BRE" + f"ACH {what}: {got!r}")

def poke(path, text):
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)

def refused(what, function, *arguments):
    """A C function that says -1 when it is refused."""
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    got = getattr(libc, function)(*arguments)
    say(f"TRIED {what}" if got == -1 else f"BRE" + f"ACH {what}: {got}")

def finish(text="DONE"):
    os.write(int(os.environ["REFLEXION_RESULT_FD"]), text.encode())
'''

# What ends by itself, and must have got to its end.
ENDING = {
    "write-root": """
        for path in ("/x", "/usr/x", "/usr/bin/x", "/etc/x", "/root/x", "/home/x", "/var/x", "/dev/x",
                     "/opt/x", "/sys/x"):
            attempt(path, lambda: open(path, "w").write("x"))
        finish()""",
    "write-job-files": """
        attempt("new", lambda: open(FILES + "/new.py", "w"))
        attempt("old", lambda: open(FILES + "/hostile.py", "a"))
        attempt("remove", lambda: os.remove(FILES + "/hostile.py"))
        attempt("chmod", lambda: os.chmod(FILES + "/hostile.py", 0o777))
        attempt("rename", lambda: os.rename(FILES, FILES + "2"))
        finish()""",
    "write-upwards": """
        attempt("up", lambda: open("../" * 20 + "usr/x", "w"))
        attempt("up-job", lambda: open("../../job/x", "w"))
        attempt("canary", lambda: open(CANARY, "a"))
        attempt("canary-remove", lambda: os.remove(CANARY))
        finish()""",
    "write-interpreter": """
        import encodings, site
        attempt("stdlib", lambda: open(encodings.__file__, "a"))
        attempt("executable", lambda: open(sys.executable, "ab"))
        for folder in site.getsitepackages():
            attempt(folder, lambda: open(folder + "/evil.pth", "w"))
        finish()""",
    "read-secrets": """
        for path in ("/etc/shadow", "/etc/passwd", "/etc/hostname", "/root/.bashrc", "/root/.ssh/id_rsa", CANARY,
                     "/proc/1/root" + CANARY, "/proc/self/cwd/../.." + CANARY, "/proc/kcore", "/var/log/dpkg.log",
                     "/dev/mem", "/dev/sda", "/dev/vda", "/proc/kmsg"):
            attempt(path, lambda: open(path, "rb").read(16))
        for folder in ("/home", "/sys", "/var", "/run", "/mnt", "/boot", os.path.dirname(CANARY)):
            attempt(folder, lambda: os.listdir(folder))
        attempt("expanduser", lambda: open(os.path.expanduser("~root/.bashrc")).read())
        finish()""",
    "read-environment": """
        say(repr(dict(os.environ)))
        for name in os.listdir("/proc"):
            if name.isdigit():
                for part in ("environ", "cmdline"):
                    try:
                        text = open(f"/proc/{name}/{part}", "rb").read()
                    except OSError as error:
                        text = repr(error).encode()
                    say(name + part + repr(text))
        finish()""",
    "see-processes": """
        seen = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        say(repr(seen))
        attempt("count", lambda: seen[3])
        attempt("host", lambda: os.kill(int(HOST_PID), 0) if int(HOST_PID) not in seen else [][0])
        finish()""",
    "tcp": """
        import socket
        for host in ("127.0.0.1", "localhost", "::1", "10.0.0.1", "169.254.169.254", "8.8.8.8"):
            attempt(host, lambda: socket.create_connection((host, int(PORT)), timeout=1))
        finish()""",
    "udp": """
        import socket
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for host in ("127.0.0.1", "255.255.255.255", "8.8.8.8"):
            try:
                s.sendto(b"secret", (host, int(UDP)))
            except OSError as error:
                say(repr(error))
        finish()""",
    "unix-sockets": """
        import socket
        for address in (UNIX, "\\0" + ABSTRACT, "/run/systemd/private", "/var/run/docker.sock",
                        "/run/dbus/system_bus_socket"):
            attempt(address, lambda: socket.socket(socket.AF_UNIX).connect(address))
        finish()""",
    "odd-sockets": """
        import socket
        for family in (40, 38, 17, 31, 29, 21, 44):  # VSOCK ALG PACKET BLUETOOTH CAN RDS XDP
            for kind in (socket.SOCK_STREAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):
                attempt(f"{family}/{kind}", lambda: socket.socket(family, kind))
        attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
        finish()""",
    "dns": """
        import socket, urllib.request
        attempt("name", lambda: socket.getaddrinfo("example.org", 80))
        attempt("http", lambda: urllib.request.urlopen("http://127.0.0.1:" + PORT, timeout=1))
        finish()""",
    "kill-host": """
        import signal
        for pid in (int(HOST_PID), os.getppid() + 1000, 2**22 - 1):
            attempt(str(pid), lambda: os.kill(pid, signal.SIGKILL))
        attempt("group", lambda: os.killpg(int(HOST_PID), signal.SIGKILL))
        finish()""",
    "trace": """
        import ctypes
        refused("attach-1", "ptrace", 16, 1, 0, 0)
        refused("seize-parent", "ptrace", 0x4206, os.getppid() or 1, 0, 0)
        refused("traceme", "ptrace", 0, 0, 0, 0)
        refused("readv", "process_vm_readv", 1, None, 0, None, 0, 0)
        # Memory of the sandbox's first process can be had, so that one must have no more rights than the job.
        for name in (name for name in os.listdir("/proc") if name.isdigit()):
            status = dict(line.split(":\t", 1) for line in open(f"/proc/{name}/status").read().splitlines())
            rights = [status[key].strip() for key in ("CapEff", "CapPrm", "NoNewPrivs", "Seccomp")]
            say(f"TRIED {name}" if rights == ["0" * 16, "0" * 16, "1", "2"] else "BRE" + f"ACH {name}: {rights}")
        finish()""",
    "mounts": """
        import subprocess
        refused("mount", "mount", b"none", b"/tmp/private", b"tmpfs", 0, None)
        refused("mount-proc", "mount", b"proc", b"/tmp/private", b"proc", 0, None)
        refused("remount", "mount", None, b"/", None, 0x1020, None)
        refused("bind", "mount", b"/", b"/tmp/private", None, 0x1000, None)
        refused("umount", "umount2", b"/job", 2)
        refused("chroot", "chroot", b"/tmp")
        refused("pivot", "syscall", 155, b"/", b"/tmp")
        refused("open_tree", "syscall", 428, -100, b"/", 1)
        refused("fsopen", "syscall", 430, b"tmpfs", 0)
        for flag in (0x10000000, 0x20000, 0x40000000, 0x20000000, 0x10020000, 0x4000000, 0x8000000, 0x80):
            refused(f"unshare {flag:x}", "unshare", flag)
        refused("clone", "syscall", 56 if os.uname().machine == "x86_64" else 220, 0x10000011, 0, 0, 0, 0)
        refused("clone3", "syscall", 435, None, 0)
        for name in ("net", "mnt", "pid", "user"):
            refused("setns", "setns", os.open(f"/proc/self/ns/{name}", os.O_RDONLY), 0)
        for command in ("unshare -Ur true", "mount -o remount,rw /", "su -c true", "sudo -n true",
                        "bwrap --bind / / true"):
            got = subprocess.run(["sh", "-c", command], capture_output=True)
            attempt(command, lambda: {0: "ran"}[got.returncode])
        finish()""",
    "privileges": """
        attempt("nice", lambda: os.nice(-20))
        attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, -10))
        attempt("setuid", lambda: os.setuid(0))
        attempt("setgid", lambda: os.setgid(0))
        attempt("groups", lambda: os.setgroups([0]))
        attempt("chown", lambda: (open("mine", "w"), os.chown("mine", 0, 0)))
        attempt("mknod", lambda: os.mknod("disk", 0o60666, os.makedev(254, 0)))
        attempt("hostname", lambda: __import__("socket").sethostname("evil"))
        attempt("clock", lambda: __import__("time").clock_settime(0, 0))
        attempt("scheduler", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)))
        attempt("sysrq", lambda: poke("/proc/sysrq-trigger", "x"))
        attempt("core_pattern", lambda: poke("/proc/sys/kernel/core_pattern", "x"))
        attempt("namespaces", lambda: poke("/proc/sys/user/max_user_namespaces", "1"))
        attempt("uid_map", lambda: poke("/proc/self/uid_map", "0 0 1"))
        attempt("oom", lambda: poke("/proc/1/oom_score_adj", "-1000"))
        finish()""",
    "raise-limits": """
        import resource
        for name in ("RLIMIT_AS", "RLIMIT_NPROC", "RLIMIT_FSIZE", "RLIMIT_CPU", "RLIMIT_NOFILE", "RLIMIT_CORE"):
            number = getattr(resource, name)
            attempt(name, lambda: resource.setrlimit(number, (resource.RLIM_INFINITY,) * 2))
        finish()""",
    "hidden-memory": """
        refused("shmget", "shmget", 0, 1 << 30, 0o1600)
        refused("memfd", "memfd_create", b"x", 0)
        refused("msgget", "msgget", 0, 0o1600)
        refused("keyctl", "syscall", 250 if os.uname().machine == "x86_64" else 219, 0, -4, 1)
        refused("io_uring", "syscall", 425, 1, None)
        def fill(path, step=1 << 20):
            with open(path, "wb") as file:
                for _ in range(64):
                    file.write(bytes(step))
        attempt("shm", lambda: [fill(f"/dev/shm/{number}") for number in range(8)])
        attempt("tmp", lambda: [fill(f"/tmp/{number}", 1 << 15) for number in range(64)])
        finish()""",
    "memory": """
        import ctypes, mmap
        attempt("bytes", lambda: len(bytes(10 * 2**30)))
        attempt("mmap", lambda: mmap.mmap(-1, 10 * 2**30))
        attempt("list", lambda: [0] * (2 * 2**30))
        malloc = ctypes.CDLL(None).malloc
        malloc.restype = ctypes.c_void_p
        got = malloc(ctypes.c_size_t(10 * 2**30))
        attempt("malloc", lambda: {False: got}[got is None])
        finish()""",
    "big-file": """
        def grow():
            with open("big", "wb") as file:
                for _ in range(10 * 1024):
                    file.write(bytes(1 << 20))
        attempt("10 GB", grow)
        attempt("hole", lambda: os.truncate("big", 10 * 2**30))
        finish()""",
    "many-files": """
        def many():
            for number in range(100_000):
                with open(f"f{number}", "wb") as file:
                    file.write(bytes(4096))
        attempt("files", many)
        finish()""",
    "links": """
        os.symlink("/etc/shadow", "shadow")
        os.symlink(CANARY, "canary")
        os.symlink("/", "root")
        os.symlink("loop", "loop")
        attempt("shadow", lambda: open("shadow").read())
        attempt("canary", lambda: open("canary", "a").write("x"))
        attempt("through", lambda: open("root" + CANARY).read())
        attempt("loop", lambda: open("loop").read())
        attempt("hard", lambda: os.link(FILES + "/hostile.py", "hard"))
        finish()""",
    "inherited-descriptors": """
        result = int(os.environ["REFLEXION_RESULT_FD"])
        say(repr({name: os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")
                  if os.path.islink(f"/proc/self/fd/{name}")}))
        for number in set(range(3, 256)) - {result}:
            attempt(str(number), lambda: os.fstat(number))
        attempt("reopen-folder", lambda: os.listdir(f"/proc/self/fd/{result}/.."))
        attempt("link", lambda: os.link(f"/proc/self/fd/{result}", "/tmp/stolen", follow_symlinks=True))
        finish()""",
    "other-descriptors": """
        for pid in (name for name in os.listdir("/proc") if name.isdigit()):
            for number in range(20):
                for part in ("/..", CANARY):
                    attempt(f"{pid}/{number}", lambda: os.listdir(f"/proc/{pid}/fd/{number}{part}"))
            attempt(f"{pid} root", lambda: os.listdir(f"/proc/{pid}/root/home"))
            attempt(f"{pid} cwd", lambda: open(f"/proc/{pid}/cwd{CANARY}").read())
        finish()""",
}
