
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = id => document.getElementById(id);
  const ALL = "all rows";
  const PAGE = 50;
  const NARROW = 680, BESIDE_PANELS = 190, MOST_WIDENED = 420; // px
  const ROWS = {good: 31 * data.models.length, models: 26 * (data.models.length - 1)};  // px
  const OF_SMALL = 0.48; // of the height of a picture, beside an answer on a narrow screen
  const FEW_ALERTS = 20;
  const nameOf = segment => (segment === null ? ALL : data.names[segment]);
  const several = data.models.length > 1;
  const WHOLE = data.names.length > 1 ? null : 0;  // the segment of all rows

  // --- text ---------------------------------------------------------------------------------

  const isNumber = value => typeof value === "number";
  const count = value =>
    isNumber(value) ? value.toLocaleString("en", {maximumFractionDigits: 3}) : "";
  const texts = {
    text: value => value ?? "",
    count,
    rate: value => (isNumber(value)
      ? value.toFixed(3).replace(/^-(0\.0*)$/, "$1").replace("-", "−") : value ?? ""),
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
  /** Return a name that may go on in the next line after a mark in it. */
  const breakable = name =>
    make("bdi", {}, ...name.split(/(?<=[_./-])/).flatMap(part => [part, make("wbr")]));

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
    const all = table.onPaper && data.names.length > 2 * PAGE
      ? data.order.filter(segment => data.shown.includes(segment)) : data.order;
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
    const said = column.said?.[segment];
    const low = column.low?.[segment];
    const both = said && text ? `${said}, p\u00a0${text.replace(" ", "\u00a0")}` : said || text;
    const found = make("td", {className: column.kind}, both);
    if (isNumber(low)) found.append(" ", interval(low, column.high[segment]));
    if (column.kind === "p" && !(column.values[segment] < data.alpha)) found.classList.add("muted");
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
        unchoose(segment);
      }
      document.querySelector(`[data-segment="${segment}"]`)?.focus();
    });
    box.dataset.segment = segment;
    const label = make("label", {}, box, " ", isolated(data.names[segment]));
    const note = columns[0].notes[segment];
    return make("th", {scope: "row"}, label,
      ...(note ? [" ", make("span", {className: "few", textContent: note})] : []));
  }

  const rowOf = segment => make("tr", {className: data.standings[segment]},
    nameCell(segment), ...columns.slice(1).map(column => cell(column, segment)));

  function draw() {
    if (!byId("scorecard")) return;
    order();
    drawHead();
    const pages = Math.max(1, Math.ceil(table.rows.length / table.size));
    table.page = Math.min(table.page, pages - 1);
    const rows = table.rows.slice(table.page * table.size).slice(0, table.size);
    const nothing = make("td", {
      className: "nothing", colSpan: columns.length, textContent: "No segment matches",
    });
    fill(byId("scorecard").tBodies[0], ...rows.map(rowOf),
      ...(rows.length ? [] : [make("tr", {}, nothing)]));
    byId("count").textContent = `${count(table.rows.length)} of ${count(data.names.length)} segments`;
    byId("page").textContent = `Page ${table.page + 1} of ${pages}`;
    byId("before").disabled = table.page === 0;
    byId("after").disabled = table.page === pages - 1;
    byId("pages").hidden = pages === 1;
  }

  const closed = [];  // details that are open on paper alone

  /** Show all rows and details on paper, which has no next page; of many rows, those with curves. */
  function print(onPaper) {
    const size = onPaper ? Math.max(data.names.length, PAGE) : PAGE;
    Object.assign(table, {onPaper, size, page: 0});
    draw();
    if (onPaper) {
      lighten();
      closed.push(...document.querySelectorAll("details:not([open])"));
    } else restoreColours();
    for (const element of closed) element.open = onPaper;
    if (!onPaper) closed.length = 0;
  }

  function turn(by) {
    table.page += by;
    draw();
  }

  function scorecardCsv(file, segments) {
    const wide = columns.flatMap(column => {
      const name = [column.model, column.label].filter(Boolean).join(": ");
      const ends = column.low ? [[`${name} low`, column.low], [`${name} high`, column.high]] : [];
      const said = column.said ? [[`${name}, result`, column.said]] : [];
      return [[name, column.values], ...said, ...ends];
    });
    const rows = segments.map(segment => wide.map(([, values]) => values[segment]));
    saveCsv(file, wide.map(([name]) => name), rows);
  }

  // --- pictures -----------------------------------------------------------------------------

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const EMBEDDING = {
    actions: false, ast: true, defaultStyle: false, hover: false,
    tooltip: {
      disableDefaultStyle: true, anchor: "mark", position: ["top-right", "top-left", "bottom-left"],
    },
  };
  const views = {};
  const darkColours = [];
  let drawnDark = false;  // a browser that prints prefers light at once, and pictures follow later

  /** Give pictures the colours for a light background, at once: a browser does not wait. */
  function lighten() {
    for (const element of document.querySelectorAll(".picture svg, .picture svg *"))
      for (const name of ["fill", "stroke"]) {
        const colour = element.getAttribute(name);
        if (drawnDark && colour in data.light) {
          darkColours.push([element, name, colour]);
          element.setAttribute(name, data.light[colour]);
        }
      }
  }

  function restoreColours() {
    for (const [element, name, colour] of darkColours.splice(0)) element.setAttribute(name, colour);
  }

  const pictureOf = name => {
    const place = byId(name);
    return place.matches(".picture") ? place : place.querySelector(".picture");
  };

  /** Return a chart whose first panel, or only column of panels, takes the room that is left. */
  function widened(spec, width) {
    const row = spec.columns === 1 ? [spec.concat[0]] : spec.concat;
    const taken = row.reduce((sum, panel) => sum + panel.width, 0);
    const room = Math.max(0, Math.min(width - taken - BESIDE_PANELS, MOST_WIDENED));
    const concat = spec.concat.map((panel, place) => (
      spec.columns === 1 || place === 0 ? {...panel, width: panel.width + room} : panel));
    return {...spec, concat};
  }

  /** Return panels in rows of up to three that fill the page; on a narrow screen, of one. */
  function fitted(spec, width, count) {
    if (spec.concat && (spec.columns === 1 || spec.concat.length <= spec.columns))
      return widened(spec, width);
    const beside = spec.hconcat?.length ?? count;
    const inRows = spec.columns === 1;
    const columns = inRows || width < NARROW ? 1 : Math.min(beside, 3);
    const wide = Math.min((width - 60) / columns - 35, inRows ? Infinity : 480);
    if (spec.hconcat) {
      const panels = spec.hconcat.map(panel => ({...panel, width: wide}));
      return {...spec, hconcat: undefined, [columns === 1 ? "vconcat" : "hconcat"]: panels};
    }
    if (!spec.facet) return spec;
    return {...spec, columns, spec: {...spec.spec, width: wide}};
  }

  /** Return the picture beside an answer on a phone: lower, without what the sentence says of axes. */
  function small(spec, name) {
    const bare = {...spec, height: Math.max(OF_SMALL * spec.height, ROWS[name] ?? 0)};
    return JSON.parse(JSON.stringify(bare, (key, value) => (
      ["x", "y"].includes(key) && value?.title?.includes(" ") ? {...value, title: null} : value)));
  }

  const panels = {
    curves: () => chosen.size, thresholds: () => MEASURES.length, scores: () => data.models.length,
    reliability: () => data.reliabilityPanels,
  };

  async function embed(name) {
    const place = pictureOf(name);
    const {light, dark: onDark} = data.charts[name];
    const datasets = {...light.datasets, ...setsOf[name]?.()};
    const count = panels[name]?.();
    const own = {...(dark.matches ? onDark : light), datasets};
    const isSmall = innerWidth < NARROW && place.closest(".answer");
    const spec = isSmall ? small(own, name) : fitted(own, place.clientWidth, count);
    const {view} = await vegaEmbed(place, spec, {...EMBEDDING, renderer: "svg"});
    views[name] = {view, count};
    // Read aloud as one picture: its numbers are in the tables.
    place.setAttribute("role", "img");
    place.querySelector("svg").setAttribute("aria-hidden", "true");
    nameAloud(name);
    watchSides(place);
  }

  const titleOf = name =>
    pictureOf(name).dataset.title ?? byId(name).querySelector("figcaption .title").textContent;
  const nameAloud = name => pictureOf(name).setAttribute("aria-label", fullTitle(name));

  /** Return the title of a picture with the segment and the threshold that are shown. */
  function fullTitle(name) {
    if (!["curves", "thresholds"].includes(name) || !grid.length) return titleOf(name);
    const place = name === "thresholds" ? ` in ${nameOf(where())}` : "";
    return `${titleOf(name)}${place}; threshold ${textHere()}`;
  }

  const sentencesOn = name =>
    byId(name).querySelector("figcaption").textContent.trim().split(/(?<=\.)\s+/);

  /** Draw a picture again: what the reader chose has changed. */
  async function redraw(name) {
    const sets = setsOf[name]?.();
    // A chart without data has no size, so it is hidden.
    const isEmpty = sets && !Object.values(sets)[0].length;
    byId(name).hidden = isEmpty;
    if (isEmpty) return;
    if (views[name]?.count !== panels[name]?.() || !views[name]) {
      await embed(name);
      return;
    }
    const {view} = views[name];
    for (const [set, rows] of Object.entries(sets)) view.data(set, rows);
    nameAloud(name);
    await view.runAsync();
  }

  async function embedAll() {
    drawnDark = dark.matches;
    for (const name of Object.keys(data.charts)) {
      delete views[name];
      await redraw(name);
    }
    document.body.dataset.drawn = "yes";
  }

  function saveButtons(name) {
    const button = (text, action) => {
      const found = make("button", {type: "button"}, text);
      found.setAttribute("aria-label", `${text}: ${titleOf(name)}`);
      found.addEventListener("click", action);
      return found;
    };
    // A file has a light background, a title, and what the page says of the marks.
    const image = async kind => {
      const {light} = data.charts[name];
      const subtitle = sentencesOn(name).slice(1);
      const title = {subtitle, ...(light.title?.text ? light.title : {}), text: fullTitle(name)};
      const spec = {...light, title, datasets: {...light.datasets, ...setsOf[name]?.()}};
      const {view} = await vegaEmbed(make("div"), spec, {...EMBEDDING, renderer: "none"});
      const url = await view.toImageURL(kind, kind === "png" ? 2 : 1);
      view.finalize();
      make("a", {href: url, download: `${name}.${kind}`}).click();
    };
    byId(name).append(make("div", {className: "tools save"},
      button("Save PNG", () => image("png")),
      button("Save SVG", () => image("svg")),
      ...(csvOf[name] ? [button("Save CSV", csvOf[name])] : [])));
  }

  // --- curves and thresholds ----------------------------------------------------------------

  const grid = data.thresholds.grid;
  const slider = byId("threshold") ?? byId("quick");
  const textHere = () => data.thresholds.texts[Number(slider?.value ?? 0)];
  const shortNumber = value => (isNumber(value) ? String(Number(value.toPrecision(4))) : value);
  const curvesIn = segment => data.curves.filter(line => line.segment === segment);

  const pointsOf = line => line.recall.map((recall, i) => ({
    kind: "line", name: data.models[line.model], model: data.models[line.model], recall,
    precision: line.precision[i], height: line.height[i], threshold: line.threshold[i],
    at: shortNumber(line.threshold[i]),
  }));

  /** Return a panel: the curves of a segment, that of all rows, the prevalence, and the marks. */
  function panelOf(segment, place) {
    const own = curvesIn(segment);
    const ofAll = (data.all[segment] ?? []).map((height, i) => (
      {kind: "all", recall: data.all.recall[i], height}));
    const prevalence = own.slice(0, 1).map(line => (
      {kind: "prevalence", prevalence: line.prevalence}));
    const labels = data.iso
      .filter(one => !prevalence.some(line => line.prevalence > one.from && line.prevalence < one.to))
      .map(({label, height}) => ({kind: "iso", recall: 1, label, height}));
    const marks = pointsIn(segment).filter(point => point.precision !== null)
      .map(point => ({kind: "mark", ...point, height: point.precision}));
    return [...own.flatMap(pointsOf), ...ofAll, ...prevalence, ...labels, ...marks]
      .map(row => ({panel: nameOf(segment), place, ...row}));
  }

  function at(line, place) {
    return {
      model: data.models[line.model], threshold: grid[place], at: data.thresholds.texts[place],
      tp: line.tp[place], fp: line.fp[place], fn: line.fn[place],
      tn: line.tn[place], predicted: line.predicted[place],
      predicted_rate: line.predicted_rate[place], precision: line.precision[place],
      recall: line.recall[place], F1: line.F1[place],
      precision_low: line.precision_low[place], precision_high: line.precision_high[place],
      recall_low: line.recall_low[place], recall_high: line.recall_high[place],
    };
  }

  const MEASURES = [["precision", "Precision"], ["recall", "Recall"], ["F1", "F1"]];
  const COUNTS = [
    ["at", "Threshold", texts.text], ["predicted", "Alerts", count],
    ["precision", "Precision", texts.rate], ["recall", "Recall", texts.rate],
    ["F1", "F1", texts.rate], ["predicted_rate", "Share of rows", texts.rate],
    ["tp", "TP", count], ["fp", "FP", count], ["fn", "FN", count], ["tn", "TN", count],
  ];

  const folded = (kind, points) => MEASURES.flatMap(([key, measure], place) => points.map(point => ({
    kind, measure, place, value: point[key], model: point.model, threshold: point.threshold,
    at: point.at, few: point.predicted < FEW_ALERTS,
  })));
  const where = () => (byId("where")?.value ? Number(byId("where").value) : WHOLE);
  const SAME = {alerts: "about as many alerts", recall: "the same recall"};
  const sameNow = () => SAME[byId("same")?.value ?? "alerts"];
  const linesIn = segment => data.thresholds.lines.filter(line => line.segment === segment);
  const rateRows = () => linesIn(where()).flatMap(line => grid.map((_, place) => at(line, place)));

  /** Return the point of each model at the slider, or where it has as many alerts, or that recall. */
  function pointsIn(segment) {
    const lines = linesIn(segment);
    const key = {alerts: "predicted_rate", recall: "recall"}[byId("same")?.value ?? "alerts"];
    const first = lines.find(line => line.model === data.thresholds.best) ?? lines[0];
    const place = Number(slider.value);
    return lines.map(line => at(line,
      !key || line === first ? place : placeNear(first[key][place], line[key])));
  }

  // The data sets of the pictures that the reader changes.
  const setsOf = {
    pooled: () => ({
      pooled: curvesIn(WHOLE).flatMap(pointsOf),
      chance: curvesIn(WHOLE).slice(0, 1).map(({prevalence}) => ({prevalence})),
    }),
    curves: () => ({curves: [...chosen].filter(segment => curvesIn(segment).length)
      .map(panelOf).flat()}),
    thresholds: () => ({rates: [
      ...folded("line", rateRows()), ...folded("mark", pointsIn(where())),
    ]}),
  };

  /** Show the numbers at the threshold; ``note`` is about a number that the reader typed. */
  function showCounts(note = "") {
    const text = textHere();
    for (const element of [slider, byId("quick")].filter(Boolean)) {
      element.value = slider.value;
      element.setAttribute("aria-valuetext", text);
    }
    drawMeters();
    if (!byId("near")) return;
    if (document.activeElement !== byId("near")) showThreshold();
    byId("near-note").textContent = [note, startNote(), GRID_NOTE].filter(Boolean).join(" ");
    for (const place of document.querySelectorAll("#thresholds .segment"))
      place.textContent = nameOf(where());
    drawCounts(pointsIn(where()), text);
  }

  /** Show what the threshold does in all rows, with bars; of many models, for the best one. */
  function drawMeters() {
    if (!byId("meters")) return;
    const all = pointsIn(WHOLE);
    const points = all.length > 3 ? [all[data.thresholds.best]] : all;
    if (points.length > 1) byId("alike").textContent = sameNow() ? `At ${sameNow()}` : "At the same score";
    fill(byId("meters").tBodies[0], ...points.map(point => make("tr", {},
      make("th", {scope: "row"}, breakable(point.model)),
      make("td", {}, point.at),
      meter(point, point.predicted_rate, count(Number((1000 * point.predicted_rate).toPrecision(3)))),
      meter(point, point.precision, texts.rate(point.precision)),
      meter(point, point.recall, texts.rate(point.recall)))));
  }

  function meter(point, share, text) {
    const bar = make("span");
    bar.style.width = `${100 * (share ?? 0)}%`;
    bar.style.background = data.colours[dark.matches ? "dark" : "light"][point.model];
    return make("td", {}, text || "–", make("span", {className: "meter"}, bar));
  }

  function showThreshold() {
    byId("near").value = textHere();
    byId("near").removeAttribute("aria-invalid");
  }

  /** Say which threshold the page begins with. */
  function startNote() {
    const {start, best, target} = data.thresholds;
    if (!isNumber(start) || Number(slider.value) !== placeNear(start)) return "";
    const model = several ? ` of ${data.models[best]}` : "";
    return `${textHere()}: ${target}${model} over all rows.`;
  }

  const GRID_NOTE = `The page has ${count(grid.length)} thresholds; ` +
    "a number that you type takes you to the nearest of them.";

  function drawThreshold(note) {
    showCounts(note);
    return Promise.all(["curves", "thresholds"].filter(name => name in data.charts).map(redraw));
  }

  function drawCounts(points, threshold) {
    const counts = byId("counts");
    const relation = data.ascending ? "≤" : "≥";
    fill(counts.caption, make("span", {},
      `Alerts at a score ${relation} ${threshold}${several && sameNow() ? `, of other models at ${sameNow()}` : ""}, in `, isolated(nameOf(where()))));
    const head = ["Model", ...COUNTS.map(([, label]) => label)];
    fill(counts.tHead, make("tr", {}, ...head.map(text =>
      make("th", {scope: "col", textContent: text}))));
    fill(counts.tBodies[0], ...points.map(point => make("tr", {},
      make("th", {scope: "row"}, isolated(point.model)),
      ...COUNTS.map(([key, , text]) => countCell(point, key, text)))));
  }

  /** Return why a rate is not defined. */
  const missing = (point, key) =>
    (key === "precision" && !point.predicted ? "no alerts" : "not defined");

  function countCell(point, key, text) {
    const found = make("td", {}, text(point[key]));
    if (point[key] === null)
      fill(found, "– ", make("span", {className: "interval", textContent: missing(point, key)}));
    const low = point[`${key}_low`];
    if (isNumber(low)) found.append(" ", interval(low, point[`${key}_high`]));
    return found;
  }

  /** Draw the curve of a segment, and show its numbers at the threshold. */
  function choose(segment) {
    const segments = [...chosen].filter(one => one !== null);
    if (!chosen.has(segment) && segments.length >= data.mostChosen) chosen.delete(segments[0]);
    chosen.add(segment);
    showChosen(segment);
  }

  /** Take the curve of a segment away; the numbers at the threshold are of one that is left. */
  function unchoose(segment) {
    chosen.delete(segment);
    showChosen(where() === segment ? [...chosen].at(-1) : where());
  }

  function showChosen(segment) {
    draw();
    if (!grid.length) return;
    if (byId("where")) byId("where").value = segment ?? "";
    drawThreshold();
  }

  function lookAt(segment) {
    choose(segment);
    byId("thresholds-title")?.scrollIntoView();
    byId("near")?.focus({preventScroll: true});
  }

  /** Return the place of the value that is nearest to a number, by default of a threshold. */
  function placeNear(wanted, values = grid) {
    const distances = values.map(value => (value === null ? Infinity : Math.abs(value - wanted)));
    return distances.indexOf(Math.min(...distances));
  }

  let placeBefore = 0;  // the place of the slider before the reader typed

  /** Go to the threshold that is nearest to what is typed, or say why not. */
  function moveNear() {
    const typed = byId("near").value.trim();
    const number = Number(typed.replace(",", ".").replace(/%$/, ""));
    const wanted = typed.endsWith("%") ? number / 100 : number;
    const problem = typed === "" ? "" : problemOf(typed, wanted);
    if (problem) byId("near").setAttribute("aria-invalid", "true");
    else byId("near").removeAttribute("aria-invalid");
    // What was typed so far may have been a threshold: 1, of 1.5.
    slider.value = typed === "" || problem ? placeBefore : placeNear(wanted);
    drawThreshold(problem);
  }

  function problemOf(typed, wanted) {
    const {texts: known} = data.thresholds;
    if (!Number.isFinite(wanted)) return `“${typed}” is not a number.`;
    if (wanted < grid[0] && typed !== known[0])
      return `${typed} is below the lowest threshold of this page, ${known[0]}.`;
    if (wanted > grid.at(-1) && typed !== known.at(-1))
      return `${typed} is above the highest threshold of this page, ${known.at(-1)}.`;
    return "";
  }

  /** Move to the next threshold by the arrow keys, as in a field for numbers. */
  function stepNear(event) {
    const step = {ArrowUp: 1, ArrowDown: -1}[event.key];
    if (!step) return;
    event.preventDefault();
    slider.value = placeBefore = Number(slider.value) + step;
    showThreshold();
    drawThreshold();
  }

  const columnsOf = rows => (rows.length ? Object.keys(rows[0]) : []);
  const csvRows = (name, rows) => {
    const forPictures = new Set(["at", "name", "height", "kind"]);
    const own = rows.map(row =>
      Object.fromEntries(Object.entries(row).filter(([name]) => !forPictures.has(name))));
    saveCsv(name, columnsOf(own), own.map(row => Object.values(row)));
  };
  const csvOf = {
    areas: () => scorecardCsv("areas.csv", data.shown),
    curves: () => csvRows("curves.csv", [...chosen].flatMap(segment => curvesIn(segment).flatMap(
      pointsOf).map(point => ({segment: nameOf(segment), ...point})))),
    thresholds: () => csvRows("thresholds.csv", rateRows()),
  };

  // --- what is wider than the page ----------------------------------------------------------

  const widths = new ResizeObserver(entries => entries.forEach(({target}) => {
    const box = target.closest(".scroll, .picture");
    const hint = box?.previousElementSibling;
    if (hint?.matches(".hint")) hint.hidden = box.scrollWidth <= box.clientWidth + 1;
  }));

  /** Say above a table or a picture that it goes on at the side, if it does. */
  function hintAtSides() {
    for (const box of document.querySelectorAll(".scroll, figure .picture")) {
      const what = box.matches(".scroll") ? "table" : "picture";
      box.before(make("p", {
        className: "hint", hidden: true, textContent: `This ${what} goes on at the side: scroll it →`,
      }));
      watchSides(box);
    }
  }

  function watchSides(box) {
    widths.observe(box);
    const inner = box.querySelector("table, svg");
    if (inner) widths.observe(inner);
  }

  // --- start --------------------------------------------------------------------------------

  function startSlider() {
    const segments = [...new Set(data.thresholds.lines.map(line => line.segment))];
    if (!segments.length || !grid.length) {
      for (const id of ["slider", "counts-scroll", "counts-note"].filter(byId)) byId(id).hidden = true;
      if (byId("no-curves")) byId("no-curves").hidden = false;
      return;
    }
    const {start} = data.thresholds;
    for (const element of [slider, byId("quick")].filter(Boolean)) {
      element.max = grid.length - 1;
      element.value = isNumber(start) ? placeNear(start) : Math.floor(grid.length / 2);
      element.addEventListener("input", () => { slider.value = element.value; drawThreshold(); });
    }
    if (!byId("near")) return;
    if (byId("where")) fill(byId("where"), ...segments.map(segment =>
      make("option", {value: segment ?? "", textContent: nameOf(segment)})));
    byId("near").addEventListener("focus", () => { placeBefore = slider.value; });
    byId("near").addEventListener("input", moveNear);
    byId("near").addEventListener("blur", showThreshold);
    byId("near").addEventListener("keydown", stepNear);
    for (const id of ["where", "same"].filter(byId))
      byId(id).addEventListener("change", () => drawThreshold());
  }

  function startScorecard() {
    if (!byId("scorecard")) return;
    byId("filter").addEventListener("input", () => { table.page = 0; draw(); });
    byId("before").addEventListener("click", () => turn(-1));
    byId("after").addEventListener("click", () => turn(1));
    byId("table-csv").addEventListener("click", () => scorecardCsv("scorecard.csv", table.rows));
    draw();
  }

  for (const button of document.querySelectorAll("[data-look]"))
    button.addEventListener("click", () => lookAt(Number(button.dataset.look)));
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  startSlider();
  startScorecard();
  hintAtSides();
  if (grid.length && slider) showCounts();
  Object.keys(data.charts).filter(name => byId(name).matches("figure")).forEach(saveButtons);
  dark.addEventListener("change", () => { embedAll(); if (grid.length && slider) showCounts(); });
  embedAll();
})();
