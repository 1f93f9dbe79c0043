/* Panels of the timeline: bands, columns and levels over the time that it shows. */

function panel(it, title, entries) {
  const { plots } = it;
  const values = entries.map(([, , first]) => el("b", {}, first ?? ""));
  const node = el(
    "div.panel",
    {},
    el(
      "div.head",
      {},
      el("h3", {}, title),
      el(
        "ul.legend",
        {},
        entries.map(([draw, label], at) => el("li", {}, swatch(draw), label, " ", values[at])),
      ),
    ),
  );
  plots.append(node);
  return { node, values };
}

function axis(it) {
  const { plots, panels, gutter, inner, xOf } = it;
  const canvas = el("canvas", { "aria-hidden": "true" });
  plots.append(canvas);
  panels.push({
    draw() {
      const pen = sized(canvas, plots.clientWidth, 38);
      pen.font = FONT();
      pen.textAlign = "center";
      let day = "";
      for (const at of ticks(it.zoom.from, it.zoom.to, inner() / 95)) {
        const [date, clock, fraction] = moment(at);
        const x = Math.min(Math.max(xOf(at), gutter() + 4), plots.clientWidth - 30);
        pen.fillStyle = colour("text");
        pen.fillText(
          clock.endsWith(":00") && !fraction ? clock.slice(0, 5) : clock + fraction,
          x,
          16,
        );
        if (date !== day) {
          pen.fillStyle = colour("muted");
          pen.fillText(date, x, 30);
        }
        day = date;
      }
    },
  });
}

function seriesPanel(it, { title, names, height, by = [], byText = "", down = null }, all) {
  const { plots, panels, whole, gutter, inner } = it;
  const totals = names
    .map((word) => all.find((each) => each.name === word && each.by === null))
    .filter(Boolean)
    .map((each) => ({ ...each, isDown: each.name === down }));
  if (!totals.length) return;
  const isOne = totals.length === 1 && totals[0].label.toLowerCase() === title.toLowerCase();
  const { node, values } = panel(
    it,
    title,
    totals.map((each) => [plain(each.colour), isOne ? "" : each.label]),
  );
  const host = el("div", {
    role: "img",
    "aria-label": `${title}: ${totals.map((each) => `${each.label} ${each.kind === "level" ? "at most" : "in all"} ${amount(each, valueIn(each, whole.from, whole.to))}`).join(", ")}. The numbers are in a table below.`,
  });
  node.append(host);
  let chart = null;
  panels.push({
    draw(isNew) {
      const width = plots.clientWidth;
      if (isNew && chart) {
        chart.destroy();
        chart = null;
      }
      chart ??= plot(host, {
        height,
        series: totals,
        unit: totals[0].unit,
        gutter: gutter(),
        right: RIGHT,
        range: () => it.zoom,
        width: () => plots.clientWidth,
        mirrored: Boolean(down),
      });
      if (chart.width !== width) chart.setSize({ width, height });
      chart.setData(grouped(totals, it.zoom, inner()).data);
    },
    read(from, to) {
      totals.forEach((each, at) => {
        values[at].textContent = amount(each, valueIn(each, from, to));
      });
    },
  });
  const rows = new Map();
  for (const each of all.filter((one) => by.includes(one.name) && one.by !== null)) {
    const row = rows.get(each.by) ?? {
      id: each.by,
      start: each.start,
      step: each.step,
      kind: each.kind,
      values: [],
    };
    each.values.forEach((value, at) => {
      row.values[at] = (row.values[at] ?? 0) + value;
    });
    rows.set(each.by, row);
  }
  if (rows.size) heat(it, node, byText, [...rows.values()]);
}

/* Counts by broker: a row each, darker where there is more. */
function heat(it, node, text, all) {
  const { plots, panels, gutter, inner, xOf } = it;
  const rows = all
    .sort((one, other) => sum(other.values) - sum(one.values))
    .slice(0, MOST_ROWS)
    .sort((one, other) => one.id - other.id);
  const canvas = el("canvas", {
    role: "img",
    "aria-label": `${text}: ${rows
      .slice(0, 8)
      .map((row) => `broker ${row.id} ${number(sum(row.values))}`)
      .join(", ")}`,
  });
  node.append(
    el(
      "p.remark",
      {},
      `${text}${all.length > rows.length ? `: ${rows.length} of ${number(all.length)} brokers, those with most` : report.more.series > 0 ? ": those with most" : ""}`,
    ),
    canvas,
  );
  const row = {
    draw() {
      const height = rows.length * THIN_ROW + 4;
      const pen = sized(canvas, plots.clientWidth, height);
      pen.font = FONT();
      pen.textBaseline = "middle";
      pen.textAlign = "right";
      const parts = rows.map((each) => grouped([each], it.zoom, inner()));
      const most = Math.max(1, ...parts.flatMap((part) => part.data[1]));
      const wide = Math.max(
        2,
        (inner() * parts[0].size * rows[0].step) / (it.zoom.to - it.zoom.from) - 1,
      );
      rows.forEach((each, at) => {
        const y = at * THIN_ROW + 2;
        pen.fillStyle = colour("muted");
        pen.fillText(String(each.id), gutter() - 10, y + THIN_ROW / 2);
        pen.fillStyle = colour("faint");
        pen.fillRect(gutter(), y + THIN_ROW - 2, inner(), 1);
      });
      pen.save();
      pen.beginPath();
      pen.rect(gutter(), 0, inner(), height);
      pen.clip();
      pen.fillStyle = colour("blue");
      parts.forEach(({ data: [times, values] }, at) => {
        times.forEach((middle, index) => {
          if (!values[index]) return;
          pen.globalAlpha = 0.25 + 0.75 * Math.sqrt(values[index] / most);
          pen.fillRect(xOf(middle) - wide / 2, at * THIN_ROW + 3, wide, THIN_ROW - 5);
        });
      });
      pen.restore();
    },
  };
  panels.push(row);
}

/* Draw bands [{from, to, draw(pen, x, y, width, height)}] of a row. */
function drawBands(it, pen, bands, y, height) {
  const { gutter, inner, xOf } = it;
  for (const band of bands) {
    const x = Math.max(gutter(), xOf(band.from));
    const right = Math.min(gutter() + inner(), xOf(band.to));
    if (xOf(band.to) < gutter() || x > gutter() + inner()) continue;
    band.draw(pen, x, y, Math.max(1.5, right - x), height);
  }
}

/* The states of nodes, a row each: those that had other states than the quiet ones first. */
function nodes(it, { title, thing, all, states, quiet, early = 0 }) {
  const { plots, panels, gutter, timeAt } = it;
  if (!all.length) return;
  const things = `${thing}s`;
  const eventful = all.filter((each) => each.bands.some((band) => !quiet.includes(band.state)));
  let isAll = all.length <= MOST_ROWS;
  const rows = () =>
    isAll ? all.slice(0, ALL_ROWS) : (eventful.length ? eventful : all).slice(0, MOST_ROWS);
  const { node, values } = panel(
    it,
    title,
    states.map((state) => [STATES[state], stateText(state)]),
  );
  const note = el("p.remark");
  const canvas = el("canvas", {
    role: "img",
    "aria-label": `States of ${plural(all.length, thing)}: ${
      eventful
        .slice(0, 12)
        .map(
          (each) =>
            `${thing} ${each.id} was ${[...new Set(each.bands.map((band) => stateText(band.state)))].join(", ")}`,
        )
        .join("; ") || `all were ${quiet[0]} all the time`
    }. The states are in a table below.`,
  });
  node.append(canvas, note);
  const it_ = {
    draw() {
      const shown = rows();
      const pen = sized(canvas, plots.clientWidth, shown.length * ROW + 6);
      pen.font = FONT();
      pen.textBaseline = "middle";
      pen.textAlign = "right";
      shown.forEach((each, at) => {
        const y = 4 + at * ROW;
        pen.fillStyle = colour("muted");
        pen.fillText(String(each.id), gutter() - 10, y + ROW / 2 - 2);
        drawBands(
          it,
          pen,
          each.bands.map((band) => ({
            ...band,
            draw: STATES[band.state] ?? STATES.unregistered,
          })),
          y,
          ROW - 6,
        );
      });
      note.replaceChildren(
        ...(early > 0 ? [`${plural(early, "earlier change")} of state left out `] : []),
        ...(all.length > MOST_ROWS
          ? [
              isAll
                ? `${number(shown.length)} of ${number(all.length)} ${things}`
                : `${number(shown.length)} of ${number(all.length)} ${things}: ${eventful.length ? `of those that were not always ${quiet[0]}` : `all were ${quiet[0]} all the time`}`,
              button(
                isAll ? "Show fewer" : `Show ${number(Math.min(all.length, ALL_ROWS))}`,
                () => {
                  isAll = !isAll;
                  it.draw();
                },
              ),
            ]
          : []),
      );
    },
    read(from, to) {
      states.forEach((state, at) => {
        values[at].textContent = number(
          all.filter((each) =>
            each.bands.some((band) => band.state === state && band.from < to && band.to > from),
          ).length,
        );
      });
    },
    hit(x, y) {
      const row = rows()[Math.floor((y - canvas.offsetTop - 4) / ROW)];
      const at = timeAt(x);
      return y >= canvas.offsetTop + 4 && row
        ? { node: `${capital(thing)} ${row.id}`, band: row.bands.find((band) => band.from <= at && band.to > at) }
        : null;
    },
  };
  panels.push(it_);
}

function leftOut(node, many, thing) {
  if (many > 0) node.append(el("p.remark", {}, `${plural(many, thing)} left out`));
}

function incidentBands(it) {
  const { data, plots, panels } = it;
  const rows = report.incidents;
  if (!rows.length) return;
  const { node, values } = panel(it, "Incidents", [[plain("bad"), "from begin to end"]]);
  const canvas = el("canvas", {
    role: "img",
    "aria-label": `${plural(rows.length, "incident")}, in a table above`,
  });
  node.append(canvas);
  const bands = rows.map((row) => ({ from: row.begin, to: row.end ?? data.end }));
  panels.push({
    draw() {
      const pen = sized(canvas, plots.clientWidth, ROW + 6);
      pen.fillStyle = colour("bad");
      drawBands(
        it,
        pen,
        bands.map((band) => ({
          ...band,
          draw: (_, x, y, width, height) => pen.fillRect(x, y, width, height),
        })),
        4,
        ROW - 4,
      );
    },
    read(from, to) {
      values[0].textContent = number(
        bands.filter((band) => band.from < to && band.to >= from).length,
      );
    },
  });
}

function changeMarks(it) {
  const { data, plots, panels, gutter, inner, xOf } = it;
  if (!data.changes.length) return;
  const { node, values } = panel(it, "Changes", [
    [plain("text"), "topics, configurations, ACLs, features"],
  ]);
  const canvas = el("canvas", {
    role: "img",
    "aria-label": `${plural(data.changes.length, "change")} of metadata, in a list below`,
  });
  node.append(canvas);
  leftOut(node, report.more.changes, "change");
  panels.push({
    draw() {
      const pen = sized(canvas, plots.clientWidth, 22);
      pen.fillStyle = colour("text");
      for (const each of data.changes) {
        const x = xOf(each.time);
        if (x >= gutter() - 1 && x <= gutter() + inner() + 1) {
          pen.globalAlpha = 0.6;
          pen.fillRect(x - 0.75, 4, 1.5, 13);
        }
      }
      pen.globalAlpha = 1;
    },
    read(from, to) {
      values[0].textContent = number(
        data.changes.filter((each) => each.time >= from && each.time < to).length,
      );
    },
  });
}
