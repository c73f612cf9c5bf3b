// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The page around the simulator in worker.js.
"use strict";

const QUEUES = ["LOAD", "CONV", "VECTOR", "STORE"];
const BUFFERS = [["SB", "rows for the array"], ["VB", "rows for the vector engine"], ["WB", "weights of the array"],
  ["VWB", "weights of the vector engine"], ["OB", "sums that wait for another pass"]];
const MOST_BYTES = 64 << 20;
const IMAGE_BYTES = 1024; // of the demo
const at = (id) => document.getElementById(id);
// A module of one function that makes a vector of 128 bits: does the browser take such?
const VECTORS = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 8, 1, 6, 0, 65, 0, 253, 15, 11]);
const worker = WebAssembly.validate(VECTORS) ? new Worker("worker.js") : null;
let name = "";
let file = null; // of the model that is open
let input = new Uint8Array();
let origin = "";
let begun = false; // there is a run that can go on
let over = false;
let before = 0; // cycles of the sections that are over
let last = { section: 0, cycles: 0, buffers: [] };
let most = BUFFERS.map(() => 0); // bytes held, of each buffer
let clock = { ms: 0, from: 0 };
let saved = "";

const number = (n) => n.toLocaleString("en");

function row(cells, numbers = []) {
  const tr = document.createElement("tr");
  cells.forEach((cell, i) => {
    const td = tr.insertCell();
    if (numbers.includes(i)) td.className = "n";
    td.append(cell);
  });
  return tr;
}

function bar(value, max, label) {
  const progress = document.createElement("progress");
  progress.max = Math.max(1, max);
  progress.value = value;
  progress.setAttribute("aria-label", label);
  return progress;
}

function showBuffers(buffers) {
  const kib = (bytes) => (bytes / 1024).toFixed(1);
  at("buffers").replaceChildren(...buffers.map((b, i) => {
    most[i] = Math.max(most[i], b.held);
    const [name, what] = BUFFERS[i];
    const said = `${kib(b.held)} of ${kib(b.bytes)}`;
    return row([name, bar(b.held, b.bytes, `${name}: ${said} KiB`), said, kib(most[i]), what], [2, 3]);
  }));
}

function fail(text) {
  begun = false;
  at("error").textContent = text;
  at("error").hidden = false;
  at("state").textContent = "";
  running(false);
}

function running(now) {
  if (now && !clock.from) clock.from = performance.now();
  if (!now && clock.from) clock = { ms: clock.ms + performance.now() - clock.from, from: 0 };
  at("go").disabled = at("step").disabled = now || over || !begun;
  at("pause").disabled = !now;
}

function hide() {
  for (const id of ["error", "outcome", "page", "save"]) at(id).hidden = true;
}

function open(called, contents, bytes, from) {
  hide();
  name = called;
  file = contents;
  at("network").hidden = true;
  if (file.length > MOST_BYTES) {
    fail(`${name}: models here have at most ${number(MOST_BYTES)} bytes, this one has ${number(file.length)}`);
    return;
  }
  begun = false;
  running(false);
  input = bytes;
  origin = from;
  at("name").textContent = name;
  at("state").textContent = `Compiling ${name} ...`;
  worker.postMessage({ kind: "open", name, file });
}

function begin() {
  hide();
  over = false;
  before = 0;
  last = { section: 0, cycles: 0, buffers: [] };
  most = BUFFERS.map(() => 0);
  clock = { ms: 0, from: 0 };
  begun = false;
  running(false);
  at("state").textContent = "Computing the reference ...";
  worker.postMessage({ kind: "begin", input, origin });
}

function show(view) {
  if (view.over) {
    over = true;
    at("progress").value = 1;
    for (const tr of at("queues").rows) {
      tr.cells[2].firstChild.value = tr.cells[2].firstChild.max;
      tr.cells[3].textContent = "all done";
      tr.cells[4].textContent = "";
    }
    showBuffers(last.buffers.map((b) => ({ bytes: b.bytes, held: 0 })));
    return;
  }
  if (view.section !== last.section) before += last.cycles;
  last = view;
  at("progress").value = Math.min(0.99, view.cycles / Math.max(1, view.modelled_cycles));
  at("count").textContent = `${number(before + view.cycles)} cycles`;
  at("queues").replaceChildren(...view.queues.map((q, i) => {
    const done = bar(q.completed, q.commands, `${QUEUES[i]}: ${q.completed} of ${q.commands} commands`);
    const state = q.layer === "" ? "all done" : q.waiting ? "waiting" : "running or not fetched";
    return row([QUEUES[i], `${number(q.completed)} of ${number(q.commands)}`, done, state, q.layer], [1]);
  }));
  showBuffers(view.buffers);
}

const heard = {
  ready: () => {
    at("state").textContent = "Ready: choose a model, or drop one on the frame.";
    at("demo").disabled = false;
  },
  error: (m) => fail(m.text),
  opened: (m) => {
    at("layers").replaceChildren(...m.layers.map((l) => row([l.name, l.op, l.in, l.out, l.where])));
    at("network").hidden = false;
    begin();
  },
  begun: () => {
    at("queues").replaceChildren();
    at("buffers").replaceChildren();
    at("progress").value = 0;
    at("count").textContent = "0 cycles";
    at("state").textContent = "Ready to run.";
    begun = true;
    running(false);
  },
  view: (m) => { show(m); if (m.over) running(false); },
  result: (m) => {
    const r = m.report;
    window.kaitenResult = m;
    const khz = clock.ms > 0 ? `, ${number(Math.round(r.cycles / clock.ms))} kHz` : "";
    at("count").textContent = `${number(r.cycles)} cycles${khz}`;
    at("state").textContent = "The run is over.";
    at("verdict").textContent = m.verdict;
    at("verdict").className = r.exact ? "hit" : "miss";
    at("confirmation").textContent = m.confirmation;
    at("tensors").replaceChildren(...m.tensors.map((t) => row([t.name, number(t.seen), number(t.different), t.first], [1, 2])));
    at("outcome").hidden = false;
  },
  report: (m) => {
    if (saved) URL.revokeObjectURL(saved);
    saved = URL.createObjectURL(new Blob([m.page], { type: "text/html" }));
    at("save").href = saved;
    at("page").srcdoc = m.page;
    at("page").hidden = at("save").hidden = false;
  },
};
if (worker) {
  worker.onmessage = (event) => heard[event.data.kind](event.data);
  worker.onerror = (event) => fail(`the simulator does not start: ${event.message || "worker.js is missing"}`);
} else {
  fail("this browser's WebAssembly has no vectors of 128 bits (SIMD), which the simulator needs");
  at("file").disabled = true;
}

async function take(chosen) {
  if (chosen && worker) open(chosen.name.replace(/\.tflite$/, ""), new Uint8Array(await chosen.arrayBuffer()), new Uint8Array(), "");
}

async function bytes(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

at("demo").onclick = async () => {
  try {
    const [model, images] = await Promise.all([bytes("demo.tflite"), bytes("digits.u8")]);
    open("demo", model, images.slice(IMAGE_BYTES, 2 * IMAGE_BYTES).map((pixel) => pixel ^ 128), "image 1 of the demo");
  } catch (e) {
    fail(`cannot read the demo network: ${e.message}`);
  }
};
at("file").onchange = () => take(at("file").files[0]);
at("drop").ondragover = (e) => { e.preventDefault(); at("drop").classList.add("over"); };
at("drop").ondragleave = () => at("drop").classList.remove("over");
at("drop").ondrop = (e) => { e.preventDefault(); at("drop").classList.remove("over"); take(e.dataTransfer.files[0]); };
at("go").onclick = () => { running(true); worker.postMessage({ kind: "go" }); };
at("pause").onclick = () => { worker.postMessage({ kind: "pause" }); running(false); };
at("step").onclick = () => {
  const cycles = at("cycles").valueAsNumber;
  if (!(cycles >= 1 && cycles <= 1000000)) return at("cycles").reportValidity();
  clock.from = performance.now();
  worker.postMessage({ kind: "step", cycles: Math.floor(cycles) });
};
at("again").onclick = () => open(name, file, input, origin);
at("report").onclick = () => worker.postMessage({ kind: "report" });
