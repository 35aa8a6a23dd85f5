"use strict";
// The page: one state (`view`: the window of time, `at`: what is selected), views that draw it, and clicks
// that change it.  Text of the capture gets into the page by `textContent` and `fillText` alone.
(function () {
  const byId = function (id) { return document.getElementById(id); };
  const ROW = 18, NAME = 132, AXIS = 18, UNIT_ROW = 17, DEVICE_ROW = 9, LEAST_ROWS = 4, TALL = 950, LANES = 6, LANE = 9;
  let page, waves, tokens, code, costs, device, most, view, hits = [], colors = {};
  const at = { line: -1, token: -1, wave: -1, file: -1, source: -1, unit: 0, place: null };

  // -- small things ---------------------------------------------------------------------------------------

  function element(tag, kind, text, parent) {
    const made = document.createElement(tag);
    if (kind) made.className = kind;
    if (text !== undefined) made.textContent = text;
    if (parent) parent.appendChild(made);
    return made;
  }

  const isSampled = function () { return page.about.unit !== "cycles"; };
  const grouped = function (number) { return Math.round(number).toLocaleString("en-US"); };
  const percent = function (part, whole) { return whole ? ((100 * part) / whole).toFixed(1) + " %" : ""; };

  function pixel(color) { // as a pixel of a canvas holds it
    const rgb = parseInt(color.slice(1), 16);
    return (0xff000000 | ((rgb & 255) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;
  }

  function mixed(color, other, share) {
    const a = parseInt(color.slice(1), 16), b = parseInt(other.slice(1), 16);
    let made = 0;
    for (const shift of [16, 8, 0])
      made |= Math.round(((a >> shift) & 255) * share + ((b >> shift) & 255) * (1 - share)) << shift;
    return "#" + made.toString(16).padStart(6, "0");
  }

  function readColors() {
    const style = getComputedStyle(document.documentElement);
    const of = function (name) { return style.getPropertyValue("--" + name).trim(); };
    for (const name of ["canvas", "grid", "line", "text", "muted", "accent", "accent_soft", "stall", "issue",
      "warning"]) colors[name] = of(name);
    colors.kind = page.about.kinds.map(function (kind) { return of("kind-" + kind[0]); });
    colors.pixel = new Uint32Array(128).fill(pixel(colors.canvas));
    colors.kind.forEach(function (color, kind) {
      const stall = mixed(color, colors.canvas, 0.5);
      colors.pixel[1 + kind] = pixel(color);
      colors.pixel[(1 + kind) | Rcv.STALL] = pixel(stall);
      colors.pixel[(1 + kind) | Rcv.FAINT] = pixel(mixed(color, colors.canvas, 0.45));
      colors.pixel[(1 + kind) | Rcv.STALL | Rcv.FAINT] = pixel(mixed(stall, colors.canvas, 0.45));
    });
  }

  // -- a canvas with rows, names at the left and an axis of time on top --------------------------------------

  function Timeline(id, height) {
    const section = byId(id), scroll = section.querySelector(".scroll"), canvas = section.querySelector("canvas");
    const space = element("div", "space", undefined, scroll);
    const self = { canvas: canvas, scroll: scroll, rowHeight: height, rows: [], paint: null, tip: null, pick: null };
    let drag = null, width = 0, tall = 0;

    self.cycles = function () { return (view.end - view.begin) / Math.max(1, width - NAME); };
    self.timeAt = function (x) { return view.begin + (x - NAME) * self.cycles(); };
    self.x = function (time) { return NAME + (time - view.begin) / self.cycles(); };
    self.rowAt = function (y) {
      const row = Math.floor((y - AXIS + scroll.scrollTop) / height);
      return y >= AXIS && row < self.rows.length ? row : -1;
    };
    self.show = function (row) {
      const top = row * height, seen = tall - AXIS;
      if (top < scroll.scrollTop || top + height > scroll.scrollTop + seen)
        scroll.scrollTop = Math.max(0, top - seen / 2);
    };
    self.draw = function () {
      const scale = window.devicePixelRatio || 1, box = scroll.getBoundingClientRect();
      width = scroll.clientWidth;
      tall = Math.round(box.height);
      space.style.height = self.rows.length * height + AXIS + "px";
      const beside = section.clientHeight - tall; // no taller than its rows: the rest is for what is below
      if (tall) section.style.maxHeight = Math.max(self.rows.length, LEAST_ROWS) * height + AXIS + beside + 4 + "px";
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(tall * scale);
      const brush = canvas.getContext("2d");
      brush.fillStyle = colors.canvas;
      brush.fillRect(0, 0, canvas.width, canvas.height);
      const first = Math.max(0, Math.floor(scroll.scrollTop / height));
      const last = Math.min(self.rows.length, Math.ceil((scroll.scrollTop + tall) / height));
      const across = Math.max(1, Math.round((width - NAME) * scale)), line = Math.max(1, Math.round(height * scale));
      const cycles = (view.end - view.begin) / across;
      const picture = brush.createImageData(across, line);
      const pixels = new Uint32Array(picture.data.buffer);
      for (let row = first; row < last; row++) {
        self.paint(row, pixels, across, line, cycles);
        const top = AXIS + row * height - scroll.scrollTop;
        brush.putImageData(picture, Math.round(NAME * scale), Math.round(top * scale));
      }
      brush.setTransform(scale, 0, 0, scale, 0, 0);
      if (self.over) self.over(brush, first, last, width);
      brush.fillStyle = colors.canvas;
      brush.fillRect(0, 0, NAME, tall);
      brush.font = "11px system-ui, sans-serif";
      brush.textBaseline = "middle";
      let before = "";
      for (let row = first; row < last; row++) {
        if (height < 11 && row % 2) continue;
        const top = AXIS + row * height + Math.max(height / 2, 7) - scroll.scrollTop; // no letter under the axis
        brush.fillStyle = self.rows[row].strong ? colors.text : colors.muted;
        if (self.rows[row].name !== before) brush.fillText(self.rows[row].name, 6, top, NAME - 10);
        before = self.rows[row].name;
      }
      drawAxis(brush);
    };

    function drawAxis(brush) {
      brush.fillStyle = colors.canvas;
      brush.fillRect(0, 0, width, AXIS);
      brush.fillStyle = colors.muted;
      brush.strokeStyle = colors.grid;
      brush.lineWidth = 1;
      brush.textBaseline = "middle";
      const origin = page.about.origin;
      for (const time of Rcv.ticks(view.begin + origin, view.end + origin, (width - NAME) / 110)) {
        const x = Math.round(self.x(time - origin)) + 0.5;
        brush.globalAlpha = 0.6;
        brush.beginPath();
        brush.moveTo(x, AXIS - 4);
        brush.lineTo(x, tall);
        brush.stroke();
        brush.globalAlpha = 1;
        brush.fillText(grouped(time), x + 3, AXIS / 2);
      }
      brush.fillText(say("cycles"), 6, AXIS / 2);
    }

    canvas.addEventListener("wheel", function (event) {
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
        setView(Rcv.moved(view, ((event.deltaX || event.deltaY) / 400) * (view.end - view.begin), most));
      else setView(Rcv.zoomed(view, self.timeAt(Math.max(NAME, event.offsetX)), Math.exp(event.deltaY / 400), most));
    }, { passive: false });
    canvas.addEventListener("pointerdown", function (event) {
      canvas.setPointerCapture(event.pointerId);
      drag = { x: event.offsetX, y: event.offsetY, view: view, top: scroll.scrollTop, far: 0 };
    });
    canvas.addEventListener("pointermove", function (event) {
      if (!drag) return self.tip && tell(event, self.tip(event.offsetX, event.offsetY));
      drag.far = Math.max(drag.far, Math.abs(event.offsetX - drag.x) + Math.abs(event.offsetY - drag.y));
      if (drag.far < 4) return;
      setView(Rcv.moved(drag.view, (drag.x - event.offsetX) * self.cycles(), most));
      scroll.scrollTop = drag.top + drag.y - event.offsetY;
    });
    canvas.addEventListener("pointerup", function (event) {
      if (drag && drag.far < 4) self.pick(event.offsetX, event.offsetY);
      drag = null;
    });
    canvas.addEventListener("pointerleave", function () { tell(null, ""); });
    canvas.addEventListener("dblclick", function () { if (at.token >= 0) fit(at.token); });
    canvas.addEventListener("keydown", timeKey);
    scroll.addEventListener("scroll", later);
    return self;
  }

  function timeKey(event) {
    const middle = (view.begin + view.end) / 2, width = view.end - view.begin;
    const steps = { "+": 0.5, "=": 0.5, w: 0.5, "-": 2, s: 2 }, moves = { ArrowLeft: -0.15, a: -0.15, ArrowRight: 0.15, d: 0.15 };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (steps[event.key]) setView(Rcv.zoomed(view, middle, steps[event.key], most));
    else if (moves[event.key]) setView(Rcv.moved(view, moves[event.key] * width, most));
    else if (event.key === "Home") setView({ begin: 0, end: most });
    else if (event.key === "f" && at.token >= 0) fit(at.token);
    else return;
    event.preventDefault();
  }

  let isDue = false;

  function later() {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(function () {
      isDue = false;
      unitView.draw();
      deviceView.draw();
    });
  }

  function setView(window) {
    view = window;
    later();
  }

  function fit(token) {
    const length = Math.max(16, tokens.stall[token] + tokens.busy[token]);
    const width = Math.min(most, 12 * length), middle = tokens.start[token] + length / 2;
    setView(Rcv.moved({ begin: middle - width / 2, end: middle + width / 2 }, 0, most));
  }

  function tell(event, text) {
    const tip = byId("tip");
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const width = tip.offsetWidth, height = tip.offsetHeight;
    tip.style.left = Math.max(0, Math.min(event.clientX + 14, innerWidth - width - 4)) + "px";
    tip.style.top = Math.max(0, Math.min(event.clientY + 16, innerHeight - height - 4)) + "px";
  }

  // -- the compute unit: a row a slot, its waves one after the other -----------------------------------------

  let unitView, deviceView;

  function unitRows(unit) {
    const slots = new Map();
    for (let wave = 0; wave < waves.row.length; wave++) {
      if (waves.unit[wave] !== unit) continue;
      const key = waves.simd[wave] * 4096 + waves.slot[wave];
      if (!slots.has(key)) slots.set(key, { name: "SIMD" + waves.simd[wave] + " slot" + waves.slot[wave], waves: [] });
      slots.get(key).waves.push(wave);
    }
    const keys = Array.from(slots.keys()).sort(function (a, b) { return a - b; });
    return keys.map(function (key) {
      slots.get(key).waves.sort(function (a, b) { return waves.begin[a] - waves.begin[b]; });
      return slots.get(key);
    });
  }

  function paintUnit(row, pixels, across, line, cycles) {
    const stop = view.begin + cycles * across, codes = new Uint8Array(across), lived = new Uint8Array(across);
    for (const wave of unitView.rows[row].waves) {
      if (waves.end[wave] < view.begin || waves.begin[wave] > stop) continue;
      const left = Math.max(0, Math.floor((waves.begin[wave] - view.begin) / cycles));
      const right = Math.min(across, Math.ceil((waves.end[wave] - view.begin) / cycles));
      lived.fill(waves.first[wave + 1] > waves.first[wave] ? 1 : 2, left, right);
      let first = Math.max(waves.first[wave], Rcv.above(tokens.start, view.begin, waves.first[wave], waves.first[wave + 1]) - 64);
      const last = Rcv.above(tokens.start, stop, first, waves.first[wave + 1]);
      const own = codes.subarray(left, right);
      if (right > left) Rcv.raster(tokens, first, last, view.begin + left * cycles, cycles, own);
    }
    const empty = colors.pixel[0], quiet = pixel(mixed(colors.muted, colors.canvas, 0.16));
    const untold = pixel(mixed(colors.muted, colors.canvas, 0.4)), high = Math.max(1, Math.round(line * 0.55));
    for (let x = 0; x < across; x++) {
      const code = codes[x], ground = lived[x] === 1 ? quiet : lived[x] === 2 ? untold : empty;
      const from = code & Rcv.STALL ? line - 1 - high : 1;
      for (let y = 0; y < line; y++)
        pixels[y * across + x] = y === line - 1 || y === 0 ? empty : code && y >= from ? colors.pixel[code] : ground;
    }
  }

  function overUnit(brush, first, last, width) {
    const cycles = unitView.cycles();
    brush.font = "10px ui-monospace, monospace";
    brush.textBaseline = "middle";
    for (let row = first; row < last; row++) {
      const top = AXIS + row * UNIT_ROW - unitView.scroll.scrollTop;
      for (const wave of unitView.rows[row].waves) {
        const from = Rcv.above(tokens.start, view.begin, waves.first[wave], waves.first[wave + 1]);
        const stop = Rcv.above(tokens.start, view.end, from, waves.first[wave + 1]);
        for (let token = Math.max(waves.first[wave], from - 1); token < stop; token++) {
          const long = (tokens.stall[token] + tokens.busy[token]) / cycles;
          const isChosen = token === at.token, isSame = at.line >= 0 && tokens.line[token] === at.line;
          if (long < 34 && !isSame && !isChosen) continue;
          const left = Math.max(NAME, unitView.x(tokens.start[token]));
          const right = Math.min(width, unitView.x(tokens.start[token]) + Math.max(2, long));
          if (right <= left) continue;
          if (isSame || isChosen) {
            brush.strokeStyle = isChosen ? colors.text : colors.accent;
            brush.lineWidth = isChosen ? 2 : 1;
            brush.strokeRect(left + 0.5, top + 0.5, Math.max(1, right - left - 1), UNIT_ROW - 1);
          }
          const place = code.place.get(tokens.line[token]);
          if (right - left < 34 || place === undefined) continue;
          brush.save();
          brush.beginPath();
          brush.rect(left, top, right - left - 3, UNIT_ROW);
          brush.clip();
          brush.lineWidth = 3;
          brush.strokeStyle = colors.canvas;
          brush.fillStyle = colors.text;
          brush.strokeText(code.text[place], left + 3, top + UNIT_ROW / 2);
          brush.fillText(code.text[place], left + 3, top + UNIT_ROW / 2);
          brush.restore();
        }
      }
    }
  }

  function waveAt(x, y) {
    const row = unitView.rowAt(y), time = unitView.timeAt(x);
    if (row < 0 || x < NAME) return -1;
    const found = unitView.rows[row].waves.filter(function (wave) {
      return waves.begin[wave] <= time && time < Math.max(waves.end[wave], waves.begin[wave] + 1);
    });
    return found.length ? found[found.length - 1] : -1;
  }

  function tokenOf(x, y) {
    const wave = waveAt(x, y);
    if (wave < 0) return -1;
    const middle = unitView.timeAt(x + 0.5), first = waves.first[wave], stop = waves.first[wave + 1];
    const token = Rcv.tokenAt(tokens, first, stop, middle);
    if (token >= 0 || first === stop) return token;
    const near = Math.min(stop - 1, Rcv.above(tokens.start, middle, first, stop)); // beside a short one
    return Math.abs(unitView.x(tokens.start[near]) - x) < 3 ? near : -1;
  }

  function aboutToken(token) {
    const place = code.place.get(tokens.line[token]);
    return (place === undefined ? say("unknown instruction") : tokens.line[token] + "  " + code.text[place]) +
      " · " + Rcv.waveName(waves, Rcv.waveOfToken(waves, token)) + say(" · at ") +
      grouped(tokens.start[token] + page.about.origin) + say(" · stall ") + grouped(tokens.stall[token]) +
      say(" · issue ") + grouped(tokens.busy[token]) + say(" cycles");
  }

  function unitTip(x, y) {
    const token = tokenOf(x, y), wave = waveAt(x, y);
    if (token >= 0) return aboutToken(token).split(" · ").join("\n");
    if (wave < 0) return "";
    const isKnown = waves.first[wave + 1] > waves.first[wave];
    return Rcv.waveName(waves, wave) + (isKnown ? "" : "\nthis page has no instructions of it");
  }

  // -- the whole device ----------------------------------------------------------------------------------

  function paintDevice(row, pixels, across, line, cycles) {
    const out = new Float64Array(across), steps = device[row];
    Rcv.rasterSteps(steps, view.begin, cycles, out);
    const isUnit = steps.name === page.waves.units[at.unit];
    for (let x = 0; x < across; x++) {
      const share = out[x] / device.most;
      const color = out[x] ? pixel(mixed(isUnit ? colors.accent : colors.muted, colors.canvas, 0.15 + 0.7 * share)) : colors.pixel[0];
      for (let y = 0; y < line; y++) pixels[y * across + x] = y < line - 1 ? color : colors.pixel[0];
    }
  }

  function deviceTip(x, y) {
    const row = deviceView.rowAt(y);
    if (row < 0 || x < NAME) return "";
    const steps = device[row], step = Rcv.above(steps.time, deviceView.timeAt(x), 0, steps.time.length) - 1;
    return steps.name + ": " + (step < 0 ? 0 : steps.waves[step]) + " waves at " +
      grouped(deviceView.timeAt(x) + page.about.origin) + (steps.strong ? "\nits instructions are on this page" : "");
  }

  function pickDevice(x, y) {
    const row = deviceView.rowAt(y);
    const unit = row < 0 ? -1 : page.waves.units.indexOf(device[row].name);
    if (unit >= 0) showUnit(unit);
  }

  // -- lists of which only what is seen is there -----------------------------------------------------------

  function List(box, fill, after) {
    const space = element("div", "space", undefined, box), self = { count: 0 };
    let shown = [];
    self.have = function (count) {
      self.count = count;
      space.style.height = count * ROW + "px";
    };
    self.draw = function () {
      for (const row of shown) row.remove();
      shown = [];
      const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 2);
      const last = Math.min(self.count, Math.ceil((box.scrollTop + box.clientHeight) / ROW) + 2);
      for (let at = first; at < last; at++) {
        const row = element("div", "row");
        row.style.top = at * ROW + "px";
        fill(at, row);
        shown.push(row);
      }
      box.append.apply(box, shown);
      if (after) after(first, last);
    };
    self.reveal = function (at) {
      const top = at * ROW;
      if (top < box.scrollTop + ROW || top > box.scrollTop + box.clientHeight - 2 * ROW)
        box.scrollTop = Math.max(0, top - box.clientHeight / 2);
    };
    let isWaiting = false;
    box.addEventListener("scroll", function () {
      if (isWaiting) return;
      isWaiting = true;
      requestAnimationFrame(function () { isWaiting = false; self.draw(); });
    });
    return self;
  }

  function bar(row, parts, whole) {
    const cell = element("span", "cost", undefined, row);
    let left = 0;
    for (const part of parts) {
      const width = whole ? (54 * part[0]) / whole : 0;
      if (width < 0.2) continue;
      const one = element("i", "", undefined, cell);
      one.style.left = left + "px";
      one.style.width = width + "px";
      one.style.background = part[1];
      left += width;
    }
  }

  let isaList, sourceList, arrows = [], hottest = [], dearest = 1, nearLines = new Set();

  function fillCode(at_, row) {
    const line = code.row[at_], isLabel = code.label[at_];
    const isCold = !code.hits[at_] && !code.cost[at_];
    row.className = "row" + (isLabel ? " is-label" : isCold ? " is-cold" : "") + (line === at.line ? " is-chosen" : nearLines.has(at_) ? " is-near" : "");
    element("span", "", "", row);
    element("span", "n q", String(line), row);
    element("span", "n", isLabel || isSampled() ? "" : grouped(code.hits[at_]), row);
    element("span", "n", isLabel ? "" : grouped(code.latency[at_]), row);
    bar(row, [[code.stall[at_], colors.stall], [code.latency[at_] - code.stall[at_], colors.issue], [code.idle[at_], colors.muted]], dearest);
    element("span", "t", code.text[at_], row);
    const file = page.sources[code.file[at_]];
    element("span", "q", file && file.name ? file.name + ":" + (code.line[at_] || say("no line")) : "", row);
    row.addEventListener("click", function () { selectLine(line); });
  }

  function drawArrows(first, last) {
    const box = byId("isa").querySelector(".list"), canvas = box.querySelector("canvas");
    const scale = window.devicePixelRatio || 1, width = LANES * LANE + 6, height = box.clientHeight;
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    canvas.style.marginBottom = -height + "px";
    canvas.width = width * scale;
    canvas.height = height * scale;
    const brush = canvas.getContext("2d"), seen = arrows.filter(function (one) {
      return Math.min(one.from, one.to) < last && Math.max(one.from, one.to) >= first &&
        (one.isBranch || one.from === hereAt() || one.to === hereAt());
    });
    brush.setTransform(scale, 0, 0, scale, 0, 0);
    const lanes = Rcv.lanes(seen, LANES), y = function (row) { return (row + 0.5) * ROW - box.scrollTop; };
    seen.forEach(function (one, index) {
      if (lanes[index] < 0) return;
      const x = width - 6 - LANE * (lanes[index] + 1) + 0.5, isHere = one.from === hereAt() || one.to === hereAt();
      brush.strokeStyle = brush.fillStyle = one.isBranch ? (isHere ? colors.accent : colors.muted) : colors.warning;
      brush.lineWidth = isHere ? 1.6 : 1;
      brush.setLineDash(one.isBranch ? [] : [3, 2]);
      brush.beginPath();
      brush.moveTo(width - 5, y(one.from));
      brush.lineTo(x, y(one.from));
      brush.lineTo(x, y(one.to));
      brush.lineTo(width - 5, y(one.to));
      brush.stroke();
      brush.setLineDash([]);
      brush.beginPath();
      brush.moveTo(width, y(one.to));
      brush.lineTo(width - 6, y(one.to) - 3.5);
      brush.lineTo(width - 6, y(one.to) + 3.5);
      brush.fill();
    });
  }

  function hereAt() {
    const place = code.place.get(at.line);
    return place === undefined ? -1 : place;
  }

  function readArrows() {
    for (const kind of ["branch", "wait"]) {
      const from = page.columns[kind + ".from"], to = page.columns[kind + ".to"];
      for (let row = 0; row < from.length; row++) {
        if (!code.place.has(from[row]) || !code.place.has(to[row])) continue;
        arrows.push({ from: code.place.get(from[row]), to: code.place.get(to[row]), isBranch: kind === "branch" });
      }
    }
  }

  // -- sources --------------------------------------------------------------------------------------------

  let lines = [];

  function showFile(file) {
    at.file = file;
    byId("files").value = String(file);
    const source = page.sources[file], own = costs.get(file);
    if (!source) return;
    if (source.text === undefined && own)
      lines = Array.from(own.lines.keys()).sort(function (a, b) { return a - b; }).map(function (line) { return [line, ""]; });
    else lines = (source.text || "").split("\n").map(function (text, row) { return [row + 1, text]; });
    byId("nosource").textContent = source.note || "";
    sourceList.have(lines.length);
    sourceList.draw();
  }

  function fillSource(row_, row) {
    const line = lines[row_][0], own = costs.get(at.file), cost = own && own.lines.get(line);
    const top = own ? own.top : 1;
    row.className = "row" + (line === at.source ? " is-chosen" : "");
    element("span", "n q", line || "–", row);
    bar(row, [[cost ? cost.cost : 0, colors.accent]], top);
    element("span", "n", cost ? percent(cost.cost, costs.whole) : "", row);
    element("span", "t", lines[row_][1], row);
    row.addEventListener("click", function () {
      if (!cost) return;
      const dear = cost.rows.slice().sort(function (a, b) { return code.cost[b] - code.cost[a]; });
      selectLine(code.row[dear[0]]);
    });
  }

  // -- selecting ------------------------------------------------------------------------------------------

  function showUnit(unit) {
    at.unit = unit;
    byId("units").value = String(unit);
    unitView.rows = unitRows(unit);
    unitView.scroll.scrollTop = 0;
    later();
  }

  function showWave(wave) {
    at.wave = wave;
    if (waves.unit[wave] !== at.unit) showUnit(waves.unit[wave]);
    unitView.show(unitView.rows.findIndex(function (row) { return row.waves.includes(wave); }));
  }

  function selectLine(line, keepsToken) {
    at.line = line;
    hits = line >= 0 ? Rcv.executions(tokens, line) : [];
    if (!keepsToken) at.token = -1;
    const place = hereAt();
    nearLines = new Set();
    if (place >= 0) {
      const file = code.file[place], own = costs.get(file);
      at.source = file >= 0 ? code.line[place] : -1;
      if (file >= 0 && own && own.lines.has(at.source)) nearLines = new Set(own.lines.get(at.source).rows);
      if (file >= 0 && file !== at.file) showFile(file);
      const row = lines.findIndex(function (one) { return one[0] === at.source; });
      if (file >= 0 && row >= 0) sourceList.reveal(row);
      isaList.reveal(place);
    }
    isaList.draw();
    sourceList.draw();
    describe();
    later();
  }

  function selectToken(token, isFitted) {
    at.token = token;
    showWave(Rcv.waveOfToken(waves, token));
    if (isFitted || tokens.start[token] > view.end || tokens.start[token] + tokens.stall[token] + tokens.busy[token] < view.begin) fit(token);
    selectLine(tokens.line[token], true);
  }

  function stepExecution(by) {
    if (!hits.length) return;
    let next = hits.indexOf(at.token) + by;
    if (at.token < 0) next = by > 0 ? 0 : hits.length - 1;
    selectToken(hits[(next + hits.length) % hits.length], false);
  }

  function stepCost(by) {
    const here = hottest.indexOf(hereAt());
    const next = here < 0 ? 0 : Math.min(hottest.length - 1, Math.max(0, here + by));
    if (hottest.length) selectLine(code.row[hottest[next]]);
  }

  function describe() {
    const isSome = at.line >= 0 && hits.length;
    const which = at.token >= 0 && isSome ? say("execution ") + grouped(hits.indexOf(at.token) + 1) + say(" of ") + grouped(hits.length) + say(" on this page · ") :
      isSome ? grouped(hits.length) + say(" executions on this page") : at.line >= 0 ? say("no execution on this page") : "";
    byId("chosen").textContent = which + (at.token >= 0 ? aboutToken(at.token) : "");
    byId("previous").disabled = byId("next").disabled = !isSome;
  }

  function goTo(place) {
    const wave = place.wave === undefined ? undefined : waves.place.get(place.wave);
    if (place.source !== undefined) {
      showFile(place.source[0]);
      at.source = place.source[1];
      const row = lines.findIndex(function (one) { return one[0] === at.source; });
      if (row >= 0) sourceList.reveal(row);
      sourceList.draw();
    }
    if (wave !== undefined) showWave(wave);
    if (wave !== undefined && place.begin !== undefined) {
      const token = Rcv.tokenAt(tokens, waves.first[wave], waves.first[wave + 1], place.begin);
      if (token >= 0) return selectToken(token, true);
    }
    if (place.begin !== undefined) {
      const width = Math.max(64, (place.end - place.begin) * 1.2), middle = (place.begin + place.end) / 2;
      setView(Rcv.moved({ begin: middle - Math.min(most, width) / 2, end: middle + Math.min(most, width) / 2 }, 0, most));
    } else if (wave !== undefined) {
      const width = Math.min(most, Math.max(64, (waves.end[wave] - waves.begin[wave]) * 1.1));
      const middle = (waves.begin[wave] + waves.end[wave]) / 2;
      setView(Rcv.moved({ begin: middle - width / 2, end: middle + width / 2 }, 0, most));
    }
    if (place.line !== undefined) {
      selectLine(place.line);
      if (wave === undefined && place.begin === undefined && hits.length) selectToken(hits[0], false);
    }
  }

  function goToAnchor() {
    const named = Rcv.anchor(location.hash);
    if (!named) return;
    const place = { line: named.line };
    for (let wave = 0; named.wave && wave < waves.row.length; wave++)
      if (Rcv.waveName(waves, wave) === named.wave) place.wave = waves.row[wave];
    if (named.cycle !== undefined) place.begin = place.end = named.cycle - page.about.origin;
    goTo(place);
  }

  // -- findings, and other lists of places -----------------------------------------------------------------

  // Titles stand below each other; the one that is opened says the rest, and the page goes to its first place.
  function showItems(body, items, isFirstOpen) {
    items.forEach(function (item, ordinal) {
      const fold = element("details", "", undefined, body), head = element("summary", "", undefined, fold);
      const title = element("h3", "", ordinal + 1 + ". " + item.title + " ", head);
      if (item.gain) element("span", "gain", item.gain, title);
      for (const pair of item.text || []) {
        const paragraph = element("p", "", "", fold);
        if (pair[0]) element("b", "", pair[0] + ": ", paragraph);
        paragraph.appendChild(document.createTextNode(pair[1]));
      }
      const buttons = showPlaces(fold, item.places || []);
      if (item.assumption) element("p", "small", item.assumption, fold);
      fold.open = isFirstOpen && ordinal === 0;
      head.addEventListener("click", function () {
        if (!fold.open && buttons.length) buttons[0].click();
      });
    });
  }

  function showPlaces(body, places) {
    const list = element("ul", "", undefined, body), buttons = [];
    for (const place of places) {
      const isSomewhere = Object.keys(place).some(function (name) { return name !== "name" && name !== "text"; });
      const line = element("li", "", undefined, list);
      const button = element(isSomewhere ? "button" : "span", isSomewhere ? "place" : "", place.name, line);
      if (place.text && place.text !== place.name) element("span", "", "  " + place.text, button);
      if (!isSomewhere) continue;
      buttons.push(button);
      button.addEventListener("click", function () {
        if (at.place) at.place.classList.remove("is-chosen");
        at.place = button;
        button.classList.add("is-chosen");
        goTo(place);
      });
    }
    return buttons;
  }

  function showFindings() {
    const body = byId("findings").querySelector(".body");
    showItems(body, page.findings, innerHeight >= TALL);
    if (!page.findings.length) element("p", "note", say("Nothing stands out."), body);
    if (page.about.numbers.length) {
      element("h3", "", say("Numbers"), body);
      const table = element("table", "", undefined, body);
      for (const number of page.about.numbers) {
        const row = element("tr", "", undefined, table);
        for (const text of number) element("td", "", text, row);
      }
    }
    for (const list of page.lists) {
      element("h2", "", list.title, body);
      if (list.rows) showPlaces(body, list.rows);
      else showItems(body, list.items, false);
    }
  }

  // -- the beginning --------------------------------------------------------------------------------------

  function start(bytes) {
    page = Rcv.unpacked(bytes);
    waves = Rcv.wavesOf(page);
    tokens = Rcv.tokensOf(page, waves);
    code = Rcv.codeOf(page);
    costs = Rcv.sourceCosts(code);
    device = Rcv.deviceOf(page);
    most = page.about.cycles;
    view = { begin: 0, end: most };
    byId("main").hidden = false;
    readColors();
    prepare();
    showHead();
    showFindings();
    showLists();
    listen();
    showUnit(0);
    const first = hottest.length ? code.row[hottest[0]] : -1;
    if (Rcv.anchor(location.hash)) goToAnchor();
    else selectLine(first);
    document.documentElement.dataset.ready = "yes";
  }

  function prepare() {
    costs.whole = code.cost.reduce(function (sum, cost) { return sum + cost; }, 0);
    costs.forEach(function (file) {
      file.top = Array.from(file.lines.values()).reduce(function (top, line) { return Math.max(top, line.cost); }, 1);
    });
    dearest = code.cost.reduce(function (top, cost) { return Math.max(top, cost); }, 1);
    hottest = Array.from(code.cost.keys()).filter(function (row) { return code.cost[row] > 0; });
    hottest.sort(function (a, b) { return code.cost[b] - code.cost[a]; });
    device.most = device.reduce(function (top, row) {
      row.strong = page.waves.units.includes(row.name);
      return row.waves.reduce(function (one, other) { return Math.max(one, other); }, top);
    }, 1);
    readArrows();
  }

  function showHead() {
    const about = page.about;
    byId("title").textContent = about.title;
    byId("title").title = about.kernel;
    const times = isSampled() ? [] : [grouped(about.cycles) + say(" cycles"), grouped(about.traced) + say(" waves traced")];
    byId("about").textContent = [about.capture, about.target, ...times].join(" · ");
    byId("verdict").textContent = about.verdict;
    byId("foot").textContent = about.left_out.concat(say("Written by ") + about.by + ".").join(" ");
    const ran = new Set(tokens.kind);
    about.kinds.forEach(function (kind, number) {
      if (!ran.has(number)) return;
      const one = element("span", "", undefined, byId("legend"));
      element("i", "", undefined, one).style.background = "var(--kind-" + kind[0] + ")";
      one.appendChild(document.createTextNode(kind[1]));
    });
    element("span", "", say("low and pale: stall"), byId("legend"));
  }

  function showLists() {
    unitView = Timeline("unit", UNIT_ROW);
    Object.assign(unitView, { paint: paintUnit, over: overUnit, tip: unitTip, pick: function (x, y) {
      const token = tokenOf(x, y), wave = waveAt(x, y);
      if (token >= 0) selectToken(token, false);
      else if (wave >= 0) showWave(wave);
    } });
    deviceView = Timeline("device", DEVICE_ROW);
    Object.assign(deviceView, { rows: device, paint: paintDevice, tip: deviceTip, pick: pickDevice });
    byId("device").hidden = !device.length;
    byId("unit").hidden = !waves.row.length;
    page.waves.units.forEach(function (name, unit) {
      const count = waves.unit.reduce(function (sum, one) { return sum + (one === unit ? 1 : 0); }, 0);
      element("option", "", name + ", " + count + (count === 1 ? say(" wave") : say(" waves")), byId("units")).value = String(unit);
    });
    isaList = List(byId("isa").querySelector(".list"), fillCode, drawArrows);
    isaList.have(code.row.length);
    sourceList = List(byId("source").querySelector(".list"), fillSource);
    const measures = isSampled() ? ["", "samples"] : ["hits", "latency"];
    for (const title of ["", "#", ...measures, "cost", "instruction", "source"])
      element("span", "hits latency samples #".includes(title) && title ? "n" : "", heading(title), byId("isa").querySelector(".head"));
    for (const title of ["line", "cost", "share", "text"])
      element("span", title === "line" || title === "share" ? "n" : "", heading(title), byId("source").querySelector(".head"));
    const order = Array.from(costs.keys()).sort(function (a, b) { return costs.get(b).cost - costs.get(a).cost; });
    for (const file of order) {
      const text = page.sources[file].name + "   " + percent(costs.get(file).cost, costs.whole);
      element("option", "", text, byId("files")).value = String(file);
    }
    if (order.length) showFile(order[0]);
    else byId("nosource").textContent = say("No instruction has a source place: build with line tables to see sources.");
  }

  function listen() {
    const on = function (id, name, act) { byId(id).addEventListener(name, act); };
    on("units", "change", function () { showUnit(Number(byId("units").value)); });
    on("files", "change", function () { at.source = -1; showFile(Number(byId("files").value)); });
    on("whole", "click", function () { setView({ begin: 0, end: most }); });
    on("in", "click", function () { setView(Rcv.zoomed(view, (view.begin + view.end) / 2, 0.5, most)); });
    on("out", "click", function () { setView(Rcv.zoomed(view, (view.begin + view.end) / 2, 2, most)); });
    on("previous", "click", function () { stepExecution(-1); });
    on("next", "click", function () { stepExecution(1); });
    on("hotter", "click", function () { stepCost(-1); });
    on("cooler", "click", function () { stepCost(1); });
    on("find", "keydown", function (event) { if (event.key === "Enter") find(event.shiftKey ? -1 : 1); });
    addEventListener("hashchange", goToAnchor);
    addEventListener("keydown", function (event) {
      if (/INPUT|SELECT/.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
      const acts = { ",": [stepExecution, -1], ".": [stepExecution, 1], h: [stepCost, 1], H: [stepCost, -1] };
      if (acts[event.key]) acts[event.key][0](acts[event.key][1]);
    });
    byId("isa").querySelector(".list").addEventListener("keydown", function (event) {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      const next = Math.min(code.row.length - 1, Math.max(0, hereAt() + by));
      selectLine(code.row[next]);
    });
    const redraw = function () { later(); isaList.draw(); sourceList.draw(); };
    new ResizeObserver(redraw).observe(byId("main"));
    for (const id of ["unit", "device"]) new ResizeObserver(later).observe(byId(id));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () { readColors(); redraw(); });
  }

  function find(by) {
    const text = byId("find").value.toLowerCase(), count = code.text.length;
    const fits = function (row) { return text && code.text[row].toLowerCase().includes(text); };
    let row = hereAt();
    for (let step = 0; step < count; step++) {
      row = (row + by + count) % count;
      if (!fits(row)) continue;
      selectLine(code.row[row]);
      const all = code.text.filter(function (_, at_) { return fits(at_); }).length;
      byId("found").textContent = grouped(all) + say(" found");
      return;
    }
    byId("found").textContent = text ? say("nothing found") : "";
  }

  function fail(error) {
    byId("problem").hidden = false;
    byId("problem").textContent = say("This page cannot be shown: ") + error.message + say(" Write it again with rcv report --interactive.");
  }

  const letters = byId("data").textContent;
  const isNative = typeof DecompressionStream === "function";
  const unpack = isNative
    ? new Response(new Blob([Rcv.fromBase64(letters)]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer()
    : Promise.resolve().then(function () { return Rcv.inflated(Rcv.fromBase64(letters)); });
  unpack.then(function (buffer) { start(new Uint8Array(buffer)); }).catch(fail);
})();
