
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = id => document.getElementById(id);
  const ALL = "all rows";
  const PAGE = 50;
  const NARROW = 680; // px
  const nameOf = segment => (segment === null ? ALL : data.names[segment]);
  const several = data.models.length > 1;

  // --- text ---------------------------------------------------------------------------------

  const isNumber = value => typeof value === "number";
  const count = value =>
    isNumber(value) ? value.toLocaleString("en", {maximumFractionDigits: 3}) : "";
  const texts = {
    text: value => value ?? "",
    count,
    rate: value => (isNumber(value) ? value.toFixed(3).replace(/^-(0\.0*)$/, "$1") : value ?? ""),
    p: value => (isNumber(value) ? (value < 0.001 ? "< 0.001" : String(Number(value.toPrecision(2)))) : ""),
  };

  /** Make an element with properties and children. */
  function make(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  const fill = (parent, ...children) => parent.replaceChildren(...children);
  const isolated = text => make("bdi", {textContent: text});

  // --- files --------------------------------------------------------------------------------

  function save(name, blob) {
    const link = make("a", {href: URL.createObjectURL(blob), download: name});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  function saveCsv(name, head, rows) {
    const cell = value => {
      const text = String(value ?? "");
      return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const lines = [head, ...rows].map(row => row.map(cell).join(","));
    save(name, new Blob([lines.join("\n") + "\n"], {type: "text/csv"}));
  }

  // --- the scorecard ------------------------------------------------------------------------

  const columns = data.columns;
  const chosen = new Set(data.chosen);
  const table = {sorted: null, descending: false, page: 0, size: PAGE, onPaper: false, rows: []};

  function compare(a, b) {
    if (a === null || b === null) return (a === null) - (b === null);
    const order = typeof a === "string" ? a.localeCompare(b) : a - b;
    return table.descending ? -order : order;
  }

  function order() {
    const text = byId("filter").value.trim().toLowerCase();
    const all = data.names.map((_, segment) => segment);
    table.rows = all.filter(segment => data.names[segment].toLowerCase().includes(text));
    if (table.sorted !== null) {
      const values = columns[table.sorted].values;
      table.rows.sort((a, b) => compare(values[a], values[b]) || a - b);
    }
  }

  function drawHead() {
    const heads = columns.map((column, place) => {
      // A browser does not print a button again on the next page.
      const button = table.onPaper ? make("span") : make("button", {type: "button"});
      if (column.model) button.append(make("bdi", {className: "model", textContent: column.model}));
      button.append(isolated(column.label));
      button.addEventListener("click", () => sortBy(place));
      const head = make("th", {scope: "col", className: column.kind}, button);
      if (place === table.sorted)
        head.setAttribute("aria-sort", table.descending ? "descending" : "ascending");
      return head;
    });
    fill(byId("scorecard").tHead, make("tr", {}, ...heads));
  }

  function sortBy(place) {
    table.descending = table.sorted === place ? !table.descending : false;
    table.sorted = place;
    table.page = 0;
    draw();
    byId("scorecard").tHead.rows[0].cells[place].firstChild.focus();
  }

  function cell(column, segment) {
    const text = texts[column.kind](column.values[segment]);
    const low = column.low?.[segment];
    const found = make("td", {className: column.kind}, text);
    if (isNumber(low)) found.append(" ", interval(low, column.high[segment]));
    return found;
  }

  const interval = (low, high) => make("span", {
    className: "interval", textContent: `[${texts.rate(low)}, ${texts.rate(high)}]`,
  });

  function nameCell(segment) {
    const box = make("input", {
      type: "checkbox",
      checked: chosen.has(segment),
      disabled: !data.shown.includes(segment),
    });
    if (box.disabled) box.title = "Its curve is not in this page";
    box.addEventListener("change", () => {
      if (box.checked) {
        choose(segment);
      } else {
        chosen.delete(segment);
        draw();
        redraw("curves");
      }
      document.querySelector(`[data-segment="${segment}"]`)?.focus();
    });
    box.dataset.segment = segment;
    const label = make("label", {}, box, " ", isolated(data.names[segment]));
    const note = columns[0].notes[segment];
    return make("th", {scope: "row"}, label,
      ...(note ? [" ", make("span", {className: "few", textContent: note})] : []));
  }

  function draw() {
    order();
    drawHead();
    const pages = Math.max(1, Math.ceil(table.rows.length / table.size));
    table.page = Math.min(table.page, pages - 1);
    const rows = table.rows.slice(table.page * table.size).slice(0, table.size);
    fill(byId("scorecard").tBodies[0], ...rows.map(segment =>
      make("tr", {}, nameCell(segment), ...columns.slice(1).map(column => cell(column, segment)))));
    byId("count").textContent = `${count(table.rows.length)} of ${count(data.names.length)} segments`;
    byId("page").textContent = `Page ${table.page + 1} of ${pages}`;
    byId("before").disabled = table.page === 0;
    byId("after").disabled = table.page === pages - 1;
    byId("pages").hidden = pages === 1;
  }

  /** Show all rows on paper, which has no next page of the table. */
  function print(onPaper) {
    const size = onPaper ? Math.max(data.names.length, PAGE) : PAGE;
    Object.assign(table, {onPaper, size, page: 0});
    draw();
  }

  function turn(by) {
    table.page += by;
    draw();
  }

  function scorecardCsv() {
    const wide = columns.flatMap(column => {
      const name = [column.model, column.label].filter(Boolean).join(": ");
      const ends = column.low ? [[`${name} low`, column.low], [`${name} high`, column.high]] : [];
      return [[name, column.values], ...ends];
    });
    const rows = table.rows.map(segment => wide.map(([, values]) => values[segment]));
    saveCsv("scorecard.csv", wide.map(([name]) => name), rows);
  }

  // --- pictures -----------------------------------------------------------------------------

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const views = {};

  /** Return a chart of one panel that fits a narrow screen, with its legend below. */
  function fitted(spec, width) {
    if (!isNumber(spec.width) || width >= NARROW) return spec;
    const legend = {...spec.config.legend, orient: "bottom"};
    return {...spec, width: width - 60, height: 260, config: {...spec.config, legend}};
  }

  async function embed(name) {
    const picture = document.querySelector(`#${name} .picture`);
    const {light, dark: onDark} = data.charts[name];
    const datasets = {...light.datasets, ...setsOf[name]?.()};
    const spec = fitted({...(dark.matches ? onDark : light), datasets}, picture.clientWidth);
    const {view} = await vegaEmbed(picture, spec, {
      actions: false, ast: true, defaultStyle: false, renderer: "svg", hover: false,
      tooltip: {disableDefaultStyle: true},
    });
    views[name] = view;
    // Read aloud as one picture: its numbers are in the tables.
    const caption = byId(name).querySelector("figcaption .title").textContent;
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", caption);
    picture.querySelector("svg").setAttribute("aria-hidden", "true");
  }

  /** Draw a picture again: what the reader chose has changed. */
  async function redraw(name) {
    const sets = setsOf[name]?.();
    // A chart without data has no size, so it is hidden.
    const isEmpty = sets && !Object.values(sets)[0].length;
    byId(name).hidden = isEmpty;
    if (isEmpty) return;
    if (!views[name]) {
      await embed(name);
      return;
    }
    for (const [set, rows] of Object.entries(sets)) views[name].data(set, rows);
    await views[name].runAsync();
  }

  async function embedAll() {
    for (const name of Object.keys(data.charts)) {
      delete views[name];
      await redraw(name);
    }
    document.body.dataset.drawn = "yes";
  }

  function saveButtons(name) {
    const button = (text, action) => {
      const found = make("button", {type: "button"}, text);
      found.setAttribute("aria-label", `${text}: ${byId(name).querySelector("figcaption .title").textContent}`);
      found.addEventListener("click", action);
      return found;
    };
    const image = async kind => {
      const url = await views[name].toImageURL(kind, kind === "png" ? 2 : 1);
      make("a", {href: url, download: `${name}.${kind}`}).click();
    };
    byId(name).append(make("div", {className: "tools save"},
      button("Save PNG", () => image("png")),
      button("Save SVG", () => image("svg")),
      button("Save CSV", csvOf[name])));
  }

  // --- curves and thresholds ----------------------------------------------------------------

  const grid = data.thresholds.grid;
  const slider = byId("threshold");
  const lineName = line => `${line.model} ${line.segment}`;
  const seriesOf = line => (data.hasKeys || !several ? nameOf(line.segment) : data.models[line.model]);
  const chosenLines = lines => [...chosen].flatMap(segment =>
    lines.filter(line => line.segment === segment));

  function curveRows() {
    return chosenLines(data.curves).flatMap(line => line.recall.map((recall, i) => ({
      line: lineName(line), series: seriesOf(line), model: data.models[line.model],
      threshold: line.threshold[i], recall, precision: line.precision[i],
      height: line.height[i],
    })));
  }

  function at(line, place) {
    return {
      line: lineName(line), series: seriesOf(line), model: data.models[line.model],
      threshold: grid[place], tp: line.tp[place], fp: line.fp[place], fn: line.fn[place],
      tn: line.tn[place], predicted: line.predicted[place],
      predicted_rate: line.predicted_rate[place], precision: line.precision[place],
      recall: line.recall[place], F1: line.F1[place],
      precision_low: line.precision_low[place], precision_high: line.precision_high[place],
      recall_low: line.recall_low[place], recall_high: line.recall_high[place],
    };
  }

  const MEASURES = [["precision", "Precision"], ["recall", "Recall"], ["F1", "F1"]];
  const COUNTS = [
    ["predicted", "Alerts", count],
    ["precision", "Precision", texts.rate], ["recall", "Recall", texts.rate],
    ["F1", "F1", texts.rate], ["predicted_rate", "Share of rows", texts.rate],
    ["tp", "TP", count], ["fp", "FP", count], ["fn", "FN", count], ["tn", "TN", count],
  ];

  const folded = points => points.flatMap(point => MEASURES.map(([key, measure]) => (
    {line: `${point.line} ${key}`, model: point.model, threshold: point.threshold,
      measure, value: point[key]})));
  const where = () => (byId("where").value === "" ? null : Number(byId("where").value));
  const linesHere = () => data.thresholds.lines.filter(line => line.segment === where());

  const rateRows = () => linesHere().flatMap(line => grid.map((_, place) => at(line, place)));
  const pointsHere = () => linesHere().map(line => at(line, Number(slider.value)));

  // The data sets of the pictures that the reader changes.
  const setsOf = {
    curves: () => ({
      curves: curveRows(),
      prevalences: chosenLines(data.curves).map(line => (
        {series: seriesOf(line), prevalence: line.prevalence})),
      marks: chosenLines(data.thresholds.lines)
        .map(line => at(line, Number(slider.value)))
        .filter(mark => mark.precision !== null),
    }),
    thresholds: () => ({
      rates: folded(rateRows()),
      at: grid.length ? [{threshold: grid[Number(slider.value)]}] : [],
      dots: folded(pointsHere()),
    }),
  };

  function showCounts() {
    const text = data.thresholds.texts[Number(slider.value)];
    slider.setAttribute("aria-valuetext", text);
    byId("near").value = text;
    drawCounts(pointsHere(), text);
  }

  function drawThreshold() {
    showCounts();
    return Promise.all([redraw("curves"), redraw("thresholds")]);
  }

  function drawCounts(points, threshold) {
    const counts = byId("counts");
    const relation = data.ascending ? "≤" : "≥";
    fill(counts.caption, make("span", {},
      `Alerts at a score ${relation} ${threshold}, in `, isolated(nameOf(where()))));
    const head = ["Model", ...COUNTS.map(([, label]) => label)];
    fill(counts.tHead, make("tr", {}, ...head.map(text =>
      make("th", {scope: "col", textContent: text}))));
    fill(counts.tBodies[0], ...points.map(point => make("tr", {},
      make("th", {scope: "row"}, isolated(point.model)),
      ...COUNTS.map(([key, , text]) => countCell(point, key, text)))));
  }

  function countCell(point, key, text) {
    const found = make("td", {}, text(point[key]));
    const low = point[`${key}_low`];
    if (isNumber(low)) found.append(" ", interval(low, point[`${key}_high`]));
    return found;
  }

  /** Draw the curve of a segment, and show its numbers at the threshold. */
  function choose(segment) {
    if (!chosen.has(segment) && chosen.size >= data.mostChosen) chosen.delete([...chosen][0]);
    chosen.add(segment);
    draw();
    if (!grid.length) return;
    byId("where").value = segment;
    drawThreshold();
  }

  function lookAt(segment) {
    choose(segment);
    byId("curves-title").scrollIntoView();
    byId("near").focus({preventScroll: true});
  }

  /** Return the place of the threshold that is nearest to a number. */
  function placeNear(wanted) {
    const distances = grid.map(threshold => Math.abs(threshold - wanted));
    return distances.indexOf(Math.min(...distances));
  }

  function moveNear() {
    if (byId("near").value !== "") slider.value = placeNear(Number(byId("near").value));
    drawThreshold();
  }

  const columnsOf = rows => (rows.length ? Object.keys(rows[0]) : []);
  const csvRows = (name, rows) =>
    saveCsv(name, columnsOf(rows), rows.map(row => Object.values(row)));
  const csvOf = {
    areas: scorecardCsv,
    curves: () => csvRows("curves.csv", curveRows()),
    thresholds: () => csvRows("thresholds.csv", rateRows()),
  };

  // --- wide tables --------------------------------------------------------------------------

  /** Say above a table that it goes on at the side, if it does. */
  function hintAtSides() {
    const widths = new ResizeObserver(entries => entries.forEach(({target}) => {
      const box = target.closest(".scroll");
      box.previousElementSibling.hidden = box.scrollWidth <= box.clientWidth + 1;
    }));
    for (const box of document.querySelectorAll(".scroll")) {
      box.before(make("p", {
        className: "hint", hidden: true, textContent: "This table goes on at the side: scroll it →",
      }));
      widths.observe(box);
      widths.observe(box.querySelector("table"));
    }
  }

  // --- start --------------------------------------------------------------------------------

  function startSlider() {
    const segments = [...new Set(data.thresholds.lines.map(line => line.segment))];
    if (!segments.length || !grid.length) {
      byId("no-curves").hidden = false;
      byId("slider").hidden = byId("counts-scroll").hidden = byId("counts-note").hidden = true;
      return;
    }
    fill(byId("where"), ...segments.map(segment =>
      make("option", {value: segment ?? "", textContent: nameOf(segment)})));
    slider.max = grid.length - 1;
    const {start} = data.thresholds;
    slider.value = isNumber(start) ? placeNear(start) : Math.floor(grid.length / 2);
    slider.addEventListener("input", drawThreshold);
    byId("near").addEventListener("change", moveNear);
    byId("where").addEventListener("change", drawThreshold);
  }

  for (const button of document.querySelectorAll("[data-look]"))
    button.addEventListener("click", () => lookAt(Number(button.dataset.look)));
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  byId("filter").addEventListener("input", () => { table.page = 0; draw(); });
  byId("before").addEventListener("click", () => turn(-1));
  byId("after").addEventListener("click", () => turn(1));
  byId("table-csv").addEventListener("click", scorecardCsv);
  startSlider();
  draw();
  hintAtSides();
  if (grid.length) showCounts();
  Object.keys(data.charts).forEach(saveButtons);
  dark.addEventListener("change", embedAll);
  embedAll();
})();
