"""The mutation run's reading of jobs: which task a block stands for, and which sources a mutant may touch."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts"))
import formal
import mutate

JOB = """#plant bug a.sv: x + 1 ==> x + 2
#long deep
[tasks]
cover
bug broken
deep
prove
[files]
fv_a.sv
../rtl/a.sv
"""


class Tasks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        root = self.folder.name
        saved = formal.FORMAL, formal.OUT
        self.addCleanup(lambda: (setattr(formal, "FORMAL", saved[0]), setattr(formal, "OUT", saved[1])))
        formal.FORMAL, formal.OUT = os.path.join(root, "formal"), os.path.join(root, "out")
        for name, text in {"formal/block.sby": JOB, "formal/fv_a.sv": "", "rtl/a.sv": "assign y = x + 1;\n"}.items():
            os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
            with open(os.path.join(root, name), "w") as f:
                f.write(text)

    def test_a_block_stands_for_its_first_proof(self):
        self.assertEqual(mutate.chosen_task("block").task, "prove")

    def test_a_task_may_be_named_long_or_not(self):
        self.assertEqual(mutate.chosen_task("block:deep").task, "deep")

    def test_a_task_that_must_fail_judges_nothing(self):
        with self.assertRaises(mutate.MutationError):
            mutate.chosen_task("block:bug")

    def test_the_harness_is_not_touched(self):
        self.assertEqual(mutate.sources_of_block(mutate.chosen_task("block")), ["a.sv"])


if __name__ == "__main__":
    unittest.main()
