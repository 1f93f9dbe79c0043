/* Series of the timeline: their names, panels and totals. */

const NAMES = {
  underReplicated: ["Under-replicated", "blue"],
  underMinIsr: ["Under min ISR", "amber"],
  offline: ["Offline", "vermillion"],
  elections: ["Elections", "blue"],
  uncleanElections: ["Unclean elections", "vermillion"],
  isrExpands: ["Joined the ISR", "sky"],
  isrShrinks: ["Left the ISR", "amber"],
  records: ["Metadata records", "purple"],
};
const PANELS = [
  {
    title: "Partitions not healthy",
    names: ["underReplicated", "underMinIsr", "offline"],
    height: 150,
  },
  {
    title: "Elections of leaders",
    names: ["elections", "uncleanElections"],
    height: 100,
    by: ["elections"],
    byText: "by the broker that was elected",
  },
  {
    title: "Changes of ISRs",
    names: ["isrExpands", "isrShrinks"],
    height: 120,
    by: ["isrShrinks", "isrExpands"],
    byText: "by the broker that left or joined",
    down: "isrShrinks",
  },
  { title: "Metadata records", names: ["records"], height: 80 },
];
const RIGHT = 14;
const ROW = 20; // of a band
const THIN_ROW = 15; // of counts by broker
const MOST_ROWS = 24;
const ALL_ROWS = 500;
const MOST_LOGS = 5; // with commands at a moment

/* The series of all logs together: their steps are powers of two, and their starts multiples.

   A log that goes far beyond the timeline has buckets too long for it, and is left out. */
function logTotals(data) {
  const fits = (each) => !data || each.step * 8 <= data.end - data.start;
  const every = report.logs.flatMap((log) => log.series).filter((each) => each.values.length);
  const all = every.some(fits) ? every.filter(fits) : every;
  return [...new Set(all.map((each) => each.name))].map((word) => {
    const parts = all.filter((each) => each.name === word);
    const those = every.filter((each) => each.name === word).length;
    const where =
      parts.length === those ? "all logs" : `${number(parts.length)} of ${number(those)} logs`;
    const step = Math.max(...parts.map((each) => each.step));
    const start = Math.min(...parts.map((each) => Math.floor(each.start / step) * step));
    const end = Math.max(...parts.map((each) => each.start + each.values.length * each.step));
    const values = new Array(Math.ceil((end - start) / step)).fill(0);
    for (const part of parts) {
      part.values.forEach((value, at) => {
        values[Math.floor((part.start + at * part.step - start) / step)] += value;
      });
    }
    return {
      name: word,
      label: `${short(word)} in ${where}`,
      unit: parts[0].unit,
      kind: "count-per-bucket",
      by: null,
      start,
      step,
      values,
      colour: parts[0].unit === "bytes" ? "sky" : "green",
    };
  });
}

/* A text with its last `word` replaced: a name of a file before it may have the same word. */
function withLast(text, word, value) {
  const at = text.lastIndexOf(word);
  return at < 0 ? text : text.slice(0, at) + value + text.slice(at + word.length);
}
