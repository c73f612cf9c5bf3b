# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Nothing of the user's is harmed: every option that writes, against links, devices, FIFOs, folders of others, full disks and
signals."""
import os
import resource
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import time
import unittest

from tool_case import KAITEN, ROOT, ToolCase, run, table

IMAGES = os.path.join(ROOT, "models", "demo")
NANO = ("--config", "nano")
VOLUME = ("volume", os.path.join(ROOT, "models", "volumes", "small.znni"), "--size", "40,40,40", "--threads", "1")
NOBODY = 65534
# Every option that writes a file as a whole, with a short command.
WRITERS = {
    "run --output": ("run", "demo", *NANO), "run --json": ("run", "demo", *NANO), "run --trace": ("run", "demo", *NANO),
    "disasm --output": ("disasm", "demo", *NANO), "plan --json": ("plan", table("nin"), "--capacity", "4MiB"),
    "plan --html": ("plan", table("nin"), "--capacity", "4MiB"), "compress --json": ("compress", "demo"),
    "compress --html": ("compress", "demo"), "offload --json": ("offload", table("alexnet")),
    "offload --html": ("offload", table("alexnet")), "eval --csv": ("eval", "demo", IMAGES), "eval --json": ("eval", "demo", IMAGES),
    "report --output": ("report", "demo", *NANO),
    "serve --json": ("serve", "--generate", "uniform:20"), "serve --trace": ("serve", "--generate", "uniform:20"),
    "serve --write-table": ("serve", "--generate", "uniform:20"),
    "swap --json": ("swap", "alexnet", "--topology", "titanxp", "--batch", "8"),
}


def writer(key):
    return WRITERS[key], key.split()[1]


def limited(arguments, file_bytes):
    """With files of at most so many bytes: what a disk does that is full."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    return subprocess.run([KAITEN, *arguments], capture_output=True, text=True, timeout=60, preexec_fn=limit)


class Outputs(ToolCase):
    def one_line(self, done, code=2):
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (code, 1), (done.args, done.stderr))
        return done.stderr

    def test_devices_stay(self):
        for key in WRITERS:
            arguments, option = writer(key)
            self.one_line(run(KAITEN, *arguments, option, "/dev/full"))
            self.assertEqual(run(KAITEN, *arguments, option, "/dev/null").returncode, 0, key)
            for device in ("/dev/full", "/dev/null"):
                self.assertTrue(stat.S_ISCHR(os.lstat(device).st_mode), key)
                self.assertFalse(os.path.exists(device + ".part"), key)

    def test_links_stay_and_lead(self):
        os.mkdir(self.file("elsewhere"))
        for key in WRITERS:
            arguments, option = writer(key)
            target = self.file("elsewhere/target", "old")
            os.symlink("elsewhere/target", self.file("link"))
            self.assertEqual(run(KAITEN, *arguments, option, self.file("link")).returncode, 0, key)
            self.assertTrue(os.path.islink(self.file("link")), key)
            self.assertNotEqual(os.path.getsize(target), 3, key)
            os.remove(self.file("link"))
            os.remove(target)
        self.assertEqual((os.listdir(self.folder), os.listdir(self.file("elsewhere"))), (["elsewhere"], []))

    def test_fifos_stay(self):
        for key in WRITERS:
            arguments, option = writer(key)
            fifo, got = self.file("fifo"), []
            os.mkfifo(fifo)

            def read(fifo=fifo, got=got):
                with open(fifo, "rb") as f:
                    got.append(f.read())
            reader = threading.Thread(target=read, daemon=True)
            reader.start()
            self.assertEqual(run(KAITEN, *arguments, option, fifo).returncode, 0, key)
            reader.join(10)
            self.assertTrue(got[0] and stat.S_ISFIFO(os.lstat(fifo).st_mode), key)
            os.remove(fifo)

    def test_modes_stay_and_grow_no_rights(self):
        for key in WRITERS:
            arguments, option = writer(key)
            old = self.file("old", "before")
            os.chmod(old, 0o4640)
            self.assertEqual(run(KAITEN, *arguments, option, old).returncode, 0, key)
            self.assertEqual(stat.S_IMODE(os.stat(old).st_mode), 0o640, key)  # as after any write: not set-user-ID

    def test_full_disk(self):
        for key in WRITERS:
            arguments, option = writer(key)
            old = self.file("old", "before")
            done = limited([*arguments, option, old], 4)
            self.assertIn("File too large", self.one_line(done), key)
            with open(old, "rb") as f:
                self.assertEqual(f.read(), b"before", key)
            self.assertEqual([n for n in os.listdir(self.folder) if n.startswith(".kaiten")], [], key)

    def test_a_disk_that_is_full(self):
        disk = self.file("disk")
        os.mkdir(disk)
        script = f'mount -t tmpfs -o size=16k none {disk} && "$@"; code=$?; ls -A {disk}; exit $code'
        done = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", KAITEN, "run", "demo", *NANO, "--trace", disk + "/t.json"],
                              capture_output=True, text=True, timeout=60)
        if "unshare" in done.stderr or "mount" in done.stderr:
            self.skipTest("no mount for users here: " + done.stderr.strip())
        self.assertIn("No space left", self.one_line(done))
        self.assertEqual(done.stdout.splitlines()[-1:], [], done.stdout)

    def test_folders(self):
        for key in WRITERS:
            arguments, option = writer(key)
            self.assertIn("folder", self.refused(*arguments, option, self.folder))
            self.assertIn("No such file", self.refused(*arguments, option, self.file("none/x")))


class Parts(ToolCase):
    """What grows beside an output."""

    def test_a_file_of_the_user_is_no_journal(self):
        for text in ("one line without an end", "two\nlines\n", "\n"):
            part = self.file("x.csv.part", text)
            self.refused("eval", "demo", IMAGES, "--csv", self.file("x.csv"))
            with open(part, encoding="utf-8") as f:
                self.assertEqual(f.read(), text)
        os.remove(part)
        other = self.file("other", "")
        for make in (os.symlink, os.link, lambda _, name: os.mkfifo(name)):
            make(other, part)
            self.assertRegex(self.refused("eval", "demo", IMAGES, "--csv", self.file("x.csv")), "stands there|symbolic links")
            self.assertEqual(os.path.getsize(other), 0)
            os.remove(part)

    def test_a_journal_cut_off_in_its_first_line(self):
        self.file("x.csv.part", "# kaiten eval, ")
        self.assertEqual(run(KAITEN, "eval", "demo", IMAGES, "--csv", self.file("x.csv")).returncode, 0)
        self.assertEqual(os.listdir(self.folder), ["x.csv"])

    def volume(self, *arguments):
        return run(KAITEN, *VOLUME, "--memory", "1GiB", *arguments)

    def test_volumes(self):
        calibration = ("--calibration", self.file("c.json"))
        out = self.file("out.raw", "old")
        os.chmod(out, 0o640)
        self.assertEqual(self.volume("--output", out, *calibration).returncode, 0)
        self.assertEqual((stat.S_IMODE(os.stat(out).st_mode), sorted(os.listdir(self.folder))), (0o640, ["c.json", "out.raw"]))
        os.symlink("out.raw", self.file("link"))
        os.mkfifo(self.file("fifo"))
        for name in (self.file("link"), self.file("fifo"), "/dev/null"):
            done = self.volume("--output", name, *calibration)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
            self.assertFalse(os.path.exists(name + ".part"))
        part = self.file("out.raw.part", "the user's")
        self.assertIn("stands there", self.volume("--output", out, *calibration).stderr)
        with open(part, encoding="utf-8") as f:
            self.assertEqual(f.read(), "the user's")
        network = self.file("n.znni")
        shutil.copy(VOLUME[1], network)
        done = run(KAITEN, "volume", network, *VOLUME[2:], "--calibration", network, "--recalibrate")
        self.assertEqual(done.returncode, 2, done.stderr)
        with open(VOLUME[1], "rb") as a, open(network, "rb") as b:
            self.assertEqual(a.read(), b.read())


class OtherUser(ToolCase):
    """As nobody, in folders of root."""

    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to be another user")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.chmod(self.folder, 0o755)
        self.tool = self.file("kaiten")
        shutil.copy(KAITEN, self.tool)
        os.chmod(self.tool, 0o755)

    def nobody(self, *arguments):
        return subprocess.run([self.tool, "disasm", "demo", *NANO, "--output", *arguments], capture_output=True, text=True, timeout=60,
                              user=NOBODY, group=NOBODY, extra_groups=[], cwd=self.folder)

    def test_read_only_folder(self):
        theirs = self.file("theirs", "root's")
        os.chmod(theirs, 0o644)
        for name in ("new", "theirs"):
            done = self.nobody(name)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
            self.assertIn("Permission denied", done.stderr)
        with open(theirs, encoding="utf-8") as f:
            self.assertEqual(f.read(), "root's")

    def test_world_writable_folder(self):
        folder = self.file("shared")
        os.mkdir(folder)
        os.chmod(folder, 0o1777)
        theirs = self.file("shared/theirs", "root's")
        os.chmod(theirs, 0o666)
        done = self.nobody("shared/theirs")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn("another user's", done.stderr)
        self.assertEqual(self.nobody("shared/mine").returncode, 0)
        self.assertEqual(os.stat(self.file("shared/mine")).st_uid, NOBODY)
        os.chmod(folder, 0o777)  # without the sticky bit it may be replaced: the file becomes nobody's, its mode stays
        self.assertEqual(self.nobody("shared/theirs").returncode, 0)
        self.assertEqual(stat.S_IMODE(os.stat(theirs).st_mode), 0o666)
        os.chown(self.file("shared/mine"), 0, 0)
        os.chmod(self.file("shared/mine"), 0o676)
        self.assertEqual(self.nobody("shared/mine").returncode, 0)
        # The group is another one now: it has the rights of all.
        self.assertEqual(stat.S_IMODE(os.stat(self.file("shared/mine")).st_mode), 0o666)
        os.chown(self.file("shared/mine"), 0, 0)
        os.chmod(self.file("shared/mine"), 0o664)
        self.assertEqual(self.nobody("shared/mine").returncode, 2)
        self.assertEqual(sorted(os.listdir(folder)), ["mine", "theirs"])

    def test_the_owner_stays(self):
        mine = self.file("mine", "old")
        os.chown(mine, NOBODY, NOBODY)
        self.assertEqual(run(KAITEN, "disasm", "demo", *NANO, "--output", mine).returncode, 0)
        self.assertEqual((os.stat(mine).st_uid, os.stat(mine).st_gid), (NOBODY, NOBODY))


class Waves(ToolCase):
    def setUp(self):
        super().setUp()
        if "simulator" in run(KAITEN, "run", "demo", *NANO, "--wave", self.file("w"), "--wave-to", "1").stderr:
            self.skipTest("no simulator with waves here")
        os.remove(self.file("w"))

    def test_an_empty_window(self):
        line = self.refused("run", "demo", *NANO, "--wave", self.file("w.fst"), "--wave-from", "99999999")
        self.assertIn("99999999", line)
        self.assertEqual(os.listdir(self.folder), [])

    def test_full_disk(self):
        for file_bytes in (100, 60000):
            done = limited(("run", "demo", *NANO, "--wave", self.file("w.fst"), "--wave-to", "2000"), file_bytes)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
            self.assertEqual(os.listdir(self.folder), [])

    def test_folder(self):
        self.assertIn("folder", self.refused("run", "demo", *NANO, "--wave", self.folder))

    def test_signals_end_it_soon_and_leave_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with subprocess.Popen([KAITEN, "run", "demo", *NANO, "--latency", "100000", "--wave", self.file("w.fst")],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
                while not os.listdir(self.folder):
                    time.sleep(0.01)
                time.sleep(0.2)
                self.end_by_signal(program, number, 2)
            self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
