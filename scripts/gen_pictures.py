#!/usr/bin/env python3
# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of the documents, docs/pictures/*.svg: block diagrams laid out here, timing diagrams from the waves in
docs/data/waves, timelines of training steps from docs/data/swap, a routed chip from docs/data/placement. tests/scripts/pictures_test.py checks their names against the RTL.

usage: gen_pictures.py [--check]
  --check  write nothing; exit code 1 if a committed picture differs"""
import argparse
import glob
import json
import math
import os
import sys

import tools
from drawing import Drawing, waves


def top():
    d = Drawing(960, 640, "Kaiten, the accelerator",
                "Registers and control above, the memory masters with LOAD and STORE in the middle, the streaming buffers SB and VB "
                "below them, and under each the engine that reads it: CONV with the array, VECTOR with its lanes.")
    d.frame(20, 56, 920, 570, "kaiten_top")
    d.text(140, 426, "one clock, gated for each engine", "dim", size=12)
    d.text(140, 590, "results go to SB, VB and STORE", "dim", size=12)
    d.text(140, 607, "by the command's write mask", "dim", size=12)
    d.text(140, 22, "AXI4-Lite", "strong")
    d.text(480, 22, "AXI4, 128 to 512 bits", "strong")
    registers = d.box(50, 92, 180, 74, "registers, counters", ["kt_registers"], ["interrupt"])
    control = d.box(50, 206, 180, 110, "control", ["kt_control"], ["fetch, 4 queues,", "waits, watchdog"])
    clocks = d.box(50, 350, 180, 56, "clocks of the engines", ["kt_engine_clk"], kind="other")
    d.frame(284, 82, 632, 176, "")
    d.text(780, 246, "kt_axi_port", "name", "end", 12)
    gate = d.box(300, 92, 600, 34, "", ["kt_axi_gate"], kind="port")
    arbiter = d.box(300, 150, 290, 34, "", ["kt_axi_rd_arb"], kind="port")
    fetch = d.box(300, 208, 130, 40, "", ["kt_axi_rd"], ["commands, ID 0"], kind="port")
    read = d.box(450, 208, 140, 40, "", ["kt_axi_rd"], ["data, ID 1"], kind="port")
    write = d.box(700, 150, 200, 40, "", ["kt_axi_wr"], kind="port")
    load = d.box(450, 276, 140, 64, "LOAD", ["kt_load"], ["ZVC expander"])
    store = d.box(700, 276, 200, 64, "STORE", ["kt_store"], ["ZVC compressor"])
    sb = d.box(280, 384, 280, 48, "SB: nine banks", ["kt_stream_buf"], kind="memory")
    vb = d.box(620, 384, 280, 48, "VB: nine banks", ["kt_stream_buf"], kind="memory")
    conv = d.box(280, 476, 190, 74, "CONV", ["kt_conv"], ["WB, line buffer, DPE", "array, OB, ZSB"])
    vector = d.box(620, 476, 190, 74, "VECTOR", ["kt_vector"], ["VWB, line buffer,", "lanes, ZSB, table"])
    results = d.box(280, 578, 190, 34, "", ["kt_result_writer"])
    vresults = d.box(620, 578, 190, 34, "", ["kt_result_writer"])

    d.arrow([(140, 30), registers.top()], both=True)
    d.arrow([(600, 30), gate.top()], both=True)
    d.arrow([registers.bottom(), control.top()], "start, status", (150, 190), both=True, anchor="start")
    d.arrow([control.bottom(), clocks.top()])
    d.arrow([(445, 126), (445, 150)], both=True)
    d.arrow([write.top(), (write.top()[0], 126)], both=False)
    d.arrow([(365, 184), fetch.top()])
    d.arrow([(520, 184), read.top()])
    d.arrow([fetch.left(), control.right(0.2)], "")
    d.arrow([read.bottom(), load.top()])
    d.arrow([store.top(), write.bottom()])
    d.arrow([control.right(0.8), (250, 294), (250, 350), (420, 350), (420, 308), load.left()], "commands to the four engines", (258, 330),
            thin=True, anchor="start")
    d.arrow([load.bottom(0.25), (485, 384)], "rows")
    d.arrow([load.bottom(0.75), (555, 362), (680, 362), (680, 384)], "rows", (640, 356))
    d.arrow([load.right(0.6), (605, 314), (605, 513), conv.right(0.5)], "")
    d.arrow([(605, 513), vector.left(0.5)], "")
    d.label(545, 505, "weights, parameters")
    d.arrow([sb.bottom(0.34), conv.top(0.5)], "windows", (368, 470), anchor="end")
    d.arrow([vb.bottom(0.34), vector.top(0.5)], "windows", (708, 470), anchor="end")
    d.arrow([conv.bottom(), results.top()])
    d.arrow([vector.bottom(), vresults.top()])
    d.line([results.right(), (520, 595), (520, 454)], "line", 1.5)
    d.line([vresults.right(), (860, 595), (860, 454)], "line", 1.5)
    d.arrow([(520, 454), (920, 454), (920, 308), store.right()])
    d.arrow([(520, 454), (520, 432)])
    d.arrow([(860, 454), (860, 432)])
    d.label(530, 587, "results", "start")
    d.label(868, 520, "results", "start")
    return d


def conv():
    d = Drawing(960, 470, "The CONV pipeline",
                "The slot sequencer decides; reader, line buffer, DPE array, requantiser and alignment follow with fixed latency. The "
                "weight loader fills the array's shadow registers from WB, parameters and tables come from ZSB, partial sums live in OB.")
    d.frame(20, 20, 920, 360, "kt_conv")
    seq = d.box(40, 60, 150, 66, "slot sequencer", ["kt_conv_seq"], ["all stalls are here"])
    reader = d.box(40, 170, 150, 54, "reads", ["kt_row_reader"])
    sb = d.box(40, 400, 150, 48, "SB", ["kt_stream_buf"], kind="memory")
    lb = d.box(240, 270, 140, 70, "line buffer", ["kt_line_buf"], ["columns of a window,", "padding"])
    sums = d.box(240, 170, 140, 54, "sum row", ["kt_sum_row"], ["zero point of weights"])
    array = d.box(440, 170, 190, 170, "DPE array", ["kt_dpe_array", "kt_dpe_row", "kt_dpe_row_pipelined", "kt_dpe_pair"], ["KP rows of 9 x CP products,", "StageRows of them a stage;", "stage s works s cycles", "after stage 0"])
    loader = d.box(240, 60, 140, 54, "weight loader", ["kt_weight_loader"])
    wb = d.box(440, 60, 90, 48, "WB", ["u_wb"], kind="memory")
    ob = d.box(550, 60, 90, 48, "OB", ["u_ob"], kind="memory")
    params = d.box(690, 60, 220, 48, "parameters, ZSB", ["kt_params"], kind="memory")
    requant = d.box(675, 170, 115, 60, "requantiser", [], ["KP lanes"])
    d.text(732, 246, "kt_requant", "name", size=12)
    align = d.box(825, 170, 95, 60, "alignment", [], ["joins lanes"])
    d.text(872, 246, "kt_align", "name", size=12)
    writer = d.box(690, 400, 220, 48, "results", ["kt_result_writer"], kind="block")
    d.arrow([seq.bottom(), reader.top()], "one read a slot", (122, 152), anchor="start")
    d.arrow([reader.bottom(), sb.top()], "bank requests", (122, 320), anchor="start")
    d.arrow([sb.right(), (310, 424), lb.bottom()], "words", (200, 417), anchor="start")
    d.arrow([lb.right(0.3), (440, 291)], "")
    d.arrow([lb.top(), sums.bottom()])
    d.arrow([sums.right(), (440, 197)])
    d.arrow([seq.right(0.3), loader.left(0.37)], "tiles", (215, 74))
    d.arrow([loader.right(), wb.left(0.56)], "words", (410, 80))
    d.arrow([wb.bottom(), (485, 170)], "shadow weights", (478, 142), anchor="end")
    d.arrow([ob.bottom(), (595, 170)], "partial sums", (602, 142), both=True, anchor="start")
    d.arrow([(630, 200), requant.left()], "last pass", (652, 162))
    d.arrow([(732, 108), requant.top()], "bias, multiplier, shift", (742, 142), anchor="start")
    d.arrow([requant.right(), align.left()])
    table = d.box(735, 280, 180, 78, "activation tables", ["kt_lane_table", "kt_conv_table_loader"], ["all lanes, or none"])
    d.arrow([(872, 252), (872, 280)])
    d.arrow([params.right(), (930, 84), (930, 319), table.right()], "")
    d.arrow([(872, 358), (872, 400)], "pixels", (865, 394), anchor="end")
    d.arrow([writer.left(), (400, 424), (400, 362), (222, 362), (222, 112), (190, 112)], "credits", (540, 417), thin=True)
    return d


def vector():
    d = Drawing(960, 470, "The VECTOR pipeline",
                "A sequencer and a reader of VB, the line buffer, three columns of taps with their weights from VWB, or the operand "
                "scaler of Add; accumulator and requantiser with parameters from ZSB; the activation table.")
    d.frame(20, 20, 920, 360, "kt_vector")
    decode = d.box(40, 46, 150, 64, "next command", ["kt_vector_decode", "kt_vector_setup"], kind="other")
    seq = d.box(40, 140, 150, 60, "slot sequencer", ["kt_vector_seq"], ["all stalls are here"])
    reader = d.box(40, 240, 150, 48, "reads", ["kt_vector_reader"])
    vb = d.box(40, 400, 150, 48, "VB", ["kt_stream_buf"], kind="memory")
    lb = d.box(240, 240, 150, 62, "line buffer", ["kt_vector_line_buf"], ["four columns"])
    column = d.box(440, 240, 180, 80, "columns of taps", ["kt_vector_column"], ["three, each 3 taps of", "3 x CP lanes"])
    operand = d.box(440, 340, 180, 34, "", ["kt_vector_operand"])
    loader = d.box(240, 56, 150, 60, "shadow registers", ["kt_vector_loader", "kt_vector_weights"], ["parameters, weights"])
    vwb = d.box(440, 56, 80, 48, "VWB", ["u_vwb"], kind="memory")
    zsb = d.box(545, 56, 80, 48, "ZSB", ["u_zsb"], kind="memory")
    outside = d.box(500, 150, 135, 48, "averages", ["kt_vector_outside"], kind="other")
    result = d.box(680, 150, 230, 80, "sums and requantiser", ["kt_vector_result", "kt_requant"], ["3 x CP lanes"])
    table = d.box(680, 290, 230, 54, "activation table", ["kt_lane_table", "kt_vector_table"], ["all lanes, or a group a cycle"])
    writer = d.box(680, 400, 230, 48, "results", ["kt_result_writer"])
    d.arrow([decode.bottom(), seq.top()])
    d.arrow([seq.bottom(), reader.top()], "a column a slot", (122, 226), anchor="start")
    d.arrow([reader.bottom(), vb.top()], "nine bank requests", (122, 350), anchor="start")
    d.arrow([vb.right(), (315, 424), lb.bottom()], "words", (200, 417), anchor="start")
    d.arrow([lb.right(), (440, 271)])
    d.arrow([(315, 357), operand.left()], "operands of Add", (376, 350))
    d.arrow([seq.right(0.3), (215, 158), (215, 86), loader.left()], "")
    d.arrow([loader.right(), vwb.left(0.62)], "rows", (412, 80))
    d.arrow([vwb.bottom(), (480, 240)], "weights", (474, 172), anchor="end")
    d.arrow([(585, 150), zsb.bottom()], "word", (592, 130), anchor="start")
    d.arrow([zsb.right(), (795, 80), result.top()], "bias, multiplier, shift", (712, 73))
    d.arrow([column.right(0.35), (650, 268), (650, 190), result.left()], "sums", (656, 250), anchor="start")
    d.arrow([operand.right(), (665, 357), (665, 210), (680, 210)])
    d.arrow([result.bottom(), table.top()], "look_up", (802, 262), anchor="start")
    d.arrow([table.bottom(), writer.top()], "pixels of three groups", (802, 378), anchor="start")
    d.arrow([writer.left(), (645, 424), (645, 388), (28, 388), (28, 170), seq.left()], "credits", (560, 392), thin=True)
    return d


def load_store():
    d = Drawing(960, 520, "LOAD and STORE with the codec",
                "LOAD asks the read master for segments, expands compressed ones, turns bus beats into words and writes them to the "
                "memories. STORE packs result pixels into beats, stages and compresses segments, and writes them.")
    d.frame(20, 20, 920, 230, "kt_load")
    rd = d.box(40, 60, 130, 54, "read master", ["kt_axi_rd"], kind="port")
    request = d.box(40, 170, 130, 54, "requests", ["kt_load_request"])
    codec = d.frame(200, 44, 210, 192, "kt_load_zvc")
    surface = d.box(220, 170, 170, 54, "size surface", ["kt_load_surface"])
    expand = d.box(220, 72, 170, 54, "expander", ["kt_zvc_expand"])
    gear = d.box(440, 72, 110, 54, "gearbox", ["kt_gearbox"])
    words = d.box(602, 64, 118, 70, "words", ["kt_load_words", "kt_load_output"])
    places = d.box(602, 164, 118, 64, "places", ["kt_load_rows", "kt_load_weights"])
    memories = d.box(790, 60, 130, 170, "memories", [], ["SB, VB: rows", "WB, VWB: weights", "ZSBs: parameters"], kind="memory")
    d.arrow([request.right(), surface.left()], "segments", (196, 216))
    d.arrow([surface.left(0.15), (185, 178), (185, 104), (170, 104)], "packed lengths", (178, 146), anchor="start")
    d.arrow([rd.right(0.4), (220, 82)], "beats", (194, 76))
    d.arrow([expand.right(), gear.left()], "beats", (424, 92))
    d.arrow([gear.right(), words.left()], "slices", (575, 92))
    d.arrow([words.right(), (790, 99)])
    d.arrow([places.right(), (790, 196)], "addresses", (754, 189))
    d.frame(20, 270, 920, 230, "kt_store")
    results = d.box(40, 330, 150, 60, "result pixels", ["kt_result_writer"], ["of CONV or VECTOR"])
    pack = d.box(230, 330, 130, 60, "packing", ["kt_store_pack"], ["a request a row"])
    d.frame(390, 294, 380, 192, "kt_store_zvc")
    stage = d.box(410, 330, 150, 60, "staging", ["u_stage"], ["two longest segments"], kind="memory")
    count = d.box(410, 420, 150, 48, "length", ["kt_zvc_count"])
    compress = d.box(600, 330, 150, 60, "compressor", ["kt_zvc_compress"])
    sizes = d.box(600, 420, 150, 48, "size surface", [], ["a byte a segment"], kind="memory")
    wr = d.box(800, 350, 120, 80, "write master", ["kt_axi_wr"], kind="port")
    d.arrow([results.right(), pack.left()])
    d.arrow([pack.right(), stage.left()])
    d.arrow([(385, 360), (385, 444), count.left()])
    d.arrow([stage.right(), compress.left()], "or past it", (580, 324))
    d.arrow([count.right(), sizes.left()])
    d.arrow([compress.right(), (800, 360)])
    d.arrow([sizes.right(), (780, 444), (780, 410), (800, 410)])
    return d


def proofs():
    d = Drawing(960, 560, "What is proven, arrow by arrow",
                "The way of data through the accelerator: LOAD from memory into the buffers, CONV and VECTOR from the buffers to results, STORE "
                "back to memory, and the control of their queues. Solid arrows, numbered as in the page's table, have a proof; dashed ones are tested.")
    d.frame(20, 20, 920, 96, "LOAD")
    bus = d.box(40, 48, 120, 50, "read master", ["kt_axi_rd"], kind="port")
    codec = d.box(220, 48, 120, 50, "codec", ["kt_load_zvc"])
    gear = d.box(400, 48, 120, 50, "gearbox", ["kt_gearbox"])
    words = d.box(580, 48, 130, 50, "words", ["kt_load_words"])
    places = d.box(770, 40, 150, 66, "places", ["kt_load_rows", "kt_load_weights"])
    d.frame(20, 176, 920, 96, "CONV")
    sb = d.box(40, 204, 110, 50, "SB", ["kt_stream_buf"], kind="memory")
    window = d.box(210, 204, 140, 50, "windows", ["kt_line_buf"])
    array = d.box(410, 204, 140, 50, "array, OB", ["kt_dpe_array"])
    requant = d.box(600, 196, 140, 66, "requantiser", ["kt_requant", "kt_lane_table"])
    writer = d.box(790, 204, 130, 50, "results", ["kt_result_writer"])
    d.frame(20, 300, 920, 104, "VECTOR")
    vb = d.box(40, 328, 110, 50, "VB", ["kt_stream_buf"], kind="memory")
    cells = d.box(200, 328, 150, 50, "windows", ["kt_vector_line_buf"])
    lanes = d.box(400, 316, 150, 74, "lanes", ["kt_vector_operand", "kt_vector_column"])
    vrequant = d.box(600, 320, 140, 66, "requantiser", ["kt_requant", "kt_lane_table"])
    vwriter = d.box(790, 328, 130, 50, "results", ["kt_result_writer"])
    d.frame(20, 432, 560, 108, "STORE")
    pack = d.box(40, 466, 140, 50, "beats", ["kt_store"])
    zvc = d.box(240, 466, 130, 50, "codec", ["kt_store_zvc"])
    out = d.box(430, 466, 130, 50, "write master", ["kt_axi_wr"], kind="port")
    d.frame(640, 432, 300, 108, "control")
    fetch = d.box(660, 466, 120, 50, "commands", ["kt_cmd_fetch"])
    board = d.box(810, 466, 120, 50, "queues", ["kt_scoreboard"])
    for a, b, number in ((bus, codec, 2), (codec, gear, 3), (gear, words, 4), (words, places, 5), (sb, window, 8), (window, array, 9),
                         (array, requant, 11), (requant, writer, 13), (vb, cells, 15), (vrequant, vwriter, 18), (pack, zvc, 20), (zvc, out, 20),
                         (fetch, board, 23)):
        d.arrow([a.right(), b.left()], str(number))
    d.arrow([cells.right(0.3), lanes.left(0.365)], "16", (375, 337))
    d.arrow([cells.right(0.75), lanes.left(0.67)], thin=True)
    d.arrow([lanes.right(0.365), vrequant.left(0.35)], "17", (575, 337))
    d.arrow([lanes.right(0.67), vrequant.left(0.7)], thin=True)
    d.arrow([(100, 6), bus.top()], "1", (112, 36))
    d.arrow([places.bottom(0.8), (890, 140), (85, 140), (85, 204)], "rows: 6, 7", (240, 134))
    d.arrow([(640, 140), (640, 190), (480, 190), array.top()], "weights: 6, 10", (560, 184))
    d.arrow([(700, 140), (700, 204)], "parameters: 12", (710, 166), thin=True, anchor="start")
    d.line([(85, 140), (10, 140)], "line", 1.5)
    d.arrow([(10, 140), (10, 353), vb.left()])
    d.arrow([writer.bottom(0.3), (829, 288), (110, 288), (110, 254)], "14, 7", (480, 284))
    d.arrow([vwriter.bottom(0.3), (829, 418), (110, 418), pack.top()], "14, 19", (480, 414))
    d.arrow([out.right(), (620, 491)], "21", (600, 484))
    d.arrow([(720, 440), fetch.top()], "22", (732, 456))
    return d


def program():
    d = Drawing(960, 330, "From model file to commands",
                "Importers make a graph; lowering, spans, packing and emission make a program of commands and packed weights; the driver "
                "runs it on the device and compares every tensor with the reference executor's.")
    model = d.box(20, 50, 120, 60, "model file", [], [".tflite, .onnx"], kind="other")
    imports = d.box(180, 50, 120, 60, "import", [], ["sw/import"])
    graph = d.box(340, 50, 120, 60, "graph", [], ["sw/graph"], kind="memory")
    d.frame(500, 20, 440, 170, "compiler, sw/compile")
    lower = d.box(515, 50, 115, 60, "lowering", [], ["lower/"])
    spans = d.box(655, 50, 120, 60, "spans, places", [], ["spans/"])
    emit = d.box(800, 50, 135, 60, "commands", [], ["waits, emit/"])
    pack = d.box(650, 130, 130, 48, "packed weights", [], ["pack/"])
    prog = d.box(807, 230, 120, 64, "program", [], ["sw/program"], kind="memory")
    driver = d.box(620, 230, 120, 64, "driver", [], ["sw/device"])
    device = d.box(430, 230, 130, 64, "device", [], ["sw/sim, the RTL"], kind="port")
    watch = d.box(230, 230, 160, 64, "every tensor", [], ["compared, sw/observe"], kind="other")
    reference = d.box(60, 230, 130, 64, "reference", [], ["sw/reference"])
    for a, b in ((model, imports), (imports, graph), (graph, lower), (lower, spans), (spans, emit)):
        d.arrow([a.right(), b.left()])
    d.arrow([lower.bottom(), (572, 154), pack.left()])
    d.arrow([pack.right(), (830, 154), (830, 110)])
    d.arrow([emit.bottom(), prog.top()])
    d.arrow([prog.left(), driver.right()])
    d.arrow([driver.left(), device.right()], both=True)
    d.arrow([device.left(), watch.right()])
    d.arrow([reference.right(), watch.left()])
    d.arrow([graph.bottom(), (400, 170), (125, 170), reference.top()])
    return d


def cluster():
    d = Drawing(960, 400, "Chips behind switches behind a host",
                "Two switches with two chips each and the host above them; an image travels from the host through the stages of the pipeline and back, "
                "credits travel the other way.")
    host = d.box(380, 20, 200, 64, "host", [], ["images in, outputs back", "sw/cluster"], kind="other")
    left = d.box(180, 140, 160, 44, "switch", [], [], kind="port")
    right = d.box(620, 140, 160, 44, "switch", [], [], kind="port")
    d.arrow([left.top(), (260, 52), host.left()], "uplink", (300, 44), both=True)
    d.arrow([right.top(), (700, 52), host.right()], "uplink", (660, 44), both=True)
    chips = []
    for x, stage, switch, at in ((40, "stage 0, replica 0", left, 0.25), (270, "stage 0, replica 1", left, 0.75),
                                 (500, "stage 1", right, 0.25), (730, "stage 2", right, 0.75)):
        d.frame(x, 232, 190, 132, "chip", "")
        chips.append(d.box(x + 15, 260, 160, 44, stage, ["kaiten_top"], kind="memory"))
        d.box(x + 15, 318, 160, 36, "", [], ["memory, buffers"], kind="other")
        d.arrow([switch.bottom(at), (switch.bottom(at)[0], 208), (x + 95, 208), (x + 95, 232)], both=True)
    d.label(480, 200, "links: latency, bytes a cycle each way", "middle")
    return d


RING_ROWS, RING_COLUMNS, RING_GROUPS = 4, 5, 2  # of the picture: rows of 5 pixels, each of G = P = 2 words


def row_ring():
    words = RING_COLUMNS * RING_GROUPS
    slot = -(-words // 9)
    cell, left, top_ = 74, 130, 74
    d = Drawing(840, top_ + RING_ROWS * slot * 34 + 64, "A ring of rows in nine banks",
                "Word i of row r lies in bank (i + 3 r) mod 9 at address slot + i div 9; the banks of three neighbouring rows differ by three.")
    d.text(20, 30, f"Rows of {RING_COLUMNS} pixels, P = {RING_GROUPS} words each: word i = c * P + g of row r lies in bank (i + 3r) mod 9, "
           "address slot + i div 9", "strong", "start")
    for bank in range(9):
        d.text(left + (bank + 0.5) * cell, 62, f"bank {bank}", "dim", size=12)
    read = {(r, c * RING_GROUPS) for r in range(3) for c in (1,)}
    for r in range(RING_ROWS):
        y = top_ + r * slot * 34
        d.text(20, y + 22, f"row {r}, slot {r}", "", "start")
        for address in range(slot):
            d.text(left - 12, y + address * 34 + 21, f"{r * slot + address}", "dim", "end", 12)
            for bank in range(9):
                i = 9 * address + (bank - 3 * r) % 9
                kind = "other" if i >= words else ("port" if (r, i) in read else "memory")
                d.box(left + bank * cell, y + address * 34, cell - 4, 30, "", [],
                      [f"c{i // RING_GROUPS} g{i % RING_GROUPS}" if i < words else ""], kind=kind)
    y = top_ + RING_ROWS * slot * 34 + 24
    d.text(20, y, "c: column, g: channel group. One read of the array in mode 3x3 (green): column 1, group 0 of rows 0 to 2, in three "
           "different banks.", "dim", "start", 12)
    d.text(20, y + 20, f"A slot takes ceil({words} / 9) = {slot} addresses; the numbers at the left are addresses in each bank. Row "
           f"{RING_ROWS} of the map replaces row 0.", "dim", "start", 12)
    return d


def timelines(record):
    """Steps of `kaiten swap`, one below the other on one axis of time; bench/swap.py records them."""
    left, width, lane, top = 110, 960, 13, 56
    runs = record["runs"]
    heights = [len(run["devices"]) * (3 * lane + 10) + 40 for run in runs]
    d = Drawing(width, top + sum(heights) + 26, record["title"], record["about"])
    scale = (width - left - 20) / max(run["milliseconds"] for run in runs)
    kinds = ("block", "memory", "port")
    for i, words in enumerate(("computation", "to the host", "from the host")):
        d.shape([(left + 150 * i, 14), (left + 150 * i + 14, 14), (left + 150 * i + 14, 28), (left + 150 * i, 28)], kinds[i])
        d.text(left + 150 * i + 20, 26, words, anchor="start")
    y = top
    for run, height in zip(runs, heights):
        d.text(left, y - 6, run["name"], "strong", "start")
        for i, device in enumerate(run["devices"]):
            d.text(left - 8, y + i * (3 * lane + 10) + 1.5 * lane + 4, device, anchor="end", size=12)
        for row, device, start, end in run["slices"]:
            x, right = left + start * scale, left + max(end, start + 0.8) * scale
            above = y + device * (3 * lane + 10) + row * lane
            d.shape([(x, above), (right, above), (right, above + lane - 2), (x, above + lane - 2)], kinds[row])
        end = left + run["milliseconds"] * scale
        d.line([(end, y - 4), (end, y + height - 48)], "line")
        d.text(end, y - 8, f"{run['milliseconds']:,.0f} ms", anchor="end", size=12)
        y += height
    return d


def roofline(record):
    """SubNets under the roof of a machine, without and with PB; bench/serve.py records them."""
    left, right, top, bottom = 90, 930, 60, 360
    d = Drawing(960, 420, record["title"], record["about"])
    peak, slope = record["gops"], record["gb_per_second"]
    low, high = (pick(i for s in record["subnets"] for i in s[1:]) for pick in (min, max))
    x_ends = [math.log(min(low, peak / slope) / 3), math.log(max(high, peak / slope) * 1.3)]
    y_ends = [math.log(slope * math.exp(x_ends[0]) / 1.2), math.log(peak * 1.3)]

    def at(intensity, gops):
        x = left + (right - left) * (math.log(intensity) - x_ends[0]) / (x_ends[1] - x_ends[0])
        return x, bottom - (bottom - top) * (math.log(gops) - y_ends[0]) / (y_ends[1] - y_ends[0])
    d.line([(left, top), (left, bottom), (right, bottom)])
    for digit, power in ((d_, p) for p in range(0, 5) for d_ in (1, 2, 5)):
        value = digit * 10 ** power
        if x_ends[0] <= math.log(value) <= x_ends[1]:
            d.text(at(value, peak)[0], bottom + 18, f"{value:,}", "dim", size=12)
        if y_ends[0] <= math.log(value) <= y_ends[1]:
            d.text(left - 8, at(peak / slope, value)[1] + 4, f"{value:,}", "dim", "end", 12)
    d.text((left + right) / 2, bottom + 40, "operations a byte")
    d.text(left, top - 14, "GOP/s", anchor="start")
    start, end = math.exp(x_ends[0]), math.exp(x_ends[1])
    d.line([at(start, start * slope), at(peak / slope, peak), at(end, peak)], "line", 1.5)
    for i, (words, kind) in enumerate((("without PB", "block"), ("with PB", "memory"))):
        d.shape([(left + 300 + 150 * i, 20), (left + 314 + 150 * i, 20), (left + 314 + 150 * i, 34), (left + 300 + 150 * i, 34)], kind)
        d.text(left + 320 + 150 * i, 32, words, anchor="start")
    for number, (name, *sides) in enumerate(record["subnets"]):
        points = [at(i, min(peak, i * slope)) for i in sides]
        d.line(points)
        for (x, y), kind in zip(points, ("block", "memory")):
            d.shape([(x - 5, y), (x, y - 5), (x + 5, y), (x, y + 5)], kind)
        x, y = points[1]
        d.text(x, y + 20 + 14 * (number % 3), name, size=11)
    return d


def soc():
    d = Drawing(960, 420, "The simulated system on chip",
                "Processor, memory, serial line and timer on the bus of LiteX; Kaiten's registers are on it too, and its memory port reaches "
                "it through a window and a bridge, or the SDRAM's crossbar directly.")
    d.frame(20, 20, 920, 330, "LiteX, soc/system.py")
    cpu = d.box(50, 60, 170, 64, "VexRiscv", [], ["soc/firmware,", "the C driver"], kind="other")
    uart = d.box(250, 60, 130, 64, "serial line", [], ["PASS or FAIL"], kind="other")
    timer = d.box(410, 60, 110, 64, "timer", [], [], kind="other")
    d.frame(570, 44, 350, 150, "fpga/litex", "")
    kaiten = d.box(590, 74, 150, 100, "Kaiten, nano", ["kaiten_top"], ["AXI4-Lite: registers", "AXI4: memory"])
    window = d.box(780, 74, 120, 44, "window", [], ["addresses"], kind="port")
    bridge = d.box(780, 138, 120, 44, "bridge", [], ["AXI to Wishbone"], kind="port")
    bus = d.box(50, 222, 850, 34, "Wishbone, 32 or 128 bits", kind="port")
    block = d.box(50, 286, 300, 50, "memory block, 1 MiB", [], ["systems bridge and wide"], kind="memory")
    sdram = d.box(440, 286, 460, 50, "L2 cache, LiteDRAM, model of an SDRAM", [], ["system sdram: boots through the BIOS"], kind="memory")
    for box in (cpu, uart, timer):
        d.arrow([box.bottom(), (box.bottom()[0], 222)], both=True)
    d.arrow([kaiten.bottom(), (665, 222)], "registers", (658, 212), both=True, anchor="end")
    d.arrow([kaiten.right(0.22), window.left()], both=True)
    d.arrow([window.bottom(), bridge.top()], both=True)
    d.arrow([bridge.bottom(), (840, 222)], both=True)
    d.arrow([window.right(), (930, 96), (930, 311), sdram.right()], "sdram", (924, 206), thin=True, both=True, anchor="end")
    d.arrow([(200, 256), block.top()], both=True)
    d.arrow([(670, 256), (670, 286)], both=True)
    d.arrow([kaiten.top(), (665, 48), (135, 48), cpu.top()], "interrupt", (400, 52), thin=True)
    bench = d.box(250, 368, 460, 40, "", [], ["soc/bench.cpp: the clock, monitors on both of Kaiten's ports"], kind="other")
    d.arrow([bench.top(), (480, 350)], thin=True)
    return d


def explore():
    d = Drawing(960, 330, "How kaiten explore finds accelerators",
                "All combinations of sizes become candidates; budget, refusals and least cycles leave some out; the others are compiled and "
                "those that no other one beats are the Pareto set.")
    sizes = d.box(20, 39, 150, 92, "sizes", [], ["KP, CP, bus, WB, PB,", "SB, VB, OB, ZSB"], kind="other")
    networks = d.box(20, 200, 150, 70, "networks", [], ["models, tables,", "generated ones"], kind="other")
    d.frame(200, 14, 560, 296, "kaiten explore, sw/explore")
    space = d.box(220, 50, 140, 70, "candidates", [], ["what the parameter", "checks allow"])
    area = d.box(400, 50, 150, 70, "area", [], ["LUTs, DSPs, RAM;", "within the budget?"])
    least = d.box(590, 50, 150, 70, "least cycles", [], ["slots and bytes:", "beaten even then?"])
    program = d.box(590, 170, 150, 70, "compiler", [], ["cycle model of", "the program"])
    pareto = d.box(400, 170, 150, 70, "comparison", [], ["does another one", "beat it in all?"])
    ranks = d.box(220, 170, 140, 70, "rounds", [], ["small ones first;", "threads, ranks"], kind="port")
    mapped = d.box(800, 50, 140, 70, "fpga/area.json", [], ["accelerators that", "were mapped"], kind="memory")
    result = d.box(800, 190, 140, 92, "Pareto set", [], ["table, page, JSON;", "parameters as in", "rtl/configs.json"], kind="memory")
    d.arrow([sizes.right(), space.left()])
    d.arrow([space.right(), area.left()])
    d.arrow([area.right(), least.left()])
    d.arrow([mapped.top(), (870, 30), (475, 30), area.top()], "fitted", (690, 34))
    d.arrow([least.bottom(), program.top()], "not yet", (672, 150), anchor="start")
    d.arrow([program.left(), pareto.right()])
    d.arrow([pareto.left(), ranks.right()])
    d.arrow([ranks.top(), space.bottom()])
    d.arrow([networks.right(), (185, 235), (185, 285), (640, 285), (640, 240)], "programs for each candidate", (420, 280))
    d.arrow([pareto.bottom(), (475, 264), (800, 264)])
    return d


def volume_split():
    d = Drawing(960, 300, "A volume in blocks, split between processors and accelerator",
                "Blocks of the volume overlap; the first theta layers of each run on the processors, the others on the simulated accelerator, "
                "with a queue of one block between; results lie side by side.")
    volume = d.box(20, 60, 130, 110, "volume", [], ["blocks that overlap", "by the field of", "view less one"], kind="memory")
    d.frame(190, 30, 230, 170, "processors, --threads")
    cpu = d.box(205, 66, 200, 112, "layers 1 to theta", [], ["int8, the method", "that is fastest;", "pooling fragments"])
    queue = d.box(450, 96, 80, 52, "queue", [], ["one block"], kind="port")
    d.frame(560, 30, 230, 170, "accelerator, --clock")
    chip = d.box(575, 66, 200, 112, "layers from theta + 1", ["kaiten_top"], ["depth folded into", "channels; the RTL's", "cycles are the time"])
    result = d.box(820, 60, 120, 110, "result", [], ["a value for every", "position, side", "by side"], kind="memory")
    search = d.box(330, 232, 300, 48, "search", [], ["theta, block and pooling: most voxels a second"], kind="other")
    for a, b in ((volume, cpu), (cpu, queue), (queue, chip), (chip, result)):
        d.arrow([a.right(), b.left(0.5 + (a.right()[1] - b.left()[1]) / b.height)] if a.right()[1] != b.left()[1] else [a.right(), b.left()])
    d.arrow([search.top(0.2), (390, 200)], thin=True)
    d.arrow([search.top(0.9), (600, 200)], thin=True)
    d.text(305, 222, "theta 0: the accelerator alone (--rtl)", "dim", "end", 12)
    return d


def linux():
    d = Drawing(960, 330, "A program on Linux and its accelerator",
                "C driver, C++ Board and Python stand on one port for Linux. It reaches a board through UIO and u-dma-buf, or through two shared "
                "files the simulated accelerator of another process.")
    d.frame(20, 30, 420, 280, "program", "")
    port = d.box(240, 130, 180, 90, "kaiten_linux", [], ["sw/linux_driver"], kind="port")
    for y, name, under in ((54, "Python", "Model.board()"), (142, "C++ Board", "sw/board"), (230, "C driver", "sw/firmware")):
        user = d.box(40, y, 150, 66, name, [], [under])
        d.arrow([user.right(), (215, y + 33), (215, 175), port.left()])
    uio = d.box(500, 50, 180, 66, "UIO, u-dma-buf", [], ["drivers of the kernel"], kind="other")
    board = d.box(760, 50, 170, 66, "kaiten_top", [], ["on a board"], kind="memory")
    d.arrow([port.right(0.3), (465, 157), (465, 83), uio.left()], both=True)
    d.arrow([uio.right(), board.left()], both=True)
    shared = d.box(500, 214, 180, 76, "shared files", [], ["registers: one access", "at a time; memory"], kind="other")
    d.frame(720, 180, 220, 130, "kaiten bridge", "")
    sim = d.box(745, 214, 170, 76, "kaiten_top", [], ["simulated, sw/bridge"], kind="memory")
    d.arrow([port.right(0.7), (465, 193), (465, 252), shared.left()], both=True)
    d.arrow([shared.right(), sim.left()], both=True)
    return d


# Parts of a placement as scripts/route.py writes it: how they are drawn.
PLACED = {"a": "block", "v": "port", "b": "memory", "m": "other"}


def placement(record):
    """Where the cells of a routed design stand on the chip."""
    size, left, top = 7, 20, 62
    columns, rows = len(record["rows"][0]), len(record["rows"])
    d = Drawing(2 * left + size * columns, top + size * rows + 20, f"{record['config']} on an {record['part']}",
                "Tiles of the chip in the colour of the part that has most cells there: the array engine at the left, the vector engine at the "
                "right, the streaming buffers by their memories, the rest between and above. Multipliers stand in three rows, memories in four.")
    for i, (letter, kind) in enumerate(PLACED.items()):
        d.tiles(left + 190 * i, 14, 14, {(0, 0)}, kind)
        d.text(left + 22 + 190 * i, 26, record["parts"][letter], anchor="start")
        d.tiles(left, top, size, {(x, y) for y, row in enumerate(record["rows"]) for x, at in enumerate(row) if at == letter}, kind)
    for x, y, letter in record["multipliers"]:
        d.parts.append(f'<rect class="{PLACED[letter]}-tile" x="{left + size * x + 1.5:g}" y="{top + size * y + 1.5:g}" width="4" height="4"/>')
    for x, y, letter in record["memories"]:
        d.parts.append(f'<circle class="{PLACED[letter]}-tile" cx="{left + size * (x + 0.5):g}" cy="{top + size * (y + 0.5):g}" r="2.5"/>')
    d.text(left, 48, "between the rows of logic: squares are multipliers, dots block RAM", "dim", "start", 12)
    return d


PICTURES = {"linux": linux, "proofs": proofs, "soc": soc, "explore": explore, "volume_split": volume_split, "top": top, "conv": conv, "vector": vector, "load_store": load_store, "program": program, "cluster": cluster, "row_ring": row_ring}
# What is drawn from records, docs/data/<folder>: the picture's prefix, and how.
RECORDS = {"waves": ("", lambda wave: waves(wave["title"], wave["about"], wave)), "swap": ("swap_", timelines),
           "roofline": ("roofline_", roofline), "placement": ("placement_", placement)}


def main():
    parser = argparse.ArgumentParser(description="The pictures of the documents.")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    files = {f"docs/pictures/{name}.svg": draw().svg() for name, draw in PICTURES.items()}
    for folder, (prefix, draw) in RECORDS.items():
        for path in sorted(glob.glob(os.path.join(tools.ROOT, "docs", "data", folder, "*.json"))):
            with open(path) as f:
                files[f"docs/pictures/{prefix}{os.path.splitext(os.path.basename(path))[0]}.svg"] = draw(json.load(f)).svg()
    return tools.write_generated(files, args.check)


if __name__ == "__main__":
    sys.exit(tools.guarded(main))
