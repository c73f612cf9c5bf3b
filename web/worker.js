// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Runs the simulator beside the page. Between two pieces of a run it looks for messages, so that the page can stop it.
"use strict";
importScripts("kaiten.js");

const SLICE_MS = 40; // a piece of a run, between two pictures
let going = false;

const ready = kaiten().then((module) => module);

function tell(kind, text) {
  const json = JSON.parse(text);
  if (json.error !== undefined) {
    going = false;
    postMessage({ kind: "error", text: json.error });
    return null;
  }
  postMessage({ kind, ...json });
  return json;
}

function steps(module, cycles) {
  const start = performance.now();
  const json = tell("view", module.step(cycles));
  const ms = performance.now() - start;
  if (json === null) return null;
  if (json.over) {
    going = false;
    tell("result", module.result());
  }
  return ms;
}

async function go(module) {
  let piece = 2000;
  while (going) {
    const ms = steps(module, piece);
    if (ms === null) return;
    piece = Math.max(100, Math.min(1000000, Math.round((piece * SLICE_MS) / Math.max(ms, 1))));
    await new Promise((done) => setTimeout(done, 0));
  }
}

const answers = {
  open: (module, m) => { going = false; tell("opened", module.open(m.name, m.file)); },
  begin: (module, m) => { tell("begun", module.begin(m.input, m.origin)); },
  step: (module, m) => { going = false; steps(module, m.cycles); },
  go: (module) => { if (!going) { going = true; go(module); } },
  pause: () => { going = false; },
  report: (module) => { tell("report", module.report()); },
};

onmessage = async (event) => {
  try {
    answers[event.data.kind](await ready, event.data);
  } catch (e) {
    going = false;
    postMessage({ kind: "error", text: `the simulator stopped: ${e && e.message ? e.message : e}; open the page again` });
  }
};
ready.then(() => postMessage({ kind: "ready" }), (e) => postMessage({ kind: "error", text: `the simulator does not start: ${e}` }));
