/* The timeline: charts over the same time, with zoom and what happened at a moment. */

/* The timeline: the whole time, the zoom, and what its panels draw by; null without any time.

   A panel has draw(isNew), and may have read(from, to), which fills its legend, and hit(x, y). */
function makeTimeline() {
  const data = report.timeline;
  const series = (data?.series ?? []).map((each) => ({
    ...each,
    start: data.start,
    step: data.step,
    label: NAMES[each.name]?.[0] ?? short(each.name),
    colour: NAMES[each.name]?.[1] ?? "green",
  }));
  const ofLogs = logTotals(data);
  if (!data && !ofLogs.length) return null;
  // A bucket of the logs that begins a little earlier, or ends a little later, makes the time no longer.
  const starts = ofLogs.map((each) =>
    data && each.start + each.step > data.start ? data.start : each.start,
  );
  const ends = ofLogs
    .map((each) => [each.start + each.values.length * each.step, each.step])
    .map(([end, step]) => (data && end - step < data.end ? data.end : end));
  const start = Math.min(data?.start ?? Infinity, ...starts);
  const whole = { from: start, to: Math.max(start + 1000, data?.end ?? 0, ...ends) };
  for (const each of ofLogs) each.from = start;
  const isFar =
    data && whole.to - whole.from > 3 * (data.end - data.start) && data.end > data.start;
  const it = {
    whole,
    zoom: isFar ? { from: data.start, to: data.end } : { ...whole },
    step: data?.step ?? ofLogs[0].step,
    chosen: null,
    cursor: null,
  };
  const panels = [];
  const plots = el("div.plots", {
    tabindex: "0",
    role: "group",
    "aria-label":
      "Timeline. Left and right arrows move, plus and minus zoom, Enter shows what happened, Escape shows the whole time.",
    "aria-describedby": "timeline-hint",
  });
  const cross = el("div.cross", { hidden: true });
  const drag = el("div.span", { hidden: true });
  const mark = el("div.chosen", { hidden: true });
  const said = el("span.unseen", { "aria-live": "polite" });
  const range = el("span.range");
  const window_ = el("div");
  const detail = el("div.sheet", { "aria-live": "polite" });
  const gutter = () => (plots.clientWidth < 560 ? 52 : 84);
  const inner = () => Math.max(40, plots.clientWidth - gutter() - RIGHT);
  const xOf = (ms) => gutter() + ((ms - it.zoom.from) / (it.zoom.to - it.zoom.from)) * inner();
  const timeAt = (x) => it.zoom.from + ((x - gutter()) / inner()) * (it.zoom.to - it.zoom.from);

  Object.assign(it, { data, plots, panels, gutter, inner, xOf, timeAt });

  /* The bucket of a time, in the groups that the charts show. */
  function bucket(ms) {
    const origin = data?.start ?? ofLogs[0].start;
    const size =
      it.step * Math.max(1, Math.ceil((4 * (it.zoom.to - it.zoom.from)) / it.step / inner()));
    const from = origin + Math.floor((ms - origin) / size) * size;
    return { from, to: from + size };
  }

  function place(node, from, to) {
    const left = Math.max(gutter(), xOf(from));
    const right = Math.min(gutter() + inner(), xOf(to));
    node.hidden = right < gutter() || left > gutter() + inner();
    node.style.left = `${left}px`;
    node.style.width = `${Math.max(0, right - left)}px`;
  }

  function readout() {
    const at = it.cursor === null ? null : bucket(it.cursor);
    const { from, to } = at ?? it.zoom;
    for (const each of panels) each.read?.(from, to);
    range.replaceChildren(
      rangeText(Math.round(from), Math.round(to)),
      el(
        "small",
        {},
        at
          ? "under the pointer"
          : `${span(to - from)} shown, ${span(bucket(from).to - bucket(from).from)} a bar`,
      ),
    );
    cross.hidden = it.cursor === null;
    if (at)
      cross.style.left = `${Math.min(Math.max(xOf(it.cursor), gutter()), gutter() + inner())}px`;
  }

  function draw(isNew = false) {
    if (!plots.clientWidth) return;
    for (const each of panels) each.draw(isNew);
    if (it.chosen) place(mark, it.chosen.from, it.chosen.to);
    else mark.hidden = true;
    const length = whole.to - whole.from;
    window_.style.left = `min(${((it.zoom.from - whole.from) / length) * 100}%, 100% - 4px)`;
    window_.style.width = `${((it.zoom.to - it.zoom.from) / length) * 100}%`;
    const isWhole = it.zoom.from <= whole.from && it.zoom.to >= whole.to;
    for (const each of [earlier, later, out, all]) each.disabled = isWhole;
    readout();
  }

  function setZoom(from, to) {
    const length = Math.min(whole.to - whole.from, Math.max(1000, to - from));
    const middle = (from + to) / 2;
    const start = Math.min(Math.max(whole.from, middle - length / 2), whole.to - length);
    it.zoom = { from: start, to: start + length };
    it.cursor = it.cursor === null ? null : Math.min(Math.max(it.cursor, start), start + length);
    draw();
    if (changeFilter.inZoom) changeFilter.table.render();
  }

  const scale = (factor) => {
    const length = (it.zoom.to - it.zoom.from) * factor;
    const middle =
      it.cursor ??
      (it.chosen ? (it.chosen.from + it.chosen.to) / 2 : (it.zoom.from + it.zoom.to) / 2);
    const share = Math.min(1, Math.max(0, (middle - it.zoom.from) / (it.zoom.to - it.zoom.from)));
    setZoom(middle - length * share, middle + length * (1 - share));
  };
  const shift = (share) =>
    setZoom(
      it.zoom.from + share * (it.zoom.to - it.zoom.from),
      it.zoom.to + share * (it.zoom.to - it.zoom.from),
    );
  const earlier = button("←", () => shift(-0.5), { "aria-label": "Earlier" });
  const later = button("→", () => shift(0.5), { "aria-label": "Later" });
  const nearer = button("+", () => scale(0.5), { "aria-label": "Zoom in" });
  const out = button("−", () => scale(2), { "aria-label": "Zoom out" });
  const all = button("Whole time", () => setZoom(whole.from, whole.to));

  /* Show what happened in a span of time; `hit` is the node that was pointed at. */
  function choose(from, to, hit = null) {
    it.chosen = { from, to };
    const values = [...series, ...ofLogs]
      .filter((each) => each.by === null)
      .map((each) => [each, valueIn(each, from, to)])
      .filter(([, value]) => value > 0);
    const within = (each) => each.from < to && each.to > from;
    const away = (data?.brokers ?? []).flatMap((each) =>
      each.bands
        .filter((band) => within(band) && band.state !== "active" && band !== hit?.band)
        .map((band) => ({ id: each.id, ...band })),
    );
    const made = (data?.changes ?? []).filter((each) => each.time >= from && each.time < to);
    const leading = (data?.leadership ?? []).filter((each) => each.from >= from && each.from < to);
    const during = (text) =>
      withLast(withLast(text, "{from}", Math.round(from)), "{to}", Math.round(to));
    const written = report.logs.filter(
      (log) =>
        log.kind !== "metadata" &&
        log.bucketCommand &&
        log.series.some(
          (each) =>
            valueIn({ ...each, from: it.whole.from, kind: "count-per-bucket" }, from, to) > 0,
        ),
    );
    const stated = (band) =>
      `${stateText(band.state)} from ${timeText(band.from)} to ${timeText(band.to)} (${span(band.to - band.from)})`;
    detail.replaceChildren(
      el(
        "div.moment",
        { id: "moment" },
        el(
          "div.moment-head",
          {},
          el("h3", {}, `${rangeText(Math.round(from), Math.round(to))} UTC`),
          button("Close", () => {
            it.chosen = null;
            detail.replaceChildren();
            draw();
            plots.focus({ preventScroll: true });
          }),
        ),
        values.length
          ? el(
              "dl.values",
              {},
              values.map(([each, value]) =>
                el(
                  "div",
                  {},
                  el("dt", {}, each.label),
                  el(
                    "dd",
                    {},
                    amount(each, value),
                    each.kind === "level"
                      ? el("small.muted", {}, " at most")
                      : to - from < each.step
                        ? el("small.muted", {}, ` in ${span(each.step)}`)
                        : "",
                  ),
                ),
              ),
            )
          : el("p.none", {}, "Nothing is counted in this time."),
        hit?.band &&
          el(
            "div.content",
            {},
            el("p", {}, `${hit.node}: ${stated(hit.band)}`),
            command(hit.band.command),
          ),
        away.length > 0 &&
          el(
            "div.content",
            {},
            el("p", {}, `${hit?.band ? "Other brokers" : "Brokers"} that were not active`),
            el(
              "ul",
              {},
              away.slice(0, 10).map((band) => el("li", {}, `broker ${band.id}: ${stated(band)}`)),
              away.length > 10 && el("li", {}, `and ${number(away.length - 10)} more`),
            ),
          ),
        leading.length > 0 &&
          el(
            "div.content",
            {},
            el("p", {}, "New leaders of the quorum"),
            el(
              "ul",
              {},
              leading
                .slice(0, 10)
                .map((each) =>
                  el(
                    "li",
                    {},
                    `controller ${each.leader}, epoch ${each.epoch}, at ${timeText(each.from)}`,
                  ),
                ),
            ),
          ),
        made.length > 0 &&
          el(
            "div.content",
            {},
            el("p", {}, plural(made.length, "change"), ": "),
            el(
              "ul",
              {},
              made
                .slice(0, 6)
                .map((each) =>
                  el(
                    "li",
                    {},
                    name(each.what),
                    each.before !== null || each.after !== null
                      ? [": ", name(each.before ?? "–"), " → ", name(each.after ?? "–")]
                      : "",
                  ),
                ),
            ),
            button("Zoom to this time, and list its changes", () => {
              setZoom(from, to);
              changeFilter.only();
              byId("changes").scrollIntoView();
            }),
          ),
        data?.bucketCommand &&
          el(
            "div.content",
            {},
            el("p", {}, "The metadata records of this time"),
            command(during(data.bucketCommand)),
          ),
        written
          .slice(0, MOST_LOGS)
          .map((log) =>
            el(
              "div.content",
              {},
              el("p", {}, "The records of ", name(logName(log)), " of this time"),
              command(during(log.bucketCommand)),
            ),
          ),
        written.length > MOST_LOGS &&
          el(
            "p.none",
            {},
            `${number(written.length - MOST_LOGS)} more logs have records of this time.`,
          ),
      ),
    );
    draw();
  }

  it.show = (ms) => {
    const width = it.zoom.to - it.zoom.from;
    if (ms < it.zoom.from || ms > it.zoom.to) setZoom(ms - width / 2, ms + width / 2);
    const { from, to } = bucket(ms);
    choose(from, to);
    byId("timeline").scrollIntoView();
    plots.focus({ preventScroll: true });
  };

  // The pointer and the keys

  let pressed = null;
  const place_ = (event) => {
    const box = plots.getBoundingClientRect();
    return {
      x: event.clientX - box.left - plots.clientLeft,
      y: event.clientY - box.top - plots.clientTop,
    };
  };
  const isControl = (event) => event.target.closest("button, a, summary");
  plots.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || isControl(event)) return;
    pressed = place_(event);
    plots.setPointerCapture(event.pointerId);
  });
  plots.addEventListener("pointermove", (event) => {
    const { x } = place_(event);
    it.cursor =
      x < gutter() - 2 || x > gutter() + inner() + 2
        ? null
        : Math.min(Math.max(timeAt(x), it.zoom.from), it.zoom.to);
    if (pressed) {
      drag.hidden = Math.abs(x - pressed.x) < 5;
      const [left, right] = [Math.min(x, pressed.x), Math.max(x, pressed.x)];
      place(drag, timeAt(left), timeAt(right));
      drag.hidden ||= Math.abs(x - pressed.x) < 5;
    }
    readout();
  });
  plots.addEventListener("pointerup", (event) => {
    if (!pressed) return;
    const { x, y } = place_(event);
    const [from, to] = [timeAt(Math.min(x, pressed.x)), timeAt(Math.max(x, pressed.x))];
    const isClick = Math.abs(x - pressed.x) < 5;
    pressed = null;
    drag.hidden = true;
    if (!isClick) {
      setZoom(Math.max(from, it.zoom.from), Math.min(to, it.zoom.to));
    } else if (x >= gutter() && x <= gutter() + inner()) {
      const { from: start, to: end } = bucket(timeAt(x));
      choose(start, end, panels.map((each) => each.hit?.(x, y)).find(Boolean) ?? null);
    }
  });
  plots.addEventListener("pointercancel", () => {
    pressed = null;
    drag.hidden = true;
  });
  plots.addEventListener("pointerleave", () => {
    if (!pressed) {
      it.cursor = null;
      readout();
    }
  });
  plots.addEventListener("dblclick", () => setZoom(whole.from, whole.to));

  function step(ways) {
    const { from, to } = bucket(
      it.cursor ?? (it.chosen ? it.chosen.from : (it.zoom.from + it.zoom.to) / 2),
    );
    const next = Math.min(Math.max(whole.from, (from + to) / 2 + ways * (to - from)), whole.to - 1);
    it.cursor = next;
    if (next < it.zoom.from || next > it.zoom.to) shift(ways < 0 ? -0.5 : 0.5);
    it.cursor = next;
    readout();
    const here = bucket(next);
    said.textContent = `${timeText(Math.round(here.from))}: ${
      series
        .filter((each) => each.by === null)
        .map((each) => [each, valueIn(each, here.from, here.to)])
        .filter(([, value]) => value)
        .map(([each, value]) => `${each.label} ${amount(each, value)}`)
        .join(", ") || "nothing"
    }`;
  }

  const KEYS = {
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    PageUp: () => shift(-0.5),
    PageDown: () => shift(0.5),
    "+": () => scale(0.5),
    "=": () => scale(0.5),
    "-": () => scale(2),
    0: () => setZoom(whole.from, whole.to),
    Escape: () => {
      it.cursor = null;
      setZoom(whole.from, whole.to);
    },
    Enter: () => {
      const { from, to } = bucket(it.cursor ?? (it.zoom.from + it.zoom.to) / 2);
      choose(from, to);
    },
  };
  plots.addEventListener("keydown", (event) => {
    if (
      event.target !== plots ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      !Object.hasOwn(KEYS, event.key)
    )
      return;
    event.preventDefault();
    KEYS[event.key]();
  });

  it.build = () => {
    axis(it);
    if (data) {
      incidentBands(it);
      nodes(it, {
        title: "Brokers",
        thing: "broker",
        all: data.brokers,
        states: BROKER_STATES,
        quiet: ["active", "starting"],
        early: report.more.bands,
      });
      nodes(it, {
        title: "Controllers",
        thing: "controller",
        all: data.controllers,
        states: CONTROLLER_STATES,
        quiet: ["follower", "leader"],
      });
      for (const each of PANELS) seriesPanel(it, each, series);
      const known = new Set(PANELS.flatMap((each) => each.names));
      for (const word of new Set(series.map((each) => each.name))) {
        if (!known.has(word))
          seriesPanel(
            it,
            {
              title: NAMES[word]?.[0] ?? short(word),
              names: [word],
              height: 90,
              by: [word],
              byText: "by broker",
            },
            series,
          );
      }
      changeMarks(it);
    }
    for (const each of ofLogs)
      seriesPanel(it, { title: capital(each.label), names: [each.name], height: 90 }, ofLogs);
    plots.append(cross, drag, mark);
    fill(
      "timeline",
      el(
        "div.steer",
        {},
        range,
        el("span.buttons", {}, earlier, later, nearer, out, all),
        el("div.overview", { "aria-hidden": "true" }, window_),
      ),
      plots,
      said,
      el(
        "p.hint",
        { id: "timeline-hint" },
        "Drag to zoom, click to see what happened. With the keyboard: ← → move, + − zoom, Enter shows what happened, Escape shows the whole time.",
      ),
      detail,
      series.length > 0 && numbers("Numbers by time", () => valueTable(series)),
      ofLogs.length > 0 && numbers("Numbers of the logs by time", () => valueTable(ofLogs)),
      data?.brokers.length > 0 &&
        numbers("States of brokers", () => bandTable("broker", data.brokers)),
      data?.controllers.length > 0 &&
        numbers("States of controllers", () => bandTable("controller", data.controllers)),
      data?.leadership.length > 0 && numbers("Leaders of the quorum", () => leaderTable(data)),
    );
    draw();
  };
  it.draw = draw;
  return it;
}

const timeline = makeTimeline();
