/* Charts and their parts. */

let colours = getComputedStyle(document.documentElement);
const colour = (word) => colours.getPropertyValue(`--${word}`).trim();
const faint = (word, share) => `color-mix(in srgb, ${colour(word)} ${share}%, transparent)`;
const FONT = () => `11px ${colour("sans")}`;
const BYTE_STEPS = UNITS.flatMap((_, unit) =>
  [1, 2, 4, 8, 16, 32, 64, 128, 256, 512].map((size) => size * 1024 ** unit),
);
const COUNT_STEPS = Array.from({ length: 16 }, (_, power) =>
  [1, 2, 5].map((size) => size * 10 ** power),
).flat();
const TIME_STEPS = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60000),
  ...[1, 2, 3, 6, 12].map((hours) => hours * 3600000),
  ...[1, 2, 7, 14, 28, 91, 182, 365, 730, 1825, 3650, 36500].map((days) => days * 86400000),
];

/* Round times in a range, at most about `most`. */
function ticks(from, to, most) {
  const step =
    TIME_STEPS.find((each) => (to - from) / each <= most) ??
    10 ** Math.ceil(Math.log10((to - from) / most));
  const found = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) found.push(at);
  return found;
}

/* A canvas of a size in CSS pixels, clear, with its context. */
function sized(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  return pen;
}

function hatch(pen, word) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const stripe = tile.getContext("2d");
  stripe.strokeStyle = colour(word);
  stripe.lineWidth = 1.4;
  for (const shift of [-6, 0, 6]) {
    stripe.beginPath();
    stripe.moveTo(shift, 6);
    stripe.lineTo(shift + 6, 0);
    stripe.stroke();
  }
  return pen.createPattern(tile, "repeat");
}

const plain = (word) => (pen, x, y, width, height) => {
  pen.fillStyle = colour(word);
  pen.fillRect(x, y, width, height);
};

/* The states of nodes: each has a colour, and some a texture. */
const BROKER_STATES = ["active", "starting", "fenced", "controlled-shutdown", "unregistered"];
const CONTROLLER_STATES = ["leader", "follower", "down"];
const STATES = {
  active: plain("state-active"),
  leader: plain("leader"),
  follower: plain("state-active"),
  down: plain("state-fenced"),
  starting: (pen, x, y, width, height) => {
    pen.fillStyle = hatch(pen, "state-active");
    pen.fillRect(x, y, width, height);
  },
  fenced: plain("state-fenced"),
  "controlled-shutdown": (pen, x, y, width, height) => {
    pen.fillStyle = colour("state-shutdown");
    pen.fillRect(x, y, width, height);
    pen.fillStyle = hatch(pen, "text");
    pen.globalAlpha = 0.55;
    pen.fillRect(x, y, width, height);
    pen.globalAlpha = 1;
  },
  unregistered: (pen, x, y, width, height) => {
    pen.fillStyle = hatch(pen, "state-gone");
    pen.fillRect(x, y, width, height);
  },
};
const stateText = (state) => (state === "controlled-shutdown" ? "in controlled shutdown" : state);

const swatches = []; // small canvases of legends, drawn again with the theme

function swatch(draw) {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const again = () => draw(sized(canvas, 12, 12), 0, 0, 12, 12);
  swatches.push(again);
  again();
  return canvas;
}

/* Horizontal bars: [label, amount, text] each. */
function bars(rows) {
  const most = Math.max(1, ...rows.map(([, amount]) => amount));
  return el(
    "div.bars",
    {},
    rows.map(([label, amount, text]) => {
      const canvas = el("canvas.drawable", { "aria-hidden": "true" });
      canvas.drawn = () => {
        const width = canvas.clientWidth || 100;
        const pen = sized(canvas, width, 12);
        canvas.style.width = "";
        plain("blue")(pen, 0, 1, amount ? Math.max(1, (width * amount) / most) : 0, 10);
      };
      repainted.add(canvas);
      return el("div", {}, el("span.muted", {}, name(label)), canvas, el("span", {}, text));
    }),
  );
}

const repainted = new Set(); // drawings outside the timeline, with `drawn()`

/* A chart of uPlot without its own cursor and legend: the timeline has one for all charts. */
function plot(host, { height, series, unit, gutter, right, range, width, mirrored }) {
  const steps = unit === "bytes" ? BYTE_STEPS : COUNT_STEPS;
  const marked =
    unit === "bytes"
      ? bytes
      : (value) =>
          value >= 10000
            ? new Intl.NumberFormat("en-US", { notation: "compact" }).format(value)
            : number(value);
  const isLevel = series[0].kind === "level";
  const highest = (chart, way) =>
    chart.data
      .slice(1)
      .flat()
      .reduce((most, value) => Math.max(most, way * (value ?? 0)), 0);
  const limits = (chart) => {
    const [up, down] = [highest(chart, 1), mirrored ? highest(chart, -1) : 0];
    return [-1.1 * down, 1.1 * (up || down / 12 || 1)];
  };
  return new uPlot(
    {
      width: width(),
      height,
      padding: [8, right, 2, 0],
      cursor: { show: false },
      legend: { show: false },
      select: { show: false },
      scales: {
        x: { time: false, range: () => [range().from, range().to] },
        y: { range: limits },
      },
      axes: [
        {
          size: 1,
          splits: () => ticks(range().from, range().to, width() / 95),
          values: (_, found) => found.map(() => null),
          grid: { stroke: () => colour("faint"), width: 1 },
          ticks: { show: false },
        },
        {
          size: gutter,
          incrs: steps,
          space: 26,
          font: FONT(),
          stroke: () => colour("muted"),
          values: (_, found) => found.map((value) => marked(Math.abs(value))),
          grid: { stroke: () => colour("faint"), width: 1 },
          ticks: { show: false },
        },
      ],
      series: [
        {},
        ...series.map((each) => ({
          stroke: () => colour(each.colour),
          width: isLevel ? 1.5 : 0,
          fill: () => (isLevel ? faint(each.colour, 26) : colour(each.colour)),
          points: { show: false },
          paths: isLevel ? uPlot.paths.stepped({ align: 1 }) : columns,
        })),
      ],
    },
    [[], ...series.map(() => [])],
    host,
  );
}

/* The columns of a series, as paths of uPlot: its own leave out one whose middle is not in sight. */
function columns(chart, row) {
  const path = new Path2D();
  const zero = chart.valToPos(0, "y", true);
  const { left, width } = chart.bbox;
  chart.data[0].forEach((middle, at) => {
    const value = chart.data[row][at];
    if (!value) return;
    const [start, end] = [-0.5, 0.5].map((share) =>
      chart.valToPos(middle + share * chart.data.width, "x", true),
    );
    const gap = Math.min(0.07 * (end - start), 1.5);
    const from = Math.max(left, start + gap);
    const to = Math.min(left + width, end - gap);
    const top = chart.valToPos(value, "y", true);
    if (to > left && from < left + width)
      path.rect(
        from,
        Math.min(top, zero),
        Math.max(1, to - from),
        Math.max(1, Math.abs(zero - top)),
      );
  });
  return { fill: path, stroke: null, clip: null, band: null, gaps: null, flags: 3 };
}

/* Values of series in groups of buckets wide enough to be seen, as data for uPlot. */
function grouped(series, view, width) {
  const [{ start, step, kind }] = series;
  const length = Math.max(0, ...series.map((each) => each.values.length));
  const size = Math.max(1, Math.ceil((4 * (view.to - view.from)) / step / Math.max(1, width)));
  const first = Math.max(0, Math.floor((view.from - start) / step / size) - 1);
  const last = Math.min(Math.ceil(length / size), Math.ceil((view.to - start) / step / size) + 1);
  const times = [];
  let values = series.map(() => []);
  const join =
    kind === "level" ? (part) => part.reduce((most, value) => Math.max(most, value), 0) : sum;
  for (let at = first; at < last; at += 1) {
    times.push(start + (at + (kind === "level" ? 0 : 0.5)) * size * step);
    series.forEach((each, row) => {
      const value = join(each.values.slice(at * size, (at + 1) * size));
      values[row].push(each.isDown ? -value : value);
    });
  }
  if (kind === "level" && times.length) {
    // the last step has a width too
    times.push(times.at(-1) + size * step);
    values.forEach((row) => row.push(row.at(-1)));
  }
  // What is 0 is not drawn, but for the foot of a step.
  const isFoot = (row, at) => kind === "level" && (row[at - 1] > 0 || row[at + 1] > 0);
  values = values.map((row) =>
    row.map((value, at) => (value === 0 && !isFoot(row, at) ? null : value)),
  );
  return { data: Object.assign([times, ...values], { width: size * step }), size };
}

/* The value of a series in a span of time: what was counted, or the highest level.

   A bucket counts where it begins; the first ones, of a series that begins before *from*, its time,
   count there. Where its buckets are longer than the span, it is that of the bucket around the
   span's middle. */
function valueIn(series, from, to) {
  const at = (ms) => Math.max(0, Math.floor((ms - series.start) / series.step));
  const isWithin = to - from >= series.step;
  const isBegin = from <= (series.from ?? series.start);
  const first = isWithin
    ? Math.ceil(isBegin ? 0 : (from - series.start) / series.step)
    : at((from + to) / 2);
  const last = isWithin ? Math.max(0, Math.ceil((to - series.start) / series.step)) : first + 1;
  const part = (from + to) / 2 < series.start && !isWithin ? [] : series.values.slice(first, last);
  return series.kind === "level"
    ? part.reduce((most, value) => Math.max(most, value), 0)
    : sum(part);
}

const amount = (series, value) => (series.unit === "bytes" ? bytes(value) : number(value));

/* A chart of a log over its own time. */
function smallChart(of) {
  const series = { ...of, kind: "count-per-bucket", colour: of.unit === "bytes" ? "sky" : "blue" };
  const end = of.start + of.values.length * of.step;
  const canvasHost = el("div");
  const node = el(
    "div.small.drawable",
    {},
    el("h3", {}, `${capital(short(of.name))}, ${span(of.step)} a bar`),
    canvasHost,
    el("p.muted", {}, rangeText(of.start, end)),
  );
  let chart = null;
  node.drawn = () => {
    const width = () => Math.max(120, node.clientWidth - 28);
    const range = () => ({ from: of.start, to: end });
    chart ??= plot(canvasHost, {
      height: 130,
      series: [series],
      unit: of.unit,
      gutter: 62,
      right: 4,
      range,
      width,
    });
    chart.setSize({ width: width(), height: 130 });
    chart.setData(grouped([series], range(), width() - 66).data);
  };
  repainted.add(node);
  return node;
}
