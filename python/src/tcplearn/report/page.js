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

  const options = {
    mode: "vega-lite",
    renderer: "svg",
    actions: { export: true, source: false, compiled: false, editor: false },
  };

  async function draw() {
    for (const picture of page.pictures) {
      const place = document.getElementById(picture.id);
      try {
        await vegaEmbed(place, filled(picture), Object.assign({ downloadFileName: picture.file }, options));
      } catch (error) {
        place.textContent = "This picture could not be drawn: " + error;
      }
      place.classList.remove("waiting");
      picture.spec = null;
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
