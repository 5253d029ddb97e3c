"""A bare Debian of this machine's mirror in namespaces of its own, for what must work, or be measured, elsewhere than here.

Mounts and processes end with the process that made them, however it ends. Needs root, debootstrap and git.
"""
import atexit
import contextlib
import glob
import os
import pathlib
import re
import shutil
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUITE = "bookworm"
HERE = ROOT / "build/bare"
CHECKOUT = "/root/dynalith"
# How this machine reaches its registries, where it says so.
SETTINGS = ["/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/npmrc", "/usr/etc/npmrc", "~/.npmrc", "~/.config/pip/pip.conf", "~/.cargo/config.toml", "~/.config/go/env",
            *glob.glob("/usr/local/share/ca-certificates/*.crt"), *glob.glob("/etc/apt/apt.conf.d/*proxy*")]
VARIABLES = re.compile(r"(?i).*_proxy|PIP_(?!FIND_LINKS).*|NPM_CONFIG_.*|NODE_EXTRA_CA_CERTS|CARGO_(HTTP|NET|REGISTRIES).*|GOPROXY|GOSUMDB")
SETUP = """
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work,volatile" "$2/root"
mount -t proc proc "$2/root/proc"
mount -t tmpfs tmpfs "$2/root/dev/shm"
mkdir -p "$2/root/dev/pts"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$2/root/dev/pts"
rm -f "$2/root/dev/ptmx"
ln -s pts/ptmx "$2/root/dev/ptmx"
echo ready
exec cat
"""


def mirror():
    """The first of Debian's in the lists of apt, in either form."""
    for name in ["/etc/apt/sources.list", *sorted(glob.glob("/etc/apt/sources.list.d/*"))]:
        with contextlib.suppress(FileNotFoundError):
            for found in re.findall(r"^(?:deb|URIs:)\s+(?:\[[^]]*\]\s+)?(\S+/debian/?)(?=\s|$)", pathlib.Path(name).read_text(), re.M):
                return found
    raise AssertionError("apt's lists name no mirror of Debian")


def make_base(suite=SUITE, packages="git"):
    """The folder of a suite with these packages, made once."""
    base = HERE / suite
    if not base.exists():
        HERE.mkdir(parents=True, exist_ok=True)
        begun = time.monotonic()
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={packages}", suite, f"{base}.new", mirror()], check=True, stdout=subprocess.DEVNULL)
        shutil.rmtree(f"{base}.new/var/cache/apt/archives", ignore_errors=True)
        os.rename(f"{base}.new", base)
        print(f"debootstrap of {suite} took {time.monotonic() - begun:.0f} s", flush=True)
    return base


class Root:
    """A bare machine with the project's files, as `git clone` brings them."""

    def __init__(self, name, base=None):
        self.folder = HERE / f"{name}-{os.getpid()}"
        for part in ("upper", "work", "root"):
            (self.folder / part).mkdir(parents=True)
        self.put_settings(self.folder / "upper")
        subprocess.run(["git", "clone", "-q", f"file://{ROOT}", f"{self.folder}/upper{CHECKOUT}"], check=True)
        self.holder = subprocess.Popen(["unshare", "--mount", "--pid", "--fork", "--kill-child=KILL", "sh", "-ec", SETUP, "sh", str(base or make_base()), str(self.folder)],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        atexit.register(self.close)
        assert self.holder.stdout.readline() == b"ready\n", "the root cannot be mounted"
        self.first = pathlib.Path(f"/proc/{self.holder.pid}/task/{self.holder.pid}/children").read_text().split()[0]
        self.environment = {"HOME": "/root", "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
                            **{name: value for name, value in os.environ.items() if VARIABLES.fullmatch(name)}}

    @staticmethod
    def put_settings(upper):
        for name in SETTINGS:
            source = pathlib.Path(os.path.expanduser(name))
            if source.is_file():
                target = pathlib.Path(f"{upper}{'/root' + name[1:] if name.startswith('~') else name}")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(source.read_bytes())

    def path(self, name):
        """A file of the root, as seen from here."""
        return pathlib.Path(f"/proc/{self.first}/root{self.folder}/root{name}")

    def command(self, words, folder=CHECKOUT, below="", user=None, environment=None):
        who = [f"--userspec={user}"] if user else []
        values = [f"{name}={value}" for name, value in (self.environment if environment is None else environment).items()]
        inside = f"{self.folder}/root{below}"
        return ["nsenter", f"--target={self.first}", "--mount", "--pid", "env", "-i", *values, shutil.which("chroot"), *who, inside,
                *(["/bin/sh", "-c", 'cd "$0" && exec "$@"', folder] if folder else []), *words]

    def run(self, *words, log, limit=1800, **kwargs):
        with open(log, "a") as out:
            done = subprocess.run(self.command(words, **kwargs), stdin=subprocess.DEVNULL, stdout=out, stderr=out, timeout=limit)
        assert done.returncode == 0, f"status {done.returncode} of {words}:\n" + "\n".join(pathlib.Path(log).read_text(errors="replace").splitlines()[-30:])

    def start(self, *words, log, **kwargs):
        with open(log, "a") as out:
            return subprocess.Popen(self.command(words, **kwargs), stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)

    def close(self):
        if self.holder.poll() is None:
            self.holder.stdin.close()
            self.holder.wait(60)
        shutil.rmtree(self.folder, ignore_errors=True)
