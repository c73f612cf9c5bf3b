# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""When scripts/route.py gives a seed up, on passes of the router as nextpnr logged them."""
import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import route

# Of `micro`, wires in conflict after each pass.
GROWS = [90299, 58485, 38314, 24857, 17484, 12722, 9853, 7612, 6205, 4985, 3943, 3192, 2500, 2166, 1873, 1558, 1397, 1207, 1128, 1097, 1157,
         1087, 1054, 1039, 1043, 1099, 1193, 1175, 1237, 1342, 1450, 1616, 1890, 2119, 2427]
# Falls, but not in every pass.
FALLS = [58128, 44122, 35559, 29914, 25818, 22895, 20257, 18568, 16890, 15680, 14551, 14011, 13414, 12082, 11345, 10718, 10076, 9747, 9742, 9211]


class Hopeless(unittest.TestCase):
    def test_reads_conflicts(self):
        log = "Info:     iter=32 wires=1288122 overused=1616 overuse=1624 archfail=NA\nInfo:     iter=33 wires=9 overused=0 overuse=0 archfail=0\n"
        self.assertEqual(route.conflicts(log), [1616, 0])

    def test_gives_up_where_conflicts_grow(self):
        self.assertFalse(route.hopeless(GROWS[:24]))
        self.assertTrue(route.hopeless([*GROWS, 2800]))

    def test_waits_where_they_fall(self):
        for passes in range(len(FALLS) + 1):
            self.assertFalse(route.hopeless(FALLS[:passes]))

    def test_waits_at_the_end(self):
        self.assertFalse(route.hopeless([21, 9, 9, 4, 6, 5, 4, 4, 5, 4, 3, 4, 2, 2, 3, 1, 0]))


if __name__ == "__main__":
    unittest.main()
