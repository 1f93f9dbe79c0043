/* Sections about logs: logs, groups, transactions, sources. */

const logName = (log) =>
  isNone(log.topic)
    ? (log.directory ?? log.kind)
    : isNone(log.partition)
      ? log.topic
      : `${log.topic}-${log.partition}`;

function logs() {
  const { logs: rows, more } = report;
  if (!rows.length) return;
  fill(
    "logs",
    table({
      section: "logs",
      caption: { text: "Logs", quiet: true },
      rows,
      left: more.logs,
      columns: [
        { label: "Log", value: logName, text: (row) => `${logName(row)}\n${row.directory ?? ""}` },
        { label: "Kind", value: (row) => row.kind, cell: (row) => el("span.nowrap", {}, row.kind) },
        { label: "Records", number: true, value: (row) => row.records },
        { label: "Size", number: true, value: (row) => row.bytes, cell: (row) => bytes(row.bytes) },
        { label: "First", value: (row) => row.firstTime, cell: (row) => timeLink(row.firstTime) },
        { label: "Last", value: (row) => row.lastTime, cell: (row) => timeLink(row.lastTime) },
        { label: "Gaps", number: true, value: (row) => row.gaps.count },
        {
          label: "Damage",
          number: true,
          isBad: true,
          value: (row) => row.damage.count + row.damage.undecodable,
        },
        { label: "Open transactions", number: true, value: (row) => row.openTransactions },
      ],
      detail: (row) => () => logDetail(row),
    }),
  );
  byId("logs-title").append(count(rows.length + more.logs));
}

function logDetail(log) {
  const { sizes, damage, gaps } = log;
  const pictures = el(
    "div.beside.dense.content",
    {},
    log.series.map((each) => smallChart(each)),
    sizes.counts.length > 0 &&
      el(
        "div.small",
        {},
        el("h3", {}, "Sizes of batches"),
        el(
          "p.muted",
          {},
          `${bytes(sizes.min)} to ${bytes(sizes.max)}, half up to ${bytes(sizes.p50)}, 99 % up to ${bytes(sizes.p99)}`,
        ),
        bars(
          sizes.counts.map((many, at) => [`from ${bytes(sizes.starts[at])}`, many, number(many)]),
        ),
      ),
    log.codecs.length > 0 &&
      el(
        "div.small",
        {},
        el("h3", {}, "Codecs"),
        el("p.muted", {}, "Batches, and how much they inflate"),
        bars(
          log.codecs.map((each) => [
            each.codec,
            each.batches,
            `${number(each.batches)}${each.compressedBytes && each.codec !== "none" ? ` · ${(each.uncompressedBytes / each.compressedBytes).toFixed(1)} ×` : ""}`,
          ]),
        ),
      ),
  );
  const hurt = damage.count > 0 || damage.undecodable > 0;
  const node = el(
    "div",
    {},
    facts([
      [
        "Offsets",
        isNone(log.firstOffset) ? "–" : `${number(log.firstOffset)} – ${number(log.lastOffset)}`,
      ],
      ["Batches", number(log.batches), `in ${plural(log.segments, "segment")}`],
      [
        "Gaps",
        number(gaps.count),
        gaps.count ? `${plural(gaps.offsets, "offset")} without a record` : null,
      ],
      [
        "Damage",
        hurt ? plural(damage.count, "place") : "none",
        hurt
          ? `${bytes(damage.bytes)}, ${plural(damage.undecodable, "record")} cannot be decoded`
          : null,
      ],
      log.directory && ["Directory", name(log.directory)],
    ]),
    hurt &&
      !isNone(damage.firstReason) &&
      el(
        "p.notice",
        {},
        "First damage: ",
        name(damage.firstFile),
        ` at position ${number(damage.firstPosition)}: `,
        name(damage.firstReason),
      ),
    pictures,
    command(log.command),
  );
  node.drawn = () => pictures.querySelectorAll(".drawable").forEach((each) => each.drawn());
  return [node];
}

function groups() {
  if (!report.groups.length) return;
  fill(
    "groups",
    table({
      section: "groups",
      caption: { text: "Groups", quiet: true },
      rows: report.groups,
      left: report.more.groups,
      detail: records,
      columns: [
        { label: "Group", value: (row) => row.name },
        { label: "State", value: (row) => row.state },
        { label: "Members", number: true, value: (row) => row.members },
        { label: "Partitions", number: true, value: (row) => row.partitions },
        { label: "Lag", number: true, value: (row) => row.lag },
        {
          label: "Last commit",
          value: (row) => row.lastCommit,
          cell: (row) => timeLink(row.lastCommit),
        },
      ],
    }),
  );
  byId("groups-title").append(count(report.groups.length + report.more.groups));
}

function transactions() {
  if (!report.transactions.length) return;
  fill(
    "transactions",
    table({
      section: "transactions",
      caption: { text: "Hanging transactions", quiet: true },
      rows: report.transactions,
      left: report.more.transactions,
      detail: records,
      columns: [
        { label: "Transactional id", value: (row) => row.transactionalId },
        { label: "Producer", number: true, isId: true, value: (row) => row.producerId },
        { label: "Epoch", number: true, isId: true, value: (row) => row.producerEpoch },
        { label: "Log", value: (row) => (isNone(row.topic) ? null : logName(row)) },
        { label: "First offset", number: true, value: (row) => row.firstOffset },
        { label: "Since", value: (row) => row.since, cell: (row) => timeLink(row.since) },
      ],
    }),
  );
  byId("transactions-title").append(count(report.transactions.length + report.more.transactions));
}

function sources() {
  if (!report.sources.length) return; // an examination counts no records
  fill(
    "sources",
    table({
      section: "sources",
      caption: { text: "Sources", quiet: true },
      rows: report.sources,
      left: report.more.sources,
      columns: [
        { label: "Source", value: (row) => row.name },
        { label: "Kind", value: (row) => row.kind, cell: (row) => el("span.nowrap", {}, row.kind) },
        { label: "Records", number: true, value: (row) => row.records },
        { label: "Size", number: true, value: (row) => row.bytes, cell: (row) => bytes(row.bytes) },
        { label: "First offset", number: true, value: (row) => row.firstOffset },
        { label: "Last offset", number: true, value: (row) => row.lastOffset },
        {
          label: "First time",
          value: (row) => row.firstTime,
          cell: (row) => timeLink(row.firstTime),
        },
        { label: "Last time", value: (row) => row.lastTime, cell: (row) => timeLink(row.lastTime) },
        {
          label: "Known since",
          value: (row) => row.knownSince,
          cell: (row) => timeLink(row.knownSince),
        },
        { label: "Damage", number: true, isBad: true, value: (row) => row.damage },
      ],
    }),
  );
}
