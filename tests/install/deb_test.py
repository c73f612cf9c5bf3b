# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""The Debian package of the build: what is in it, what lintian says, that it installs, runs the demo network and leaves nothing.

KAITEN_BUILD names the build folder (default: build), CPACK the program. Ends with 77 without dpkg-dev or file."""
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import tools
BUILD = os.environ.get("KAITEN_BUILD") or os.path.join(ROOT, "build")
CPACK = os.environ.get("CPACK") or "cpack"
SKIPPED = 77
# Beside bin/kaiten and a man page a command.
FILES = ["share/bash-completion/completions/kaiten", "share/doc/kaiten/NEWS.gz", "share/doc/kaiten/changelog.gz", "share/doc/kaiten/copyright",
         "share/fish/vendor_completions.d/kaiten.fish", "share/man/man1/kaiten.1.gz", "share/zsh/site-functions/_kaiten"]


def run(*command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env={**os.environ, **environment})
    if done.returncode:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def files_below(folder):
    return {os.path.relpath(os.path.join(path, name), folder) for path, _, names in os.walk(folder) for name in names}


class Deb(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        run(CPACK, "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-B", folder.name)
        found = [name for name in os.listdir(folder.name) if name.endswith(".deb")]
        assert len(found) == 1, found
        cls.name, cls.deb = found[0], os.path.join(folder.name, found[0])

    def root(self):
        """An empty root with an administration of packages, and dpkg for it."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name in ("info", "updates", "triggers"):
            os.makedirs(os.path.join(folder.name, "var/lib/dpkg", name))
        with open(os.path.join(folder.name, "var/lib/dpkg/status"), "w"):
            pass
        dpkg = ["dpkg", f"--root={folder.name}", "--force-not-root", "--force-depends", "--log=/dev/null"]
        return folder.name, dpkg

    def test_name_and_fields(self):
        with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as f:
            version = re.search(r"^project\(kaiten VERSION (\S+)", f.read(), re.M)[1]
        architecture = run("dpkg", "--print-architecture").strip()
        self.assertEqual(self.name, f"kaiten_{version}_{architecture}.deb")
        fields = {name: run("dpkg-deb", "-f", self.deb, name).strip() for name in ("Package", "Version", "Architecture", "Depends")}
        self.assertEqual((fields["Package"], fields["Version"], fields["Architecture"]), ("kaiten", version, architecture))
        for library in ("libc6", "libstdc++6", "libpng16-16"):
            self.assertIn(library, fields["Depends"])
        self.assertNotIn("mpi", fields["Depends"])

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            run("dpkg-deb", "-x", self.deb, folder)
            kaiten = os.path.join(folder, "usr/bin/kaiten")
            told = run(kaiten, "--help=json")
            pages = [f"share/man/man1/kaiten-{name}.1.gz" for name in re.findall(r'"name": ?"([^"]+)"', told)]
            self.assertGreater(len(pages), 10)
            self.assertEqual(files_below(os.path.join(folder, "usr")), {"bin/kaiten", *FILES, *pages})
            for name in FILES + pages:
                if name.endswith(".gz"):
                    with gzip.open(os.path.join(folder, "usr", name)) as f:
                        self.assertGreater(len(f.read()), 100, name)

    def test_lintian(self):
        lintian = shutil.which("lintian")
        if not lintian:
            tools.must_have("lintian (run `scripts/setup.sh --long`)")
            self.skipTest("lintian is not installed")
        said = subprocess.run([lintian, "--allow-root", "--fail-on", "none", "--display-level", ">=warning", self.deb],
                              capture_output=True, text=True)
        self.assertEqual(said.returncode, 0, said.stderr)
        found = [line for line in said.stdout.splitlines() if line[:2] in ("E:", "W:")]
        self.assertEqual(found, [])

    def test_install_run_remove(self):
        root, dpkg = self.root()
        before = files_below(root)
        run(*dpkg, "-i", self.deb)
        kaiten = os.path.join(root, "usr/bin/kaiten")
        with tempfile.TemporaryDirectory() as home:
            said = run(kaiten, "run", "demo", "--config", "nano", HOME=home, KAITEN_VENV="", KAITEN_SHARED="")
            self.assertEqual(os.listdir(home), [])
        self.assertRegex(said, r"\nPASS demo on nano: all [\d,]+ elements")
        run(*dpkg, "--purge", "kaiten")
        left = {name for name in files_below(root) if not name.startswith("var/lib/dpkg/")}
        self.assertEqual(left, {name for name in before if not name.startswith("var/lib/dpkg/")})
        self.assertFalse(os.path.exists(os.path.join(root, "usr")))


if __name__ == "__main__":
    for program in ("dpkg-deb", "dpkg-shlibdeps", "file"):
        if not shutil.which(program):
            tools.must_have(f"{program} (packages dpkg-dev, file)")
            print(f"skipped: {program} is not installed")
            sys.exit(SKIPPED)
    unittest.main()
