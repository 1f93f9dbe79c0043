/* The script of a report: shows the data of the block "report-data", and nothing else.

   Text of the data reaches the page as text nodes alone. The parts, in order: texts, elements,
   tables, sections, charts, the timeline, and what holds them together (search, theme, print).
   Times are in ms since 1970, and are shown in UTC. */

"use strict";

(() => {
  const isNone = (value) => value === null || value === undefined;

  /* Offsets and ids beyond 2^53 stay texts, where the browser gives them (context.source). */
  const LONG = new Set(["offset", "firstOffset", "lastOffset", "producerId"]);
  const report = JSON.parse(document.getElementById("report-data").textContent, (key, value, context) =>
    (LONG.has(key) && !isNone(value) && !Number.isSafeInteger(value) && context?.source ? context.source : value));
  const byId = (id) => document.getElementById(id);

  // Texts

  const NUMBER = new Intl.NumberFormat("en-US");
  const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const SPANS = [["d", 86400000], ["h", 3600000], ["min", 60000], ["s", 1000], ["ms", 1]];
  const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?<=\p{M}{3})\p{M}/gu; // and marks upon marks
  const SHORT = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  const LONGEST = 240; // characters of a name in a table

  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

  /* A text without characters that have no shape, or change the order of others. */
  const visible = (text) =>
    String(text).replace(INVISIBLE, (sign) => {
      const code = sign.codePointAt(0);
      return SHORT[sign] ?? (code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}`
        : `\\u${code.toString(16).padStart(4, "0")}`);
    });

  const short = (text) => visible(text).slice(0, 40);
  const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);
  const number = (value) => (isNone(value) ? "–" : typeof value === "string" ? value : NUMBER.format(value));

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

  const timeText = (ms) => (isNone(ms) ? "–" : "{0} {1}{2}".replace(/\{(\d)\}/g, (_, at) => moment(ms)[at]).trim());

  function rangeText(from, to) {
    const [day] = moment(from);
    const [lastDay, clock, fraction] = moment(to);
    return `${timeText(from)} – ${day === lastDay ? clock + fraction : timeText(to)}`;
  }

  // Elements

  /* An element; attributes with names "on…" are listeners, children are elements or texts. */
  function el(tag, attributes = {}, ...children) {
    const [name, ...classes] = tag.split(".");
    const node = document.createElement(name);
    if (classes.length) node.className = classes.join(" ");
    for (const [key, value] of Object.entries(attributes)) {
      if (isNone(value) || value === false) continue;
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children.flat().filter((child) => !isNone(child) && child !== false)
      .map((child) => (child instanceof Node ? child : document.createTextNode(child))));
    return node;
  }

  const button = (text, action, attributes = {}) =>
    el("button", { type: "button", onclick: action, ...attributes }, text);

  let wanted = ""; // what is searched for, in lower case

  /* A text of the data: visible, cut where it is very long, with what is searched for marked. */
  function name(text) {
    if (isNone(text)) return el("span.muted", {}, "–");
    let shown = visible(text);
    if (shown.length > LONGEST) {
      shown = `${shown.slice(0, LONGEST)}… (${number(shown.length - LONGEST)} more characters)`;
    }
    const node = el("bdi");
    if (!wanted) {
      node.textContent = shown;
      return node;
    }
    const lower = shown.toLowerCase();
    let at = 0;
    if (lower.length === shown.length) {
      for (let next = lower.indexOf(wanted); next >= 0; next = lower.indexOf(wanted, at)) {
        node.append(shown.slice(at, next), el("mark", {}, shown.slice(next, next + wanted.length)));
        at = next + wanted.length;
      }
    }
    node.append(shown.slice(at));
    return node;
  }

  function time(ms) {
    if (isNone(ms)) return el("span.muted", {}, "–");
    const [day, clock, fraction] = moment(ms);
    return el("time", {}, el("span.date", {}, day), ` ${clock}`, el("span.ms", {}, fraction));
  }

  /* A time that leads to its place in the timeline, where there is one. */
  function timeLink(ms) {
    if (isNone(ms) || !timeline || ms < timeline.whole.from || ms > timeline.whole.to) return time(ms);
    return el("button.plain", { type: "button", title: "Show in the timeline", onclick: () => timeline.show(ms) }, time(ms));
  }

  /* A command with a button that copies it; one with invisible characters is only shown. */
  function command(text) {
    if (isNone(text)) return null;
    const shown = visible(text);
    const code = el("code", {}, shown.split(/( )/).map((word) => (word.length < 40 ? el("span.nowrap", {}, word) : word)));
    if (shown !== text) {
      return el("div.command", {}, code, el("span.muted", {}, "not for copying: \\ stands for characters that cannot be seen"));
    }
    const copy = button("Copy", async () => {
      try {
        await navigator.clipboard.writeText(text);
        copy.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);
        copy.textContent = document.execCommand("copy") ? "Copied" : "Press Ctrl+C";
      }
      setTimeout(() => { copy.textContent = "Copy"; }, 2000);
    }, { "aria-label": "Copy the command" });
    return el("div.command", {}, code, copy);
  }

  const SHAPES = {
    bad: "M3 0h6l3 3v6l-3 3h-6l-3-3v-6z",
    warning: "M6 0l6 12h-12z",
    note: "M6 1a5 5 0 1 1 0 10a5 5 0 1 1 0-10z",
  };

  function severity(word) {
    const space = "http://www.w3.org/2000/svg";
    const picture = document.createElementNS(space, "svg");
    picture.setAttribute("viewBox", "0 0 12 12");
    picture.setAttribute("aria-hidden", "true");
    const shape = document.createElementNS(space, "path");
    shape.setAttribute("d", SHAPES[word] ?? SHAPES.note);
    picture.append(shape);
    return el(`span.severity.${Object.hasOwn(SHAPES, word) ? word : "note"}`, {}, picture, word);
  }

  const facts = (pairs) =>
    el("dl.facts", {}, pairs.filter(Boolean).map(([term, value, small]) =>
      el("div", {}, el("dt", {}, term), el("dd", {}, value, small && el("small", {}, small)))));

  // Tables

  const FIRST_ROWS = innerWidth < 640 ? 8 : 20;
  const MORE_ROWS = 200;
  const lists = []; // all that the search looks through: {section, filter(), matches}

  /* A table of `rows`: sorted by its heads, filtered by the search, shown in parts.

     A column is {label, value(row), cell(row), number, isId, isBad}: what it is sorted and searched
     by, what is shown, whether it has numbers, which may be ids or bad if not 0. `detail(row)` gives what a row opens to, or null. `left` entries are not in the data. */
  function table({ section, caption, columns, rows, detail, left = 0, keep = () => true, sorted = null, empty = "None." }) {
    const words = new Map();
    let order = sorted; // {column, down}
    let shown = FIRST_ROWS;
    let found = rows;
    const body = el("tbody");
    const after = el("div.after-table");
    const heads = columns.map((column, at) => {
      const sort = button(column.label, () => {
        order = order?.column === at ? { column: at, down: !order.down } : { column: at, down: Boolean(column.number) };
        render();
      });
      return el(`th${column.number ? ".number" : ""}`, { scope: "col" }, sort);
    });
    const opener = detail && el("th", { scope: "col" }, el("span.unseen", {}, "Details"));
    const node = el("div", {},
      el("div.table", {}, el("table.cards", {},
        el("caption", caption.quiet ? { class: "unseen" } : {}, caption.text),
        el("thead", {}, el("tr", {}, heads, opener)), body)),
      after);

    function text(row) {
      if (!words.has(row)) {
        words.set(row, columns.map((column) => visible(column.text?.(row) ?? column.value(row) ?? "")).join("\n").toLowerCase());
      }
      return words.get(row);
    }

    function compare(one, other) {
      const [a, b] = [one, other].map(columns[order.column].value);
      if (isNone(a) || isNone(b)) return isNone(a) - isNone(b); // what is not known comes last
      const way = typeof a === "number" && typeof b === "number" ? a - b
        : String(a).localeCompare(String(b), "en", { numeric: true });
      return order.down ? -way : way;
    }

    function line(row) {
      const cells = columns.map((column) => {
        const value = column.value(row);
        const classes = [column.number ? "number" : "text", value === 0 && !column.isId ? "zero" : column.isBad && value ? "alarm" : "", isNone(value) ? "blank" : ""];
        return el("td", { class: classes.filter(Boolean).join(" "), "data-label": column.label },
          column.cell ? column.cell(row) : column.isId && !isNone(value) ? String(value) : column.number ? number(value) : name(value));
      });
      const parts = detail?.(row);
      if (!detail) return [el("tr", {}, cells)];
      if (!parts) return [el("tr", {}, cells, el("td.blank"))];
      const extra = el("tr.more", { hidden: true }, el("td", { colspan: columns.length + 1 }));
      const open = button("Show", () => {
        extra.hidden = !extra.hidden;
        open.textContent = extra.hidden ? "Show" : "Hide";
        open.setAttribute("aria-expanded", String(!extra.hidden));
        main.classList.toggle("opened", !extra.hidden);
        if (!extra.hidden && !extra.firstChild.hasChildNodes()) {
          const made = parts();
          extra.firstChild.append(...made.filter(Boolean));
          made.forEach((each) => each?.drawn?.());
        }
      }, { class: "expander", "aria-expanded": "false", "aria-label": `Show records of ${visible(columns[0].text?.(row) ?? columns[0].value(row) ?? "this row").slice(0, 80)}` });
      const main = el("tr", {}, cells, el("td.number", { "data-label": "Records" }, open));
      return [main, extra];
    }

    function render() {
      heads.forEach((head, at) => {
        if (order?.column === at) head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      });
      found = rows.filter((row) => keep(row) && (!wanted || text(row).includes(wanted)));
      const ordered = order ? [...found].sort(compare) : found;
      body.replaceChildren(...ordered.slice(0, shown).flatMap(line));
      const nothing = found.length === 0 && el("p.none", {}, rows.length ? "No row matches." : empty);
      const rest = ordered.length - shown;
      after.replaceChildren(...[
        nothing,
        rest > 0 && el("span.muted", {}, `${number(shown)} of ${number(ordered.length)} shown`),
        rest > 0 && button(`Show ${number(Math.min(rest, MORE_ROWS))} more`, () => { shown += MORE_ROWS; render(); }),
        left > 0 && el("span.muted", {}, `${number(left)} more are not in this report: a report of a shorter time (--since, --until) has them.`),
      ].filter(Boolean));
    }

    const list = { section, filter: render, get matches() { return found.length; } };
    if (section) lists.push(list);
    render();
    return Object.assign(node, { render });
  }

  // Sections

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
    const times = sources.flatMap((each) => [each.firstTime, each.lastTime]).filter((each) => !isNone(each));
    const from = asked.since ?? report.timeline?.start ?? (times.length ? Math.min(...times) : null);
    const to = asked.until ?? report.timeline?.end ?? (times.length ? Math.max(...times) : null);
    const isTimed = !isNone(from) && !isNone(to);
    const states = cluster && tally(cluster.brokers.map((each) => each.state));
    byId("facts").append(facts([
      isTimed && ["Time, UTC", rangeText(from, to), span(to - from)],
      cluster && ["Cluster", isNone(cluster.clusterId) ? "id not known" : name(cluster.clusterId), cluster.release && `Kafka ${visible(cluster.release)}`],
      cluster && ["Brokers at the end", number(cluster.brokers.length + report.more.brokers), [...states].map(([state, many]) => `${number(many)} ${state}`).join(", ")],
      cluster && ["Partitions at the end", number(cluster.partitions), `in ${plural(cluster.topics, "topic")}`],
      ["Read", plural(sum(sources.map((each) => each.records)), "record"), `${bytes(sum(sources.map((each) => each.bytes)))} in ${plural(sources.length + report.more.sources, "source")}`],
    ]));
    for (const source of sources.filter((each) => !isNone(each.knownSince)).slice(0, 5)) {
      byId("facts").append(el("p.notice", {}, name(source.name), ` begins with a snapshot: what happened before ${timeText(source.knownSince)} UTC is not known.`));
    }
    byId("footer").append(el("p", {}, `Made by ${visible(report.generator)} at ${timeText(report.generatedAt)} UTC. Times are in UTC. This file asks no network for anything. Charts: uPlot, MIT License, © 2022 Leon Sorokin.`));
  }

  function tally(words) {
    const counts = new Map();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    return counts;
  }

  const SEVERITIES = ["bad", "warning", "note"];

  function findings() {
    const rows = [...report.findings].sort((one, other) => SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity));
    const host = el("ul.findings");
    const after = el("p.none");
    const list = { section: "findings", matches: rows.length, filter() {
      const found = rows.filter((row) => !wanted || visible(`${row.code}\n${row.text}`).toLowerCase().includes(wanted));
      list.matches = found.length;
      host.hidden = !found.length;
      after.textContent = found.length ? "" : rows.length ? "No finding matches." : "Nothing wrong was found.";
      after.hidden = found.length > 0;
      host.replaceChildren(...found.map((row) => el("li", {},
        severity(row.severity),
        el("div.body", {},
          el("p.text", {}, name(row.text)),
          el("p.where", {},
            [el("code", {}, visible(row.code)),
              row.count > 1 && `${number(row.count)} times`,
              !isNone(row.first?.time) && el("span", {}, row.count > 1 ? "first at " : "at ", timeLink(row.first.time)),
              !isNone(row.first?.offset) && `offset ${number(row.first.offset)}`,
            ].filter(Boolean).flatMap((part, at) => (at ? [" · ", part] : [part]))),
          command(row.command)))));
    } };
    lists.push(list);
    list.filter();
    fill("findings", host, after, report.more.findings > 0 && el("p.none", {}, `${number(report.more.findings)} more findings are not in this report.`));
    byId("findings-title").append(count(rows.length + report.more.findings));
  }

  function cluster() {
    const { cluster: it, more } = report;
    if (!it) return;
    fill("cluster",
      facts([
        ["Metadata version", name(it.metadataVersion)],
        ["As of", it.time ? timeText(it.time) : "–", `offset ${number(it.offset)}`],
        ["Replicas", number(it.replicas)],
        ["Under-replicated", number(it.underReplicated)],
        ["Under min ISR", number(it.underMinIsr)],
        ["Offline", number(it.offline)],
      ]),
      el("div.beside.uneven.content", {},
        table({ section: "cluster", caption: { text: "Brokers" }, rows: it.brokers, left: more.brokers, columns: [
          { label: "Broker", number: true, isId: true, value: (row) => row.id },
          { label: "State", value: (row) => row.state },
          { label: "Since", value: (row) => row.since, cell: (row) => timeLink(row.since) },
          { label: "Rack", value: (row) => row.rack },
          { label: "Address", value: (row) => row.host },
        ] }),
        el("div", {},
          table({ section: "cluster", caption: { text: "Controllers" }, rows: it.controllers, empty: "None is registered.", columns: [
            { label: "Controller", number: true, isId: true, value: (row) => row.id },
            { label: "Role", value: (row) => (row.isLeader ? "leader" : "follower") },
            { label: "Address", value: (row) => row.host },
          ] }),
          el("div.content", {}, table({ section: "cluster", caption: { text: "Features" }, rows: it.features, columns: [
            { label: "Feature", value: (row) => row.name },
            { label: "Level", number: true, isId: true, value: (row) => row.level },
          ] })))));
  }

  const changeFilter = { kind: "", inZoom: false, table: null, zoom: null };

  function changes() {
    const rows = report.timeline?.changes ?? [];
    if (!report.timeline) return;
    const kinds = tally(rows.map((row) => row.kind));
    const kind = el("select", { "aria-label": "Kind of change", onchange: () => { changeFilter.kind = kind.value; list.render(); } },
      el("option", { value: "" }, "All kinds"),
      [...kinds].sort().map(([word, many]) => el("option", { value: word }, `${word} (${number(many)})`)));
    const zoomed = el("input", { type: "checkbox", onchange: () => { changeFilter.inZoom = zoomed.checked; list.render(); } });
    const list = table({
      section: "changes", caption: { text: "Changes", quiet: true }, rows, left: report.more.changes,
      keep: (row) => (!changeFilter.kind || row.kind === changeFilter.kind)
        && (!changeFilter.inZoom || (row.time >= timeline.zoom.from && row.time <= timeline.zoom.to)),
      columns: [
        { label: "Time", value: (row) => row.time, text: (row) => timeText(row.time), cell: (row) => timeLink(row.time) },
        { label: "Kind", value: (row) => row.kind, cell: (row) => el("span.nowrap", {}, name(row.kind)) },
        { label: "What", value: (row) => row.what },
        { label: "Before", value: (row) => row.before },
        { label: "After", value: (row) => row.after },
        { label: "Offset", number: true, value: (row) => row.offset },
      ],
      detail: (row) => (row.command ? () => [command(row.command)] : null),
      empty: "Nothing was changed.",
    });
    changeFilter.table = list;
    changeFilter.only = () => { zoomed.checked = changeFilter.inZoom = true; list.render(); };
    fill("changes", el("div.filters", {}, kind, el("label.choice", {}, zoomed, "Only in the time shown by the timeline")), list);
    byId("changes-title").append(count(rows.length + report.more.changes));
  }

  const lost = (ms) => (ms ? span(ms) : "0");
  const LOST = [
    { label: "Offline", number: true, isBad: true, value: (row) => row.offlineMs, cell: (row) => lost(row.offlineMs) },
    { label: "Under min ISR", number: true, value: (row) => row.underMinIsrMs, cell: (row) => lost(row.underMinIsrMs) },
    { label: "Under-replicated", number: true, value: (row) => row.underReplicatedMs, cell: (row) => lost(row.underReplicatedMs) },
    { label: "Elections", number: true, value: (row) => row.elections },
    { label: "ISR changes", number: true, value: (row) => row.isrChanges },
  ];
  const records = (row) => (row.command ? () => [command(row.command)] : null);
  const topicName = (row) => [name(row.topic), row.isDeleted && el("span.muted", {}, " (deleted)")].filter(Boolean);

  function worst() {
    const { partitions, topics } = report.worst;
    if (!report.timeline) return;
    fill("partitions", table({ section: "partitions", caption: { text: "Worst partitions", quiet: true }, rows: partitions, left: report.more.partitions, detail: records, empty: "All partitions were healthy all the time.", columns: [
      { label: "Topic", value: (row) => row.topic, cell: topicName },
      { label: "Partition", number: true, isId: true, value: (row) => row.partition },
      ...LOST,
    ] }));
    fill("topics", table({ section: "topics", caption: { text: "Worst topics", quiet: true }, rows: topics, left: report.more.topics, detail: records, empty: "All topics were healthy all the time.", columns: [
      { label: "Topic", value: (row) => row.topic, cell: topicName },
      { label: "Partitions hit", number: true, value: (row) => row.partitions },
      ...LOST,
    ] }));
  }

  const logName = (log) => (isNone(log.topic) ? log.directory ?? log.kind : isNone(log.partition) ? log.topic : `${log.topic}-${log.partition}`);

  function logs() {
    const { logs: rows, more } = report;
    if (!rows.length) return;
    fill("logs", table({ section: "logs", caption: { text: "Logs", quiet: true }, rows, left: more.logs, columns: [
      { label: "Log", value: logName, text: (row) => `${logName(row)}\n${row.directory ?? ""}` },
      { label: "Kind", value: (row) => row.kind },
      { label: "Records", number: true, value: (row) => row.records },
      { label: "Size", number: true, value: (row) => row.bytes, cell: (row) => bytes(row.bytes) },
      { label: "First", value: (row) => row.firstTime, cell: (row) => timeLink(row.firstTime) },
      { label: "Last", value: (row) => row.lastTime, cell: (row) => timeLink(row.lastTime) },
      { label: "Gaps", number: true, value: (row) => row.gaps.count },
      { label: "Damage", number: true, isBad: true, value: (row) => row.damage.count + row.damage.undecodable },
      { label: "Open transactions", number: true, value: (row) => row.openTransactions },
    ], detail: (row) => () => logDetail(row) }));
    byId("logs-title").append(count(rows.length + more.logs));
  }

  function logDetail(log) {
    const { sizes, damage, gaps } = log;
    const pictures = el("div.beside.dense.content", {},
      log.series.map((each) => smallChart(each)),
      sizes.counts.length > 0 && el("div.small", {}, el("h3", {}, "Sizes of batches"),
        el("p.muted", {}, `${bytes(sizes.min)} to ${bytes(sizes.max)}, half up to ${bytes(sizes.p50)}, 99 % up to ${bytes(sizes.p99)}`),
        bars(sizes.counts.map((many, at) => [`from ${bytes(sizes.starts[at])}`, many, number(many)]))),
      log.codecs.length > 0 && el("div.small", {}, el("h3", {}, "Codecs"),
        el("p.muted", {}, "Batches, and how much they inflate"),
        bars(log.codecs.map((each) => [each.codec, each.batches,
          `${number(each.batches)}${each.compressedBytes && each.codec !== "none" ? ` · ${(each.uncompressedBytes / each.compressedBytes).toFixed(1)} ×` : ""}`]))));
    const hurt = damage.count > 0 || damage.undecodable > 0;
    const node = el("div", {},
      facts([
        ["Offsets", isNone(log.firstOffset) ? "–" : `${number(log.firstOffset)} – ${number(log.lastOffset)}`],
        ["Batches", number(log.batches), `in ${plural(log.segments, "segment")}`],
        ["Gaps", number(gaps.count), gaps.count ? `${plural(gaps.offsets, "offset")} without a record` : null],
        ["Damage", hurt ? plural(damage.count, "place") : "none", hurt ? `${bytes(damage.bytes)}, ${plural(damage.undecodable, "record")} cannot be decoded` : null],
        log.directory && ["Directory", name(log.directory)],
      ]),
      hurt && !isNone(damage.firstReason) && el("p.notice", {}, "First damage: ", name(damage.firstFile), ` at position ${number(damage.firstPosition)}: `, name(damage.firstReason)),
      pictures, command(log.command));
    node.drawn = () => pictures.querySelectorAll(".drawable").forEach((each) => each.drawn());
    return [node];
  }

  function groups() {
    if (!report.groups.length) return;
    fill("groups", table({ section: "groups", caption: { text: "Groups", quiet: true }, rows: report.groups, left: report.more.groups, detail: records, columns: [
      { label: "Group", value: (row) => row.name },
      { label: "State", value: (row) => row.state },
      { label: "Members", number: true, value: (row) => row.members },
      { label: "Partitions", number: true, value: (row) => row.partitions },
      { label: "Lag", number: true, value: (row) => row.lag },
      { label: "Last commit", value: (row) => row.lastCommit, cell: (row) => timeLink(row.lastCommit) },
    ] }));
    byId("groups-title").append(count(report.groups.length + report.more.groups));
  }

  function transactions() {
    if (!report.transactions.length) return;
    fill("transactions", table({ section: "transactions", caption: { text: "Hanging transactions", quiet: true }, rows: report.transactions, left: report.more.transactions, detail: records, columns: [
      { label: "Transactional id", value: (row) => row.transactionalId },
      { label: "Producer", number: true, isId: true, value: (row) => row.producerId },
      { label: "Epoch", number: true, isId: true, value: (row) => row.producerEpoch },
      { label: "Log", value: (row) => (isNone(row.topic) ? null : logName(row)) },
      { label: "First offset", number: true, value: (row) => row.firstOffset },
      { label: "Since", value: (row) => row.since, cell: (row) => timeLink(row.since) },
    ] }));
    byId("transactions-title").append(count(report.transactions.length + report.more.transactions));
  }

  function sources() {
    fill("sources", table({ section: "sources", caption: { text: "Sources", quiet: true }, rows: report.sources, left: report.more.sources, columns: [
      { label: "Source", value: (row) => row.name },
      { label: "Kind", value: (row) => row.kind },
      { label: "Records", number: true, value: (row) => row.records },
      { label: "Size", number: true, value: (row) => row.bytes, cell: (row) => bytes(row.bytes) },
      { label: "First offset", number: true, value: (row) => row.firstOffset },
      { label: "Last offset", number: true, value: (row) => row.lastOffset },
      { label: "First time", value: (row) => row.firstTime, cell: (row) => timeLink(row.firstTime) },
      { label: "Last time", value: (row) => row.lastTime, cell: (row) => timeLink(row.lastTime) },
      { label: "Known since", value: (row) => row.knownSince, cell: (row) => timeLink(row.knownSince) },
      { label: "Damage", number: true, isBad: true, value: (row) => row.damage },
    ] }));
  }

  // Charts

  let colours = getComputedStyle(document.documentElement);
  const colour = (word) => colours.getPropertyValue(`--${word}`).trim();
  const faint = (word, share) => `color-mix(in srgb, ${colour(word)} ${share}%, transparent)`;
  const FONT = () => `11px ${colour("sans")}`;
  const BYTE_STEPS = UNITS.flatMap((_, unit) => [1, 2, 4, 8, 16, 32, 64, 128, 256, 512].map((size) => size * 1024 ** unit));
  const COUNT_STEPS = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((size) => size * 10 ** power)).flat();
  const TIME_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500,
    ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1000),
    ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60000),
    ...[1, 2, 3, 6, 12].map((hours) => hours * 3600000),
    ...[1, 2, 7, 14, 28, 91, 182, 365, 730, 1825, 3650, 36500].map((days) => days * 86400000)];

  /* Round times in a range, at most about `most`. */
  function ticks(from, to, most) {
    const step = TIME_STEPS.find((each) => (to - from) / each <= most) ?? 10 ** Math.ceil(Math.log10((to - from) / most));
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

  /* The states of a broker: each has a colour, and all but the usual one a texture or a height. */
  const STATES = {
    active: (pen, x, y, width, height) => { pen.fillStyle = colour("state-active"); pen.fillRect(x, y, width, height); },
    fenced: (pen, x, y, width, height) => { pen.fillStyle = colour("state-fenced"); pen.fillRect(x, y, width, height); },
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

  const plain = (word) => (pen, x, y, width, height) => { pen.fillStyle = colour(word); pen.fillRect(x, y, width, height); };

  /* Horizontal bars: [label, amount, text] each. */
  function bars(rows) {
    const most = Math.max(1, ...rows.map(([, amount]) => amount));
    return el("div.bars", {}, rows.map(([label, amount, text]) => {
      const canvas = el("canvas.drawable", { "aria-hidden": "true" });
      canvas.drawn = () => {
        const width = canvas.clientWidth || 100;
        const pen = sized(canvas, width, 12);
        canvas.style.width = "";
        plain("blue")(pen, 0, 1, amount ? Math.max(1, (width * amount) / most) : 0, 10);
      };
      repainted.add(canvas);
      return el("div", {}, el("span.muted", {}, name(label)), canvas, el("span", {}, text));
    }));
  }

  const repainted = new Set(); // drawings outside the timeline, with `drawn()`

  /* A chart of uPlot without its own cursor and legend: the timeline has one for all charts. */
  function plot(host, { height, series, unit, gutter, right, range, width, mirrored }) {
    const steps = unit === "bytes" ? BYTE_STEPS : COUNT_STEPS;
    const marked = unit === "bytes" ? bytes
      : (value) => (value >= 10000 ? new Intl.NumberFormat("en-US", { notation: "compact" }).format(value) : number(value));
    const isLevel = series[0].kind === "level";
    const highest = (chart, way) => chart.data.slice(1).flat().reduce((most, value) => Math.max(most, way * (value ?? 0)), 0);
    const limits = (chart) => {
      const [up, down] = [highest(chart, 1), mirrored ? highest(chart, -1) : 0];
      return [-1.1 * down, 1.1 * (up || down / 12 || 1)];
    };
    return new uPlot({
      width: width(), height, padding: [8, right, 2, 0], cursor: { show: false }, legend: { show: false }, select: { show: false },
      scales: {
        x: { time: false, range: () => [range().from, range().to] },
        y: { range: limits },
      },
      axes: [
        { size: 1, splits: () => ticks(range().from, range().to, width() / 95), values: (_, found) => found.map(() => null), grid: { stroke: () => colour("faint"), width: 1 }, ticks: { show: false } },
        { size: gutter, incrs: steps, space: 26, font: FONT(), stroke: () => colour("muted"), values: (_, found) => found.map((value) => marked(Math.abs(value))), grid: { stroke: () => colour("faint"), width: 1 }, ticks: { show: false } },
      ],
      series: [{}, ...series.map((each) => ({
        stroke: () => colour(each.colour), width: isLevel ? 1.5 : 0,
        fill: () => (isLevel ? faint(each.colour, 26) : colour(each.colour)),
        points: { show: false },
        paths: isLevel ? uPlot.paths.stepped({ align: 1 }) : columns,
      }))],
    }, [[], ...series.map(() => [])], host);
  }

  /* The columns of a series, as paths of uPlot: its own leave out one whose middle is not in sight. */
  function columns(chart, row) {
    const path = new Path2D();
    const zero = chart.valToPos(0, "y", true);
    const { left, width } = chart.bbox;
    chart.data[0].forEach((middle, at) => {
      const value = chart.data[row][at];
      if (!value) return;
      const [start, end] = [-0.5, 0.5].map((share) => chart.valToPos(middle + share * chart.data.width, "x", true));
      const gap = Math.min(0.07 * (end - start), 1.5);
      const from = Math.max(left, start + gap);
      const to = Math.min(left + width, end - gap);
      const top = chart.valToPos(value, "y", true);
      if (to > left && from < left + width) path.rect(from, Math.min(top, zero), Math.max(1, to - from), Math.max(1, Math.abs(zero - top)));
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
    const join = kind === "level" ? (part) => part.reduce((most, value) => Math.max(most, value), 0) : sum;
    for (let at = first; at < last; at += 1) {
      times.push(start + (at + (kind === "level" ? 0 : 0.5)) * size * step);
      series.forEach((each, row) => {
        const value = join(each.values.slice(at * size, (at + 1) * size));
        values[row].push(each.isDown ? -value : value);
      });
    }
    if (kind === "level" && times.length) { // the last step has a width too
      times.push(times.at(-1) + size * step);
      values.forEach((row) => row.push(row.at(-1)));
    }
    // What is 0 is not drawn, but for the foot of a step.
    const isFoot = (row, at) => kind === "level" && (row[at - 1] > 0 || row[at + 1] > 0);
    values = values.map((row) => row.map((value, at) => (value === 0 && !isFoot(row, at) ? null : value)));
    return { data: Object.assign([times, ...values], { width: size * step }), size };
  }

  /* The value of a series in a span of time: what was counted, or the highest level.

     Where its buckets are longer than the span, it is that of the bucket around the span's middle. */
  function valueIn(series, from, to) {
    const at = (ms) => Math.max(0, Math.floor((ms - series.start) / series.step));
    const isWithin = to - from >= series.step;
    const first = isWithin ? Math.max(0, Math.ceil((from - series.start) / series.step)) : at((from + to) / 2);
    const last = isWithin ? Math.max(0, Math.ceil((to - series.start) / series.step)) : first + 1;
    const part = (from + to) / 2 < series.start && !isWithin ? [] : series.values.slice(first, last);
    return series.kind === "level" ? part.reduce((most, value) => Math.max(most, value), 0) : sum(part);
  }

  const amount = (series, value) => (series.unit === "bytes" ? bytes(value) : number(value));

  /* A chart of a log over its own time. */
  function smallChart(of) {
    const series = { ...of, kind: "count-per-bucket", colour: of.unit === "bytes" ? "sky" : "blue" };
    const end = of.start + of.values.length * of.step;
    const canvasHost = el("div");
    const node = el("div.small.drawable", {}, el("h3", {}, `${capital(short(of.name))}, ${span(of.step)} a bar`), canvasHost,
      el("p.muted", {}, rangeText(of.start, end)));
    let chart = null;
    node.drawn = () => {
      const width = () => Math.max(120, node.clientWidth - 28);
      const range = () => ({ from: of.start, to: end });
      chart ??= plot(canvasHost, { height: 130, series: [series], unit: of.unit, gutter: 62, right: 4, range, width });
      chart.setSize({ width: width(), height: 130 });
      chart.setData(grouped([series], range(), width() - 66).data);
    };
    repainted.add(node);
    return node;
  }

  // Timeline

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
    { title: "Partitions not healthy", names: ["underReplicated", "underMinIsr", "offline"], height: 150 },
    { title: "Elections of leaders", names: ["elections", "uncleanElections"], height: 100, by: ["elections"], byText: "by the broker that was elected" },
    { title: "Changes of ISRs", names: ["isrExpands", "isrShrinks"], height: 120, by: ["isrShrinks", "isrExpands"], byText: "by the broker that left or joined", down: "isrShrinks" },
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
      const where = parts.length === those ? "all logs" : `${number(parts.length)} of ${number(those)} logs`;
      const step = Math.max(...parts.map((each) => each.step));
      const start = Math.min(...parts.map((each) => Math.floor(each.start / step) * step));
      const end = Math.max(...parts.map((each) => each.start + each.values.length * each.step));
      const values = new Array(Math.ceil((end - start) / step)).fill(0);
      for (const part of parts) {
        part.values.forEach((value, at) => { values[Math.floor((part.start + at * part.step - start) / step)] += value; });
      }
      return { name: word, label: `${short(word)} in ${where}`, unit: parts[0].unit, kind: "count-per-bucket", by: null, start, step, values, colour: parts[0].unit === "bytes" ? "sky" : "green" };
    });
  }

  /* A text with its last `word` replaced: a name of a file before it may have the same word. */
  function withLast(text, word, value) {
    const at = text.lastIndexOf(word);
    return at < 0 ? text : text.slice(0, at) + value + text.slice(at + word.length);
  }

  function makeTimeline() {
    const data = report.timeline;
    const series = (data?.series ?? []).map((each) => ({
      ...each, start: data.start, step: data.step, label: NAMES[each.name]?.[0] ?? short(each.name), colour: NAMES[each.name]?.[1] ?? "green",
    }));
    const ofLogs = logTotals(data);
    if (!data && !ofLogs.length) return null;
    // A bucket of the logs that begins a little earlier, or ends a little later, makes the time no longer.
    const starts = ofLogs.map((each) => (data && each.start + each.step > data.start ? data.start : each.start));
    const ends = ofLogs.map((each) => [each.start + each.values.length * each.step, each.step])
      .map(([end, step]) => (data && end - step < data.end ? data.end : end));
    const start = Math.min(data?.start ?? Infinity, ...starts);
    const whole = { from: start, to: Math.max(start + 1000, data?.end ?? 0, ...ends) };
    const isFar = data && whole.to - whole.from > 3 * (data.end - data.start) && data.end > data.start;
    const it = { whole, zoom: isFar ? { from: data.start, to: data.end } : { ...whole }, step: data?.step ?? ofLogs[0].step, chosen: null, cursor: null };
    const panels = [];
    const plots = el("div.plots", { tabindex: "0", role: "group", "aria-label": "Timeline. Left and right arrows move, plus and minus zoom, Enter shows what happened, Escape shows the whole time.", "aria-describedby": "timeline-hint" });
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

    /* The bucket of a time, in the groups that the charts show. */
    function bucket(ms) {
      const origin = data?.start ?? ofLogs[0].start;
      const size = it.step * Math.max(1, Math.ceil((4 * (it.zoom.to - it.zoom.from)) / it.step / inner()));
      const from = origin + Math.floor((ms - origin) / size) * size;
      return { from, to: from + size };
    }

    function panel(title, entries, extra = null) {
      const values = entries.map(([, , first]) => el("b", {}, first ?? ""));
      const node = el("div.panel", {}, el("div.head", {}, el("h3", {}, title),
        el("ul.legend", {}, entries.map(([draw, label], at) => el("li", {}, swatch(draw), label, " ", values[at]))), extra));
      plots.append(node);
      return { node, values };
    }

    function axis() {
      const canvas = el("canvas", { "aria-hidden": "true" });
      plots.append(canvas);
      panels.push({ draw() {
        const pen = sized(canvas, plots.clientWidth, 38);
        pen.font = FONT();
        pen.textAlign = "center";
        let day = "";
        for (const at of ticks(it.zoom.from, it.zoom.to, inner() / 95)) {
          const [date, clock, fraction] = moment(at);
          const x = Math.min(Math.max(xOf(at), gutter() + 4), plots.clientWidth - 30);
          pen.fillStyle = colour("text");
          pen.fillText(clock.endsWith(":00") && !fraction ? clock.slice(0, 5) : clock + fraction, x, 16);
          if (date !== day) {
            pen.fillStyle = colour("muted");
            pen.fillText(date, x, 30);
          }
          day = date;
        }
      } });
    }

    function seriesPanel({ title, names, height, by = [], byText = "", down = null }, all) {
      const totals = names.map((word) => all.find((each) => each.name === word && each.by === null)).filter(Boolean)
        .map((each) => ({ ...each, isDown: each.name === down }));
      if (!totals.length) return;
      const isOne = totals.length === 1 && totals[0].label.toLowerCase() === title.toLowerCase();
      const { node, values } = panel(title, totals.map((each) => [plain(each.colour), isOne ? "" : each.label]));
      const host = el("div", { role: "img", "aria-label": `${title}: ${totals.map((each) => `${each.label} ${each.kind === "level" ? "at most" : "in all"} ${amount(each, valueIn(each, whole.from, whole.to))}`).join(", ")}. The numbers are in a table below.` });
      node.append(host);
      let chart = null;
      panels.push({
        draw(isNew) {
          const width = plots.clientWidth;
          if (isNew && chart) { chart.destroy(); chart = null; }
          chart ??= plot(host, { height, series: totals, unit: totals[0].unit, gutter: gutter(), right: RIGHT, range: () => it.zoom, width: () => plots.clientWidth, mirrored: Boolean(down) });
          if (chart.width !== width) chart.setSize({ width, height });
          chart.setData(grouped(totals, it.zoom, inner()).data);
        },
        read(from, to) {
          totals.forEach((each, at) => { values[at].textContent = amount(each, valueIn(each, from, to)); });
        },
      });
      const rows = new Map();
      for (const each of all.filter((one) => by.includes(one.name) && one.by !== null)) {
        const row = rows.get(each.by) ?? { id: each.by, start: each.start, step: each.step, kind: each.kind, values: [] };
        each.values.forEach((value, at) => { row.values[at] = (row.values[at] ?? 0) + value; });
        rows.set(each.by, row);
      }
      if (rows.size) heat(node, byText, [...rows.values()]);
    }

    /* Counts by broker: a row each, darker where there is more. */
    function heat(node, text, all) {
      const rows = all.sort((one, other) => sum(other.values) - sum(one.values)).slice(0, MOST_ROWS).sort((one, other) => one.id - other.id);
      const canvas = el("canvas", { role: "img", "aria-label": `${text}: ${rows.slice(0, 8).map((row) => `broker ${row.id} ${number(sum(row.values))}`).join(", ")}` });
      node.append(el("p.remark", {}, `${text}${all.length > rows.length ? `: ${rows.length} of ${number(all.length)} brokers, those with most` : report.more.series > 0 ? ": those with most" : ""}`), canvas);
      const row = { draw() {
        const height = rows.length * THIN_ROW + 4;
        const pen = sized(canvas, plots.clientWidth, height);
        pen.font = FONT();
        pen.textBaseline = "middle";
        pen.textAlign = "right";
        const parts = rows.map((each) => grouped([each], it.zoom, inner()));
        const most = Math.max(1, ...parts.flatMap((part) => part.data[1]));
        const wide = Math.max(2, (inner() * parts[0].size * rows[0].step) / (it.zoom.to - it.zoom.from) - 1);
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
      } };
      panels.push(row);
    }

    /* Draw bands [{from, to, draw(pen, x, y, width, height)}] of a row. */
    function drawBands(pen, bands, y, height) {
      for (const band of bands) {
        const x = Math.max(gutter(), xOf(band.from));
        const right = Math.min(gutter() + inner(), xOf(band.to));
        if (xOf(band.to) < gutter() || x > gutter() + inner()) continue;
        band.draw(pen, x, y, Math.max(1.5, right - x), height);
      }
    }

    function brokers() {
      const all = data.brokers;
      if (!all.length) return;
      const eventful = all.filter((each) => each.bands.some((band) => band.state !== "active"));
      let isAll = all.length <= MOST_ROWS;
      const rows = () => (isAll ? all.slice(0, ALL_ROWS) : (eventful.length ? eventful : all).slice(0, MOST_ROWS));
      const states = Object.keys(STATES);
      const { node, values } = panel("Brokers", states.map((state) => [STATES[state], stateText(state)]));
      const note = el("p.remark");
      const canvas = el("canvas", { role: "img", "aria-label": `States of ${plural(all.length, "broker")}: ${eventful.slice(0, 12).map((each) => `broker ${each.id} was ${[...new Set(each.bands.map((band) => stateText(band.state)))].join(", ")}`).join("; ") || "all were active all the time"}. The states are in a table below.` });
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
            drawBands(pen, each.bands.map((band) => ({ ...band, draw: STATES[band.state] ?? STATES.unregistered })), y, ROW - 6);
          });
          const early = report.more.bands > 0 ? [`${plural(report.more.bands, "earlier change")} of state left out `] : [];
          note.replaceChildren(...early, ...(all.length > MOST_ROWS ? [
            isAll ? `${number(shown.length)} of ${number(all.length)} brokers` : `${number(shown.length)} of ${number(all.length)} brokers: ${eventful.length ? "of those that were not always active" : "all were active all the time"}`,
            button(isAll ? "Show fewer" : `Show ${number(Math.min(all.length, ALL_ROWS))}`, () => { isAll = !isAll; draw(); }),
          ] : []));
        },
        read(from, to) {
          states.forEach((state, at) => {
            values[at].textContent = number(all.filter((each) => each.bands.some((band) => band.state === state && band.from < to && band.to > from)).length);
          });
        },
        hit(x, y) {
          const row = rows()[Math.floor((y - canvas.offsetTop - 4) / ROW)];
          const at = timeAt(x);
          return y >= canvas.offsetTop + 4 && row ? { broker: row, band: row.bands.find((band) => band.from <= at && band.to > at) } : null;
        },
      };
      panels.push(it_);
    }

    function leftOut(node, many, thing) {
      if (many > 0) node.append(el("p.remark", {}, `${plural(many, thing)} left out`));
    }

    function leaders() {
      if (!data.leadership.length) return;
      const { node, values } = panel("Leader of the quorum", [[plain("leader-odd"), "controller"]]);
      const canvas = el("canvas", { role: "img", "aria-label": `Leaders of the quorum: ${data.leadership.slice(0, 12).map((each) => `${each.leader} in epoch ${each.epoch}`).join(", ")}` });
      node.append(canvas);
      leftOut(node, report.more.leadership, "leader");
      panels.push({
        draw() {
          const pen = sized(canvas, plots.clientWidth, ROW + 6);
          pen.font = FONT();
          pen.textBaseline = "middle";
          pen.strokeStyle = colour("line");
          drawBands(pen, data.leadership.map((each) => ({ ...each, draw(_, x, y, width, height) {
            pen.fillStyle = colour(each.epoch % 2 ? "leader-odd" : "leader-even");
            pen.fillRect(x, y, width, height);
            pen.fillStyle = colour("ground");
            if (x > gutter()) pen.fillRect(x, y, 1, height);
            const text = `${each.leader} · epoch ${each.epoch}`;
            pen.fillStyle = colour("text");
            if (pen.measureText(text).width + 12 < width) pen.fillText(text, x + 6, y + height / 2 + 1);
            else if (pen.measureText(String(each.leader)).width + 4 < width) pen.fillText(String(each.leader), x + 2, y + height / 2 + 1);
          } })), 4, ROW - 4);
        },
        read(from, to) {
          const found = data.leadership.filter((each) => each.from < to && each.to > from);
          const ids = [...new Set(found.map((each) => each.leader))];
          values[0].textContent = found.length > 3 ? `${plural(found.length, "epoch")}` : ids.join(", ") || "none";
        },
      });
    }

    function changeMarks() {
      if (!data.changes.length) return;
      const { node, values } = panel("Changes", [[plain("text"), "topics, configurations, ACLs, features"]]);
      const canvas = el("canvas", { role: "img", "aria-label": `${plural(data.changes.length, "change")} of metadata, in a list below` });
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
          values[0].textContent = number(data.changes.filter((each) => each.time >= from && each.time < to).length);
        },
      });
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
      range.replaceChildren(rangeText(Math.round(from), Math.round(to)), el("small", {}, at ? "under the pointer" : `${span(to - from)} shown, ${span(bucket(from).to - bucket(from).from)} a bar`));
      cross.hidden = it.cursor === null;
      if (at) cross.style.left = `${Math.min(Math.max(xOf(it.cursor), gutter()), gutter() + inner())}px`;
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
      const middle = it.cursor ?? (it.chosen ? (it.chosen.from + it.chosen.to) / 2 : (it.zoom.from + it.zoom.to) / 2);
      const share = Math.min(1, Math.max(0, (middle - it.zoom.from) / (it.zoom.to - it.zoom.from)));
      setZoom(middle - length * share, middle + length * (1 - share));
    };
    const shift = (share) => setZoom(it.zoom.from + share * (it.zoom.to - it.zoom.from), it.zoom.to + share * (it.zoom.to - it.zoom.from));
    const earlier = button("←", () => shift(-0.5), { "aria-label": "Earlier" });
    const later = button("→", () => shift(0.5), { "aria-label": "Later" });
    const nearer = button("+", () => scale(0.5), { "aria-label": "Zoom in" });
    const out = button("−", () => scale(2), { "aria-label": "Zoom out" });
    const all = button("Whole time", () => setZoom(whole.from, whole.to));

    /* Show what happened in a span of time; `hit` is the broker that was pointed at. */
    function choose(from, to, hit = null) {
      it.chosen = { from, to };
      const values = [...series, ...ofLogs].filter((each) => each.by === null).map((each) => [each, valueIn(each, from, to)]).filter(([, value]) => value > 0);
      const within = (each) => each.from < to && each.to > from;
      const away = (data?.brokers ?? []).flatMap((each) => each.bands
        .filter((band) => within(band) && band.state !== "active" && band !== hit?.band).map((band) => ({ id: each.id, ...band })));
      const made = (data?.changes ?? []).filter((each) => each.time >= from && each.time < to);
      const leading = (data?.leadership ?? []).filter((each) => each.from >= from && each.from < to);
      const during = (text) => withLast(withLast(text, "{from}", Math.round(from)), "{to}", Math.round(to));
      const written = report.logs.filter((log) => log.kind !== "metadata" && log.bucketCommand && log.series.some((each) => valueIn({ ...each, kind: "count-per-bucket" }, from, to) > 0));
      const stated = (band) => `${stateText(band.state)} from ${timeText(band.from)} to ${timeText(band.to)} (${span(band.to - band.from)})`;
      detail.replaceChildren(el("div.moment", { id: "moment" },
        el("div.moment-head", {}, el("h3", {}, `${rangeText(Math.round(from), Math.round(to))} UTC`),
          button("Close", () => { it.chosen = null; detail.replaceChildren(); draw(); plots.focus({ preventScroll: true }); })),
        values.length ? el("dl.values", {}, values.map(([each, value]) => el("div", {}, el("dt", {}, each.label), el("dd", {}, amount(each, value), each.kind === "level" ? el("small.muted", {}, " at most") : to - from < each.step ? el("small.muted", {}, ` in ${span(each.step)}`) : "")))) : el("p.none", {}, "Nothing is counted in this time."),
        hit?.band && el("div.content", {}, el("p", {}, `Broker ${hit.broker.id}: ${stated(hit.band)}`), command(hit.band.command)),
        away.length > 0 && el("div.content", {}, el("p", {}, hit?.band ? "Other brokers that were not active" : "Brokers that were not active"), el("ul", {}, away.slice(0, 10).map((band) => el("li", {}, `broker ${band.id}: ${stated(band)}`)), away.length > 10 && el("li", {}, `and ${number(away.length - 10)} more`))),
        leading.length > 0 && el("div.content", {}, el("p", {}, "New leaders of the quorum"), el("ul", {}, leading.slice(0, 10).map((each) => el("li", {}, `controller ${each.leader}, epoch ${each.epoch}, at ${timeText(each.from)}`)))),
        made.length > 0 && el("div.content", {}, el("p", {}, plural(made.length, "change"), ": "), el("ul", {}, made.slice(0, 6).map((each) => el("li", {}, name(each.what), each.before !== null || each.after !== null ? [": ", name(each.before ?? "–"), " → ", name(each.after ?? "–")] : ""))),
          button("Zoom to this time, and list its changes", () => { setZoom(from, to); changeFilter.only(); byId("changes").scrollIntoView(); })),
        data?.bucketCommand && el("div.content", {}, el("p", {}, "The metadata records of this time"), command(during(data.bucketCommand))),
        written.slice(0, MOST_LOGS).map((log) => el("div.content", {}, el("p", {}, "The records of ", name(logName(log)), " of this time"), command(during(log.bucketCommand)))),
        written.length > MOST_LOGS && el("p.none", {}, `${number(written.length - MOST_LOGS)} more logs have records of this time.`)));
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
      return { x: event.clientX - box.left - plots.clientLeft, y: event.clientY - box.top - plots.clientTop };
    };
    const isControl = (event) => event.target.closest("button, a, summary");
    plots.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || isControl(event)) return;
      pressed = place_(event);
      plots.setPointerCapture(event.pointerId);
    });
    plots.addEventListener("pointermove", (event) => {
      const { x } = place_(event);
      it.cursor = x < gutter() - 2 || x > gutter() + inner() + 2 ? null : Math.min(Math.max(timeAt(x), it.zoom.from), it.zoom.to);
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
    plots.addEventListener("pointercancel", () => { pressed = null; drag.hidden = true; });
    plots.addEventListener("pointerleave", () => { if (!pressed) { it.cursor = null; readout(); } });
    plots.addEventListener("dblclick", () => setZoom(whole.from, whole.to));

    function step(ways) {
      const { from, to } = bucket(it.cursor ?? (it.chosen ? it.chosen.from : (it.zoom.from + it.zoom.to) / 2));
      const next = Math.min(Math.max(whole.from, (from + to) / 2 + ways * (to - from)), whole.to - 1);
      it.cursor = next;
      if (next < it.zoom.from || next > it.zoom.to) shift(ways < 0 ? -0.5 : 0.5);
      it.cursor = next;
      readout();
      const here = bucket(next);
      said.textContent = `${timeText(Math.round(here.from))}: ${series.filter((each) => each.by === null).map((each) => [each, valueIn(each, here.from, here.to)]).filter(([, value]) => value).map(([each, value]) => `${each.label} ${amount(each, value)}`).join(", ") || "nothing"}`;
    }

    const KEYS = {
      ArrowLeft: () => step(-1), ArrowRight: () => step(1), PageUp: () => shift(-0.5), PageDown: () => shift(0.5),
      "+": () => scale(0.5), "=": () => scale(0.5), "-": () => scale(2), "0": () => setZoom(whole.from, whole.to),
      Escape: () => { it.cursor = null; setZoom(whole.from, whole.to); },
      Enter: () => { const { from, to } = bucket(it.cursor ?? (it.zoom.from + it.zoom.to) / 2); choose(from, to); },
    };
    plots.addEventListener("keydown", (event) => {
      if (event.target !== plots || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(KEYS, event.key)) return;
      event.preventDefault();
      KEYS[event.key]();
    });

    // The tables behind the charts

    function numbers(summary, make) {
      const node = el("details.numbers", { ontoggle: () => { if (node.open && node.childElementCount === 1) node.append(make()); } }, el("summary", {}, summary));
      return node;
    }

    function valueTable(all) {
      const totals = all.filter((each) => each.by === null);
      const times = [...new Set(totals.flatMap((each) => each.values.map((value, at) => (value ? each.start + at * each.step : null)).filter((at) => at !== null)))].sort((one, other) => one - other);
      return table({ caption: { text: "Numbers by time", quiet: true }, rows: times, empty: "All are 0.", columns: [
        { label: "From", value: (at) => at, cell: timeLink },
        ...totals.map((each) => ({ label: each.label, number: true, value: (at) => valueIn(each, at, at + 1), cell: (at) => amount(each, valueIn(each, at, at + 1)) })),
      ] });
    }

    const BAND_COLUMNS = [
      { label: "From", value: (row) => row.from, cell: (row) => timeLink(row.from) },
      { label: "To", value: (row) => row.to, cell: (row) => timeLink(row.to) },
      { label: "Length", number: true, value: (row) => row.to - row.from, cell: (row) => span(row.to - row.from) },
      { label: "Offset", number: true, value: (row) => row.offset },
    ];
    const bandTable = () => table({ caption: { text: "States of brokers", quiet: true }, rows: data.brokers.flatMap((each) => each.bands.map((band) => ({ id: each.id, rack: each.rack, ...band }))), left: report.more.bands, detail: records, columns: [
      { label: "Broker", number: true, isId: true, value: (row) => row.id },
      { label: "State", value: (row) => stateText(row.state) }, ...BAND_COLUMNS,
    ] });
    const leaderTable = () => table({ caption: { text: "Leaders of the quorum", quiet: true }, rows: data.leadership, left: report.more.leadership, detail: records, columns: [
      { label: "Leader", number: true, isId: true, value: (row) => row.leader },
      { label: "Epoch", number: true, isId: true, value: (row) => row.epoch }, ...BAND_COLUMNS,
    ] });

    it.build = () => {
      axis();
      if (data) {
        brokers();
        leaders();
        for (const each of PANELS) seriesPanel(each, series);
        const known = new Set(PANELS.flatMap((each) => each.names));
        for (const word of new Set(series.map((each) => each.name))) {
          if (!known.has(word)) seriesPanel({ title: NAMES[word]?.[0] ?? short(word), names: [word], height: 90, by: [word], byText: "by broker" }, series);
        }
        changeMarks();
      }
      for (const each of ofLogs) seriesPanel({ title: capital(each.label), names: [each.name], height: 90 }, ofLogs);
      plots.append(cross, drag, mark);
      fill("timeline",
        el("div.steer", {}, range, el("span.buttons", {}, earlier, later, nearer, out, all), el("div.overview", { "aria-hidden": "true" }, window_)),
        plots, said,
        el("p.hint", { id: "timeline-hint" }, "Drag to zoom, click to see what happened. With the keyboard: ← → move, + − zoom, Enter shows what happened, Escape shows the whole time."),
        detail,
        series.length > 0 && numbers("Numbers by time", () => valueTable(series)),
        ofLogs.length > 0 && numbers("Numbers of the logs by time", () => valueTable(ofLogs)),
        data?.brokers.length > 0 && numbers("States of brokers", bandTable),
        data?.leadership.length > 0 && numbers("Leaders of the quorum", leaderTable));
      draw();
    };
    it.draw = draw;
    return it;
  }

  const timeline = makeTimeline();

  // Search, theme, print

  function navigation() {
    const links = [...document.querySelectorAll("main section:not([hidden])")].map((section) => {
      const title = section.querySelector("h2").firstChild.textContent;
      const link = el("a", { href: `#${section.id}` }, title);
      return { section: section.id, title, link };
    });
    byId("sections").append(...links.map(({ link }) => el("li", {}, link)));
    const input = byId("search");
    const search = () => {
      wanted = input.value.trim().toLowerCase();
      for (const list of lists) list.filter();
      let total = 0;
      for (const { section, title, link } of links) {
        const own = lists.filter((list) => list.section === section);
        const matches = sum(own.map((list) => list.matches));
        total += matches;
        link.textContent = wanted && own.length ? `${title} ${number(matches)}` : title;
      }
      byId("found").textContent = wanted ? `${number(total)} found` : "";
    };
    input.addEventListener("input", search);
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        input.value = "";
        search();
      } else if (event.key === "Enter") {
        byId(lists.find((list) => list.matches)?.section ?? "findings").scrollIntoView();
      }
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "/" && !event.target.closest("input, select, textarea")) {
        event.preventDefault();
        input.focus();
      }
    });
  }

  const isDark = matchMedia("(prefers-color-scheme: dark)");
  const THEMES = ["system", "light", "dark"];
  let theme = "system";

  function paint(forced = null) {
    const shown = forced ?? (theme === "system" ? (isDark.matches ? "dark" : "light") : theme);
    document.documentElement.dataset.theme = shown;
    document.documentElement.classList.toggle("printing", forced !== null);
    colours = getComputedStyle(document.documentElement);
    for (const again of swatches) again();
    timeline?.draw(true);
    for (const each of repainted) {
      if (each.isConnected && each.clientWidth) each.drawn();
    }
  }

  function theming() {
    const control = byId("theme");
    control.addEventListener("click", () => {
      theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
      control.textContent = `Theme: ${theme}`;
      paint();
    });
    isDark.addEventListener("change", () => paint());
    addEventListener("beforeprint", () => paint("light"));
    addEventListener("afterprint", () => paint());
    let width = innerWidth;
    addEventListener("resize", () => {
      if (innerWidth !== width) requestAnimationFrame(() => paint());
      width = innerWidth;
    });
  }

  header();
  findings();
  cluster();
  timeline?.build();
  changes();
  worst();
  logs();
  groups();
  transactions();
  sources();
  navigation();
  theming();
  paint();
  document.documentElement.dataset.ready = "true";
})();
