/* Sections of the page, but for the timeline. */

const count = (value) => el("span.count", {}, number(value));

/* Fill a section and show it. */
function fill(id, ...children) {
  const section = byId(id);
  section.hidden = false;
  section.querySelector(".content").append(...children.filter(Boolean));
  return section;
}

function header() {
  const { sources, cluster, window: asked } = report;
  document.title = visible(report.title);
  byId("title").textContent = visible(report.title);
  const times = sources
    .flatMap((each) => [each.firstTime, each.lastTime])
    .filter((each) => !isNone(each));
  const from = asked.since ?? report.timeline?.start ?? (times.length ? Math.min(...times) : null);
  const to = asked.until ?? report.timeline?.end ?? (times.length ? Math.max(...times) : null);
  const id = cluster?.clusterId;
  const ofCluster = isNone(id) ? "" : ` from cluster ${visible(id)}`;
  const isTimed = !isNone(from) && !isNone(to);
  const states = cluster && tally(cluster.brokers.map((each) => each.state));
  byId("facts").append(
    facts([
      isTimed && ["Time, UTC", rangeText(from, to), span(to - from)],
      cluster && [
        "Cluster",
        isNone(cluster.clusterId) ? "id not known" : name(cluster.clusterId),
        cluster.release && `Kafka ${visible(cluster.release)}`,
      ],
      cluster && [
        "Brokers at the end",
        number(cluster.brokers.length + report.more.brokers),
        [...states].map(([state, many]) => `${number(many)} ${state}`).join(", "),
      ],
      cluster && [
        "Partitions at the end",
        number(cluster.partitions),
        `in ${plural(cluster.topics, "topic")}`,
      ],
      sources.length > 0 && [
        "Read",
        plural(sum(sources.map((each) => each.records)), "record"),
        `${bytes(sum(sources.map((each) => each.bytes)))} in ${plural(sources.length + report.more.sources, "source")}`,
      ],
      !isNone(report.folder) && [
        "Commands run in",
        name(report.folder),
        `or a copy of it${ofCluster}`,
      ],
    ]),
  );
  for (const source of sources.filter((each) => !isNone(each.knownSince)).slice(0, 5)) {
    byId("facts").append(
      el(
        "p.notice",
        {},
        name(source.name),
        ` begins with a snapshot: what happened before ${timeText(source.knownSince)} UTC is not known.`,
      ),
    );
  }
  const where = isNone(report.folder)
    ? ` Commands name the sources where it was made; elsewhere, take copies${ofCluster}.`
    : "";
  byId("footer").append(
    el(
      "p",
      {},
      `Made by ${visible(report.generator)} at ${timeText(report.generatedAt)} UTC. Times are in UTC.${where} This file asks no network for anything. Charts: uPlot, MIT License, © 2022 Leon Sorokin.`,
    ),
  );
}

function tally(words) {
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function incidents() {
  const { story, incidents: rows, more } = report;
  if (isNone(story)) return;
  fill(
    "incidents",
    el("p.story", {}, name(story, Infinity)),
    table({
      section: "incidents",
      caption: { text: "Incidents", quiet: true },
      rows,
      left: more.incidents,
      empty: "None.",
      detail: (row) => (row.command ? () => [command(row.command)] : null),
      columns: [
        {
          label: "Begin",
          value: (row) => row.begin,
          text: (row) => timeText(row.begin),
          cell: (row) => timeLink(row.begin),
        },
        {
          label: "End",
          value: (row) => row.end,
          text: (row) => (isNone(row.end) ? "still" : timeText(row.end)),
          cell: (row) => (isNone(row.end) ? "still" : timeLink(row.end)),
        },
        {
          label: "Cause",
          value: (row) => row.cause,
          cell: (row) => el("span.nowrap", {}, name(row.cause)),
        },
        { label: "What happened", value: (row) => row.text, cell: (row) => name(row.text, Infinity) },
      ],
    }),
  );
  byId("incidents-title").append(count(rows.length + more.incidents));
}

/** Returns a line for each text, with what it is before it. */
function labelled(label, texts) {
  return texts.map((text) => el("p.where", {}, `${label}: `, name(text, Infinity)));
}

function findings() {
  const rows = report.findings;
  const host = el("ul.findings");
  const after = el("p.none");
  const list = {
    section: "findings",
    matches: rows.length,
    filter() {
      const found = rows.filter(
        (row) => !wanted || visible(`${row.code}\n${row.text}`).toLowerCase().includes(wanted),
      );
      list.matches = found.length;
      host.hidden = !found.length;
      after.textContent = found.length
        ? ""
        : rows.length
          ? "No finding matches."
          : "Nothing wrong was found.";
      after.hidden = found.length > 0;
      host.replaceChildren(
        ...found.map((row) =>
          el(
            "li",
            {},
            severity(row.severity),
            el(
              "div.body",
              {},
              el("p.text", {}, name(row.text)),
              el(
                "p.where",
                {},
                [
                  el("code", {}, visible(row.code)),
                  row.count > 1 && `${number(row.count)} times`,
                  !isNone(row.time) &&
                    el("span", {}, row.count > 1 ? "first at " : "at ", timeLink(row.time)),
                  !isNone(row.file) && el("span", {}, visible(row.file)),
                  !isNone(row.offset) && `offset ${number(row.offset)}`,
                  !isNone(row.position) && `position ${number(row.position)}`,
                ]
                  .filter(Boolean)
                  .flatMap((part, at) => (at ? [" · ", part] : [part])),
              ),
              labelled("evidence", row.evidence.map((fact) => `${fact.source}: ${fact.fact}`)),
              labelled("so", isNone(row.consequence) ? [] : [row.consequence]),
              labelled("cure", isNone(row.cure) ? [] : [row.cure]),
              row.commands.map(command),
            ),
          ),
        ),
      );
    },
  };
  lists.push(list);
  list.filter();
  fill(
    "findings",
    host,
    after,
    report.more.findings > 0 &&
      el("p.none", {}, `${number(report.more.findings)} more findings are not in this report.`),
  );
  byId("findings-title").append(count(rows.length + report.more.findings));
}

function cluster() {
  const { cluster: it, more } = report;
  if (!it) return;
  const hasLeader = it.controllers.some((row) => row.isLeader); // a snapshot does not tell it
  fill(
    "cluster",
    facts([
      ["Metadata version", name(it.metadataVersion)],
      ["As of", it.time ? timeText(it.time) : "–", `offset ${number(it.offset)}`],
      ["Replicas", number(it.replicas)],
      ["Under-replicated", number(it.underReplicated)],
      ["Under min ISR", number(it.underMinIsr)],
      ["Offline", number(it.offline)],
    ]),
    el(
      "div.beside.uneven.content",
      {},
      table({
        section: "cluster",
        caption: { text: "Brokers" },
        rows: it.brokers,
        left: more.brokers,
        columns: [
          { label: "Broker", number: true, isId: true, value: (row) => row.id },
          { label: "State", value: (row) => row.state },
          { label: "Since", value: (row) => row.since, cell: (row) => timeLink(row.since) },
          { label: "Rack", value: (row) => row.rack },
          { label: "Address", value: (row) => row.host },
        ],
      }),
      el(
        "div",
        {},
        table({
          section: "cluster",
          caption: { text: "Controllers" },
          rows: it.controllers,
          empty: "None is registered.",
          columns: [
            { label: "Controller", number: true, isId: true, value: (row) => row.id },
            {
              label: "Role",
              value: (row) => (row.isLeader ? "leader" : hasLeader ? "follower" : null),
            },
            { label: "Address", value: (row) => row.host },
          ],
        }),
        el(
          "div.content",
          {},
          table({
            section: "cluster",
            caption: { text: "Features" },
            rows: it.features,
            columns: [
              { label: "Feature", value: (row) => row.name },
              { label: "Level", number: true, isId: true, value: (row) => row.level },
            ],
          }),
        ),
      ),
    ),
  );
}

/* What clients ask for comes before what nodes do by themselves. */
const OF_NODES = new Set(["broker", "controller"]);

const changeFilter = { kind: "", inZoom: false, withBootstrap: false, table: null, zoom: null };

function changes() {
  const rows = [...(report.timeline?.changes ?? [])].sort(
    (one, other) => OF_NODES.has(one.kind) - OF_NODES.has(other.kind),
  );
  if (!report.timeline) return;
  const kinds = tally(rows.map((row) => row.kind));
  const kind = el(
    "select",
    {
      "aria-label": "Kind of change",
      onchange: () => {
        changeFilter.kind = kind.value;
        list.render();
      },
    },
    el("option", { value: "" }, "All kinds"),
    [...kinds]
      .sort()
      .map(([word, many]) => el("option", { value: word }, `${word} (${number(many)})`)),
  );
  const zoomed = el("input", {
    type: "checkbox",
    onchange: () => {
      changeFilter.inZoom = zoomed.checked;
      list.render();
    },
  });
  const started = rows.filter((row) => row.isBootstrap).length;
  const bootstrap = el("input", {
    type: "checkbox",
    onchange: () => {
      changeFilter.withBootstrap = bootstrap.checked;
      list.render();
    },
  });
  const list = table({
    section: "changes",
    caption: { text: "Changes", quiet: true },
    rows,
    left: report.more.changes,
    keep: (row) =>
      (!changeFilter.kind || row.kind === changeFilter.kind) &&
      (!row.isBootstrap || changeFilter.withBootstrap || changeFilter.kind || wanted) &&
      (!changeFilter.inZoom || (row.time >= timeline.zoom.from && row.time <= timeline.zoom.to)),
    columns: [
      {
        label: "Time",
        value: (row) => row.time,
        text: (row) => timeText(row.time),
        cell: (row) => timeLink(row.time),
      },
      {
        label: "Kind",
        value: (row) => row.kind,
        cell: (row) => el("span.nowrap", {}, name(row.kind)),
      },
      { label: "What", value: (row) => row.what },
      { label: "Before", value: (row) => row.before },
      { label: "After", value: (row) => row.after },
      ...(rows.some((row) => row.likelyPrincipals.length)
        ? [{ label: "Likely by", value: (row) => row.likelyPrincipals.join(" or ") || null }]
        : []),
      { label: "Offset", number: true, value: (row) => row.offset },
    ],
    detail: (row) => (row.command ? () => [command(row.command)] : null),
    empty: "Nothing was changed.",
  });
  changeFilter.table = list;
  changeFilter.only = () => {
    zoomed.checked = changeFilter.inZoom = true;
    list.render();
  };
  fill(
    "changes",
    el(
      "div.filters",
      {},
      kind,
      el("label.choice", {}, zoomed, "Only in the time shown by the timeline"),
      started > 0 &&
        el("label.choice", {}, bootstrap, `Also ${number(started)} by the format of the cluster`),
    ),
    list,
  );
  byId("changes-title").append(count(rows.length + report.more.changes));
}

const lost = (ms) => (ms ? span(ms) : "0");
const LOST = [
  {
    label: "Offline",
    number: true,
    isBad: true,
    value: (row) => row.offlineMs,
    cell: (row) => lost(row.offlineMs),
  },
  {
    label: "Under min ISR",
    number: true,
    value: (row) => row.underMinIsrMs,
    cell: (row) => lost(row.underMinIsrMs),
  },
  {
    label: "Under-replicated",
    number: true,
    value: (row) => row.underReplicatedMs,
    cell: (row) => lost(row.underReplicatedMs),
  },
  { label: "Elections", number: true, value: (row) => row.elections },
  { label: "ISR changes", number: true, value: (row) => row.isrChanges },
];
const records = (row) => (row.command ? () => [command(row.command)] : null);
const topicName = (row) =>
  [name(row.topic), row.isDeleted && el("span.muted", {}, " (deleted)")].filter(Boolean);

function worst() {
  const { partitions, topics } = report.worst;
  if (!report.timeline) return;
  fill(
    "partitions",
    table({
      section: "partitions",
      caption: { text: "Worst partitions", quiet: true },
      rows: partitions,
      left: report.more.partitions,
      detail: records,
      empty: "All partitions were healthy all the time.",
      columns: [
        { label: "Topic", value: (row) => row.topic, cell: topicName },
        { label: "Partition", number: true, isId: true, value: (row) => row.partition },
        ...LOST,
      ],
    }),
  );
  fill(
    "topics",
    table({
      section: "topics",
      caption: { text: "Worst topics", quiet: true },
      rows: topics,
      left: report.more.topics,
      detail: records,
      empty: "All topics were healthy all the time.",
      columns: [
        { label: "Topic", value: (row) => row.topic, cell: topicName },
        { label: "Partitions hit", number: true, value: (row) => row.partitions },
        ...LOST,
      ],
    }),
  );
}
