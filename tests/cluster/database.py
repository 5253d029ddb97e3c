"""A private PostgreSQL for tests: a new cluster in a folder of its own, without fsync, which goes when the test ends.

    with database.Database() as db:
        db.url          for --store
        db.kill()       SIGKILL to all of it; db.start() again
        with database.Database(standby_of=db) as standby:
            standby.promote()

PostgreSQL refuses to run as root; then it runs as the user postgres, or nobody.
"""
import atexit
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time


def programs():
    """The folder of initdb and postgres; None where PostgreSQL is not installed."""
    asked = shutil.which("pg_config")
    folders = [subprocess.run([asked, "--bindir"], capture_output=True, text=True).stdout.strip()] if asked else []
    folders += sorted(map(str, pathlib.Path("/usr/lib/postgresql").glob("*/bin")), reverse=True)
    found = shutil.which("initdb")
    folders += [os.path.dirname(found)] if found else []
    return next((f for f in folders if os.path.exists(f + "/initdb") and os.path.exists(f + "/postgres")), None)


def owner():
    """Who runs it: {} for this user."""
    if os.getuid() != 0:
        return {}
    for name in "postgres", "nobody":
        try:
            user = pwd.getpwnam(name)
            return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        except KeyError:
            pass
    return {}


class Database:
    def __init__(self, standby_of=None, **settings):
        self.bin, self.owner = programs(), owner()
        self.folder = tempfile.mkdtemp(prefix="dynalith-postgresql-")
        if self.owner:
            os.chown(self.folder, self.owner["user"], self.owner["group"])
        self.data = self.folder + "/data"
        self.settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": self.folder, "fsync": "off", "full_page_writes": "off",
                         "max_connections": "100", "shared_buffers": "64MB", "log_min_messages": "fatal", **settings}
        self.process = None
        atexit.register(self.close)  # also where those who use it do not come to their ends
        try:
            if standby_of:
                self.run("pg_basebackup", "-D", self.data, "-U", "postgres", "-h", standby_of.folder, "-p", str(standby_of.port), "-X", "stream", "-c", "fast",
                         "-R", "--no-sync", "--no-manifest")
            else:
                self.run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
            with socket.socket() as s:
                s.bind(("127.0.0.1", 0))
                self.port = s.getsockname()[1]
            self.start()
        except BaseException:
            self.close()
            raise

    @property
    def url(self):
        return self.url_of("postgres")

    def url_of(self, name):
        return f"postgresql://postgres@/{name}?host={self.folder}&port={self.port}"

    def run(self, program, *arguments, check=True):
        return subprocess.run([f"{self.bin}/{program}", *arguments], check=check, capture_output=True, text=True, cwd=self.folder, **self.owner)

    def start(self):
        settings = [word for name, value in {**self.settings, "port": str(self.port)}.items() for word in ("-c", f"{name}={value}")]
        with open(self.folder + "/log", "ab") as log:
            self.process = subprocess.Popen([f"{self.bin}/postgres", "-D", self.data, *settings], stdout=log, stderr=log, cwd=self.folder, **self.owner)
        while self.run("pg_isready", "-q", "-h", self.folder, "-p", str(self.port), check=False).returncode != 0:
            if self.process.poll() is not None:
                raise SystemExit("PostgreSQL did not start: " + pathlib.Path(self.folder, "log").read_text()[-2000:])
            time.sleep(0.02)

    def sql(self, text, name="postgres"):
        return self.run("psql", "-X", "-q", "-A", "-t", "-h", self.folder, "-p", str(self.port), "-U", "postgres", "-d", name, "-v", "ON_ERROR_STOP=1",
                        "-c", text).stdout.strip()

    def follow(self):
        """Waits until a standby has all that is written now; commits wait for it from now on."""
        while self.sql("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") == "0":
            time.sleep(0.02)
        now = self.sql("SELECT pg_current_wal_flush_lsn()")
        while self.sql(f"SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND flush_lsn >= '{now}' AND sync_state = 'sync'") == "0":
            time.sleep(0.02)

    def promote(self):
        self.sql("SELECT pg_promote(true, 60)")

    def create(self, name):
        """Another database of it, and its URL."""
        self.sql(f"CREATE DATABASE {name}")
        return self.url_of(name)

    def stop(self, how=signal.SIGINT):
        """SIGINT: connections are cut, in order; SIGQUIT: at once, as after a crash."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait()

    def kill(self):
        """Its main process by SIGKILL; the others see that and end by themselves, which the next start waits for."""
        self.process.kill()
        self.process.wait()
        lock = pathlib.Path(self.data, "postmaster.pid")
        lock.unlink(missing_ok=True)
        while self.sessions():
            time.sleep(0.02)

    def sessions(self):
        """Whether processes of it are left."""
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(path / "cwd") == self.data:
                    return True
            except OSError:
                pass
        return False

    def close(self):
        atexit.unregister(self.close)
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
