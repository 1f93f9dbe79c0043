/* The tables behind the charts of the timeline. */

function numbers(summary, make) {
  const node = el(
    "details.numbers",
    {
      ontoggle: () => {
        if (node.open && node.childElementCount === 1) node.append(make());
      },
    },
    el("summary", {}, summary),
  );
  return node;
}

function valueTable(all) {
  const totals = all.filter((each) => each.by === null);
  const times = [
    ...new Set(
      totals.flatMap((each) =>
        each.values
          .map((value, at) => (value ? each.start + at * each.step : null))
          .filter((at) => at !== null),
      ),
    ),
  ].sort((one, other) => one - other);
  return table({
    caption: { text: "Numbers by time", quiet: true },
    rows: times,
    empty: "All are 0.",
    columns: [
      { label: "From", value: (at) => at, cell: timeLink },
      ...totals.map((each) => ({
        label: each.label,
        number: true,
        value: (at) => valueIn(each, at, at + 1),
        cell: (at) => amount(each, valueIn(each, at, at + 1)),
      })),
    ],
  });
}

const BAND_COLUMNS = [
  { label: "From", value: (row) => row.from, cell: (row) => timeLink(row.from) },
  { label: "To", value: (row) => row.to, cell: (row) => timeLink(row.to) },
  {
    label: "Length",
    number: true,
    value: (row) => row.to - row.from,
    cell: (row) => span(row.to - row.from),
  },
  { label: "Offset", number: true, value: (row) => row.offset },
];
const bandTable = (thing, nodes) =>
  table({
    caption: { text: `States of ${thing}s`, quiet: true },
    rows: nodes.flatMap((each) =>
      each.bands.map((band) => ({ id: each.id, rack: each.rack, ...band })),
    ),
    left: thing === "broker" ? report.more.bands : 0,
    detail: records,
    columns: [
      { label: capital(thing), number: true, isId: true, value: (row) => row.id },
      { label: "State", value: (row) => stateText(row.state) },
      ...BAND_COLUMNS,
    ],
  });
const leaderTable = (data) =>
  table({
    caption: { text: "Leaders of the quorum", quiet: true },
    rows: data.leadership,
    left: report.more.leadership,
    detail: records,
    columns: [
      { label: "Leader", number: true, isId: true, value: (row) => row.leader },
      { label: "Epoch", number: true, isId: true, value: (row) => row.epoch },
      ...BAND_COLUMNS,
    ],
  });
