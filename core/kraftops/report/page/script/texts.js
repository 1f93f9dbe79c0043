/* The data, and texts of its values. */

const isNone = (value) => value === null || value === undefined;

/* Offsets and ids beyond 2^53 stay texts, where the browser gives them (context.source). */
const LONG = new Set(["offset", "firstOffset", "lastOffset", "producerId"]);
const report = JSON.parse(
  document.getElementById("report-data").textContent,
  (key, value, context) =>
    LONG.has(key) && !isNone(value) && !Number.isSafeInteger(value) && context?.source
      ? context.source
      : value,
);
const byId = (id) => document.getElementById(id);

const NUMBER = new Intl.NumberFormat("en-US");
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
const SPANS = [
  ["d", 86400000],
  ["h", 3600000],
  ["min", 60000],
  ["s", 1000],
  ["ms", 1],
];
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?<=\p{M}{3})\p{M}/gu; // and marks upon marks
const SHORT = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const LONGEST = 240; // characters of a name in a table

const sum = (values) => values.reduce((total, value) => total + value, 0);
const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/* A text without characters that have no shape, or change the order of others. */
const visible = (text) =>
  String(text).replace(INVISIBLE, (sign) => {
    const code = sign.codePointAt(0);
    return (
      SHORT[sign] ??
      (code > 0xffff
        ? `\\U${code.toString(16).padStart(8, "0")}`
        : `\\u${code.toString(16).padStart(4, "0")}`)
    );
  });

const short = (text) => visible(text).slice(0, 40);
const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);
const number = (value) =>
  isNone(value) ? "–" : typeof value === "string" ? value : NUMBER.format(value);

function bytes(value) {
  if (isNone(value)) return "–";
  let unit = 0;
  while (Math.abs(value) >= 1023.95 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return unit ? `${value.toFixed(1)} ${UNITS[unit]}` : `${value} B`;
}

function span(ms) {
  if (isNone(ms)) return "–";
  const parts = [];
  let left = Math.max(0, Math.round(ms));
  for (const [unit, size] of SPANS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count || (parts.length && parts.length < 2)) parts.push(`${count} ${unit}`);
    if (parts.length === 2) break;
  }
  return parts.filter((part) => !part.startsWith("0 ")).join(" ") || "0 ms";
}

/* [date, time, fraction] of a time; the fraction only where it is not 0. */
function moment(ms) {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return [`${ms} ms`, "", ""];
  const [day, clock] = date.toISOString().split("T");
  return [day, clock.slice(0, 8), ms % 1000 ? clock.slice(8, 12) : ""];
}

const timeText = (ms) =>
  isNone(ms) ? "–" : "{0} {1}{2}".replace(/\{(\d)\}/g, (_, at) => moment(ms)[at]).trim();

function rangeText(from, to) {
  const [day] = moment(from);
  const [lastDay, clock, fraction] = moment(to);
  return `${timeText(from)} – ${day === lastDay ? clock + fraction : timeText(to)}`;
}
