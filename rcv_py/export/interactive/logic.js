"use strict";
// What the page computes, without looking at the page: unpacking, searching and summing up.  `packed.py` and
// `content.py` write what is read here.  Times count from the capture's begin, in cycles.
const Rcv = (function () {
  // -- unpacking: Base64, zlib (RFC 1950 and 1951), columns ----------------------------------------------

  const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

  function fromBase64(text) {
    const value = new Uint8Array(128);
    for (let at = 0; at < 64; at++) value[DIGITS.charCodeAt(at)] = at;
    let size = text.length;
    while (size && text[size - 1] === "=") size--;
    const bytes = new Uint8Array((size * 3) >> 2);
    let held = 0, bits = 0, to = 0;
    for (let at = 0; at < size; at++) {
      held = ((held << 6) | value[text.charCodeAt(at)]) & 0xffff;
      bits += 6;
      if (bits >= 8) bytes[to++] = held >> (bits -= 8);
    }
    return bytes;
  }

  const LENGTHS = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131,
    163, 195, 227, 258];
  const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
  const BACK = [1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049,
    3073, 4097, 6145, 8193, 12289, 16385, 24577];
  const BACK_BITS = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12,
    13, 13];
  const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

  // How many codes of each length there are, and their symbols in order.
  function codesOf(lengths) {
    const count = new Uint16Array(16), next = new Uint16Array(16), symbol = new Uint16Array(lengths.length);
    for (const length of lengths) count[length]++;
    count[0] = 0;
    for (let at = 1; at < 15; at++) next[at + 1] = next[at] + count[at];
    for (let at = 0; at < lengths.length; at++) if (lengths[at]) symbol[next[lengths[at]]++] = at;
    return { count: count, symbol: symbol };
  }

  function inflated(bytes) {
    let at = 2, held = 0, bits = 0, size = 0;
    let out = new Uint8Array(Math.max(1024, bytes.length * 4));

    function take(count) {
      while (bits < count) {
        if (at >= bytes.length) throw new Error("The data of this page ends too early.");
        held |= bytes[at++] << bits;
        bits += 8;
      }
      const value = held & ((1 << count) - 1);
      held >>>= count;
      bits -= count;
      return value;
    }

    function symbol(codes) {
      let code = 0, first = 0, index = 0;
      for (let length = 1; length < 16; length++) {
        code |= take(1);
        const count = codes.count[length];
        if (code - count < first) return codes.symbol[index + code - first];
        index += count;
        first = (first + count) << 1;
        code <<= 1;
      }
      throw new Error("The data of this page is damaged.");
    }

    function room(count) {
      if (size + count <= out.length) return;
      const larger = new Uint8Array(Math.max(size + count, 2 * out.length));
      larger.set(out.subarray(0, size));
      out = larger;
    }

    function described() {
      const literals = take(5) + 257, backs = take(5) + 1, count = take(4) + 4;
      const own = new Uint8Array(19);
      for (let index = 0; index < count; index++) own[ORDER[index]] = take(3);
      const codes = codesOf(own), lengths = new Uint8Array(literals + backs);
      for (let index = 0; index < lengths.length;) {
        const what = symbol(codes);
        if (what < 16) {
          lengths[index++] = what;
          continue;
        }
        const value = what === 16 ? lengths[index - 1] : 0;
        let times = what === 16 ? 3 + take(2) : what === 17 ? 3 + take(3) : 11 + take(7);
        while (times--) lengths[index++] = value;
      }
      return [codesOf(lengths.subarray(0, literals)), codesOf(lengths.subarray(literals))];
    }

    function fixed() {
      const lengths = new Uint8Array(288).fill(8);
      lengths.fill(9, 144, 256);
      lengths.fill(7, 256, 280);
      return [codesOf(lengths), codesOf(new Uint8Array(30).fill(5))];
    }

    function coded(pair) {
      for (;;) {
        const what = symbol(pair[0]);
        if (what === 256) return;
        if (what < 256) {
          room(1);
          out[size++] = what;
          continue;
        }
        const length = LENGTHS[what - 257] + take(LENGTH_BITS[what - 257]);
        const far = symbol(pair[1]), back = BACK[far] + take(BACK_BITS[far]);
        room(length);
        for (let index = 0; index < length; index++, size++) out[size] = out[size - back];
      }
    }

    function stored() {
      held = bits = 0;
      const length = bytes[at] | (bytes[at + 1] << 8);
      at += 4;
      room(length);
      out.set(bytes.subarray(at, at + length), size);
      at += length;
      size += length;
    }

    for (let isLast = 0; !isLast;) {
      isLast = take(1);
      const kind = take(2);
      if (kind === 0) stored();
      else coded(kind === 1 ? fixed() : described());
    }
    return out.subarray(0, size);
  }

  function ascii(bytes) {
    const parts = [];
    for (let at = 0; at < bytes.length; at += 8192)
      parts.push(String.fromCharCode.apply(null, Array.from(bytes.subarray(at, at + 8192))));
    return parts.join("");
  }

  // The document, with every column as an array of numbers in `document.columns`.
  function unpacked(bytes) {
    const size = bytes[0] | (bytes[1] << 8) | (bytes[2] << 16) | (bytes[3] << 24);
    const document = JSON.parse(ascii(bytes.subarray(4, 4 + size))), data = bytes.subarray(4 + size);
    for (const name of Object.keys(document.columns))
      document.columns[name] = column(document.columns[name], data);
    return document;
  }

  function column(place, data) {
    const values = new Float64Array(place.rows);
    let wide = place.at + place.rows;
    for (let row = 0; row < place.rows; row++) {
      let value = data[place.at + row];
      if (value === 255) {
        value = 0;
        for (let byte = 7; byte >= 0; byte--) value = value * 256 + data[wide + byte];
        wide += 8;
      }
      if (place.signed) value = value % 2 ? -(value + 1) / 2 : value / 2;
      values[row] = value * place.unit;
    }
    return values;
  }

  function summed(steps) {
    let sum = 0;
    return steps.map(function (step) { return sum += step; });
  }

  // -- what columns mean ----------------------------------------------------------------------------------

  function wavesOf(document) {
    const columns = document.columns, names = ["se", "simd", "slot", "wid", "begin"], found = {};
    for (const name of names) found[name] = summed(columns["wave." + name]);
    found.row = summed(columns["wave.row"]);
    found.unit = columns["wave.unit"];
    found.end = found.begin.map(function (begin, at) { return begin + columns["wave.length"][at]; });
    found.first = new Uint32Array(found.row.length + 1);
    columns["wave.tokens"].forEach(function (count, at) { found.first[at + 1] = found.first[at] + count; });
    found.place = new Map();
    found.row.forEach(function (row, at) { found.place.set(row, at); });
    return found;
  }

  function waveName(waves, at) {
    return "se" + waves.se[at] + "/simd" + waves.simd[at] + "/slot" + waves.slot[at] + "/wv" + waves.wid[at];
  }

  // Tokens of all waves below each other: start, stall, busy, line and kind.
  function tokensOf(document, waves) {
    const columns = document.columns, gap = columns["token.gap"], step = columns["token.line"];
    const stall = columns["token.stall"], busy = columns["token.busy"];
    const start = new Float64Array(gap.length), line = new Int32Array(gap.length);
    for (let wave = 0; wave < waves.row.length; wave++) {
      let time = waves.begin[wave], next = 0;
      for (let at = waves.first[wave]; at < waves.first[wave + 1]; at++) {
        start[at] = time += gap[at];
        time += stall[at] + busy[at];
        line[at] = next + step[at];
        next = line[at] + 1;
      }
    }
    return { start: start, stall: stall, busy: busy, line: line, kind: columns["token.kind"] };
  }

  function codeOf(document) {
    const columns = document.columns, code = { text: document.code.text };
    for (const name of ["hits", "latency", "stall", "idle", "label"]) code[name] = columns["code." + name];
    for (const name of ["row", "file", "line"]) code[name] = summed(columns["code." + name]);
    code.cost = code.latency.map(function (latency, at) { return latency + code.idle[at]; });
    code.place = new Map();
    code.row.forEach(function (row, at) { code.place.set(row, at); });
    return code;
  }

  // What instructions of a source line cost: a map from file to {cost, lines: map from line to {cost, rows}}.
  function sourceCosts(code) {
    const files = new Map();
    for (let at = 0; at < code.row.length; at++) {
      if (code.file[at] < 0 || code.label[at]) continue;
      if (!files.has(code.file[at])) files.set(code.file[at], { cost: 0, lines: new Map() });
      const file = files.get(code.file[at]);
      if (!file.lines.has(code.line[at])) file.lines.set(code.line[at], { cost: 0, rows: [] });
      const line = file.lines.get(code.line[at]);
      file.cost += code.cost[at];
      line.cost += code.cost[at];
      line.rows.push(at);
    }
    return files;
  }

  // Steps of each compute unit: times and waves from then on.
  function deviceOf(document) {
    const columns = document.columns;
    let first = 0;
    return document.device.rows.map(function (name, at) {
      const stop = first + columns["device.steps"][at];
      const row = {
        name: name,
        time: summed(columns["device.time"].subarray(first, stop)),
        waves: summed(columns["device.waves"].subarray(first, stop)),
      };
      first = stop;
      return row;
    });
  }

  // -- searching ------------------------------------------------------------------------------------------

  // The first place in [low, high) whose value is above `value`; `high` if there is none.
  function above(values, value, low, high) {
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] > value) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  // The token of a wave at a time, -1 if there is none; of tokens that overlap the last that began.
  function tokenAt(tokens, first, stop, time) {
    const last = above(tokens.start, time, first, stop) - 1;
    for (let at = last; at >= first && at > last - 64; at--)
      if (tokens.start[at] + Math.max(1, tokens.stall[at] + tokens.busy[at]) > time) return at;
    return -1;
  }

  function executions(tokens, line) {
    const found = [];
    for (let at = 0; at < tokens.line.length; at++) if (tokens.line[at] === line) found.push(at);
    return found;
  }

  function waveOfToken(waves, token) {
    return above(waves.first, token, 0, waves.first.length) - 1;
  }

  // `#line-118`, `#wave-se0-sm2-sl5-wv3@126704`, `#@126704`: what they name, null for anything else.
  function anchor(text) {
    const line = /^#line-(\d{1,9})$/.exec(text);
    if (line) return { line: Number(line[1]) };
    const wave = /^#(?:wave-se(\d{1,5})-sm(\d{1,5})-sl(\d{1,5})-wv(\d{1,9}))?(?:@(-?\d{1,18}))?$/.exec(text);
    if (!wave || text === "#") return null;
    const found = {};
    if (wave[1]) found.wave = "se" + wave[1] + "/simd" + wave[2] + "/slot" + wave[3] + "/wv" + wave[4];
    if (wave[5]) found.cycle = Number(wave[5]);
    return found;
  }

  // -- drawing --------------------------------------------------------------------------------------------

  const STALL = 32, FAINT = 64, LEAST = 0.35; // codes of pixels, and the share below which one is faint

  // The code of each pixel of a row: 1 + kind of what has most of its time, with STALL if that is its stall,
  // with FAINT if all is little of the pixel's time; 0 where there is nothing.
  function raster(tokens, first, stop, begin, cycles, out) {
    const width = out.length, share = new Float64Array(64), used = [];
    let pixel = -1, best = 0, most = 0, all = 0;

    function flush() {
      if (pixel >= 0 && pixel < width && all > 0) out[pixel] = best | (all < LEAST * cycles ? FAINT : 0);
      while (used.length) share[used.pop()] = 0;
      best = most = all = 0;
    }

    function add(at, code, amount) {
      if (at !== pixel) {
        flush();
        pixel = at;
      }
      if (!share[code]) used.push(code);
      share[code] += amount;
      all += amount;
      if (share[code] > most) {
        most = share[code];
        best = code;
      }
    }

    function span(from, to, code) {
      const low = (from - begin) / cycles, high = (to - begin) / cycles;
      if (high <= 0 || low >= width) return;
      const left = Math.floor(low), right = Math.floor(high);
      if (left === right) return add(left, code, to - from);
      if (left >= 0) add(left, code, (left + 1 - low) * cycles);
      if (right > left + 1) {
        flush();
        pixel = -1;
        out.fill(code, Math.max(0, left + 1), Math.min(width, right));
      }
      if (right < width && high > right) add(right, code, (high - right) * cycles);
    }

    for (let at = first; at < stop; at++) {
      const start = tokens.start[at], issue = start + tokens.stall[at], code = 1 + (tokens.kind[at] & 15);
      if (tokens.stall[at]) span(start, issue, code | STALL);
      if (tokens.busy[at] || !tokens.stall[at]) span(issue, issue + Math.max(1, tokens.busy[at]), code);
    }
    flush();
  }

  // The most waves in each pixel of a compute unit.
  function rasterSteps(row, begin, cycles, out) {
    const stop = begin + cycles * out.length;
    for (let at = Math.max(0, above(row.time, begin, 0, row.time.length) - 1); at < row.time.length; at++) {
      if (row.time[at] >= stop) break;
      const until = at + 1 < row.time.length ? row.time[at + 1] : row.time[at];
      const left = Math.max(0, Math.floor((row.time[at] - begin) / cycles));
      const right = Math.min(out.length - 1, Math.ceil((until - begin) / cycles) - 1);
      for (let pixel = left; pixel <= right; pixel++) out[pixel] = Math.max(out[pixel], row.waves[at]);
    }
  }

  // Round times between two, about `count` of them.
  function ticks(begin, end, count) {
    const rough = Math.max(1, (end - begin) / Math.max(1, count));
    const power = Math.pow(10, Math.floor(Math.log(rough) / Math.LN10 + 1e-9));
    const step = power * [1, 2, 5, 10].find(function (times) { return power * times >= 0.8 * rough; });
    const found = [];
    for (let at = Math.ceil(begin / step) * step; at <= end; at += step) found.push(at);
    return found;
  }

  // Which of `most` lanes each arrow takes, short ones first and nearest to the text; -1 where there is none.
  function lanes(arrows, most) {
    const order = arrows.map(function (_, at) { return at; });
    const length = function (one) { return Math.abs(one.to - one.from); };
    order.sort(function (a, b) { return length(arrows[a]) - length(arrows[b]) || a - b; });
    const taken = [], found = new Array(arrows.length).fill(-1);
    for (const at of order) {
      const low = Math.min(arrows[at].from, arrows[at].to), high = Math.max(arrows[at].from, arrows[at].to);
      for (let lane = 0; lane < most && found[at] < 0; lane++) {
        const own = taken[lane] = taken[lane] || [];
        if (own.some(function (one) { return one[0] <= high && one[1] >= low; })) continue;
        own.push([low, high]);
        found[at] = lane;
      }
    }
    return found;
  }

  // A window of time after a zoom by `factor` about a time, kept inside of [0, most] and not below 16 cycles.
  function zoomed(window, about, factor, most) {
    const width = Math.min(most, Math.max(16, (window.end - window.begin) * factor));
    const begin = about - ((about - window.begin) * width) / (window.end - window.begin);
    return moved({ begin: begin, end: begin + width }, 0, most);
  }

  function moved(window, by, most) {
    const width = Math.min(most, window.end - window.begin);
    const begin = Math.min(Math.max(0, window.begin + by), most - width);
    return { begin: begin, end: begin + width };
  }

  return {
    above: above, anchor: anchor, codeOf: codeOf, deviceOf: deviceOf, executions: executions, FAINT: FAINT,
    fromBase64: fromBase64, inflated: inflated, lanes: lanes, moved: moved, raster: raster,
    rasterSteps: rasterSteps, sourceCosts: sourceCosts, STALL: STALL, ticks: ticks, tokenAt: tokenAt,
    tokensOf: tokensOf, unpacked: unpacked, waveName: waveName, waveOfToken: waveOfToken, wavesOf: wavesOf,
    zoomed: zoomed,
  };
})();
