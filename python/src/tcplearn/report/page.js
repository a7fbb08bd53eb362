// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Fills the pictures' data from the page's columns, draws them one after the other, sorts the tables.
(function () {
  "use strict";

  const page = JSON.parse(document.getElementById("page-data").textContent);

  function bandRows(c) {
    return c.t.map((t, i) => ({ t: t, low: c.low[i], high: c.high[i] })).filter((r) => r.low && r.high);
  }

  function lineRows(c) {
    const rows = [];
    for (const e of Object.keys(c.prediction)) {
      c.t.forEach((t, i) => rows.push({ t: t, e: e, p: c.prediction[e][i], r: c.rto[e][i] }));
    }
    return rows;
  }

  function cdfRows(c) {
    const rows = [];
    for (const e of Object.keys(c)) {
      c[e].x.forEach((x, i) => { if (x !== null) rows.push({ e: e, x: x, y: c[e].y[i] }); });
    }
    return rows;
  }

  function filled(picture) {
    const spec = picture.spec;
    const columns = page.flows[picture.flow];
    if (picture.kind === "time") {
      spec.datasets = { band: bandRows(columns.series), lines: lineRows(columns.series) };
    } else if (picture.kind === "errors") {
      spec.datasets = { cdf: cdfRows(columns.cdf) };
    }
    return spec;
  }

  // Pixels beside a plot for its axis, of a character in a title, of a name in a legend.
  const AXIS = 76, CHARACTER = 7.4, NAME = 150, PLOT_LEAST = 200;

  function lines(words, room) {
    const most = Math.floor(room / CHARACTER), out = [""];
    for (const word of words.split(" ")) {
      const last = out[out.length - 1];
      if (last && last.length + word.length >= most) out.push(word);
      else out[out.length - 1] = last ? `${last} ${word}` : word;
    }
    return out.length > 1 ? out : words;
  }

  // Plots, legends and titles of a specification made to fit so many pixels.
  function fitted(spec, room) {
    if (Array.isArray(spec)) return spec.map((part) => fitted(part, room));
    if (spec === null || typeof spec !== "object") return spec;
    const out = {};
    for (const [key, value] of Object.entries(spec)) {
      if (key === "datasets" || key === "data" || key === "config") out[key] = value;
      else if (key === "width" && typeof value === "number") out[key] = Math.min(value, Math.max(PLOT_LEAST, room - AXIS));
      else if (key === "columns") out[key] = Math.max(1, Math.min(value, Math.floor(room / NAME)));
      else if ((key === "title" || key === "text" || key === "subtitle") && typeof value === "string") {
        out[key] = lines(value, room);
      } else if (key === "subtitle" && Array.isArray(value)) out[key] = value.flatMap((line) => lines(line, room));
      else if (key === "hconcat") out.vconcat = value.map((part) => labelled(fitted(part, room)));
      else out[key] = fitted(value, room);
    }
    return out;
  }

  // A panel that is no longer beside the one that had the labels of its rows.
  function labelled(panel) {
    for (const layer of panel.layer || [panel]) {
      const axis = layer.encoding && layer.encoding.y && layer.encoding.y.axis;
      if (axis && axis.labels === false) axis.labels = true;
    }
    return panel;
  }

  const options = {
    mode: "vega-lite",
    renderer: "svg",
    ast: true, // expressions are interpreted: the page's policy forbids to compile them
    actions: { export: true, source: false, compiled: false, editor: false },
  };

  async function draw() {
    for (const picture of page.pictures) {
      const place = document.getElementById(picture.id);
      try {
        const room = place.clientWidth, how = Object.assign({ downloadFileName: picture.file }, options);
        const spec = filled(picture), wide = () => place.querySelector("svg").getAttribute("width") > room;
        await vegaEmbed(place, spec, how);
        if (wide() && picture.narrow) await vegaEmbed(place, picture.narrow, how);
        if (wide()) await vegaEmbed(place, fitted(picture.narrow || spec, room), how);
      } catch (error) {
        place.textContent = "This picture could not be drawn: " + error;
      }
      place.classList.remove("waiting");
      picture.spec = picture.narrow = null;
    }
    document.documentElement.dataset.drawn = "all";
  }

  function sortBy(header) {
    const body = header.closest("table").tBodies[0];
    const up = header.getAttribute("aria-sort") !== "ascending";
    for (const other of header.parentNode.children) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = (row) => row.cells[header.cellIndex].dataset.value;
    const missing = (value) => value === undefined || value === "";
    const compare = (a, b) => {
      if (missing(a) || missing(b)) return missing(a) - missing(b);
      const order = isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b;
      return up ? order : -order;
    };
    Array.from(body.rows).sort((a, b) => compare(key(a), key(b))).forEach((row) => body.appendChild(row));
  }

  document.querySelectorAll("thead button").forEach((button) => {
    button.addEventListener("click", () => sortBy(button.closest("th")));
  });
  draw();
})();
