/* Tables: sorted, searched, shown in parts. */

const FIRST_ROWS = innerWidth < 640 ? 8 : 20;
const MORE_ROWS = 200;
const lists = []; // all that the search looks through: {section, filter(), matches}

/* A table of `rows`: sorted by its heads, filtered by the search, shown in parts.

   A column is {label, value(row), cell(row), number, isId, isBad}: what it is sorted and searched
   by, what is shown, whether it has numbers, which may be ids or bad if not 0. `detail(row)` gives what a row opens to, or null. `left` entries are not in the data. */
function table({
  section,
  caption,
  columns,
  rows,
  detail,
  left = 0,
  keep = () => true,
  sorted = null,
  empty = "None.",
}) {
  const words = new Map();
  let order = sorted; // {column, down}
  let shown = FIRST_ROWS;
  let found = rows;
  const body = el("tbody");
  const after = el("div.after-table");
  const heads = columns.map((column, at) => {
    const sort = button(column.label, () => {
      order =
        order?.column === at
          ? { column: at, down: !order.down }
          : { column: at, down: Boolean(column.number) };
      render();
    });
    return el(`th${column.number ? ".number" : ""}`, { scope: "col" }, sort);
  });
  const opener = detail && el("th", { scope: "col" }, el("span.unseen", {}, "Details"));
  const labels = el("tr", {}, heads, opener);
  const head = el("thead");
  const title = el("caption", caption.quiet ? { class: "unseen" } : {}, caption.text);
  const frame = el("div.table", {}, el("table.cards", {}, title, head, body));
  const node = el("div", {}, frame, after);

  function text(row) {
    if (!words.has(row)) {
      words.set(
        row,
        columns
          .map((column) => visible(column.text?.(row) ?? column.value(row) ?? ""))
          .join("\n")
          .toLowerCase(),
      );
    }
    return words.get(row);
  }

  function compare(one, other) {
    const [a, b] = [one, other].map(columns[order.column].value);
    if (isNone(a) || isNone(b)) return isNone(a) - isNone(b); // what is not known comes last
    const way =
      typeof a === "number" && typeof b === "number"
        ? a - b
        : String(a).localeCompare(String(b), "en", { numeric: true });
    return order.down ? -way : way;
  }

  function line(row) {
    const cells = columns.map((column) => {
      const value = column.value(row);
      const classes = [
        column.number ? "number" : "text",
        value === 0 && !column.isId ? "zero" : column.isBad && value ? "alarm" : "",
        isNone(value) ? "blank" : "",
      ];
      return el(
        "td",
        { class: classes.filter(Boolean).join(" "), "data-label": column.label },
        column.cell
          ? column.cell(row)
          : column.isId && !isNone(value)
            ? String(value)
            : column.number
              ? number(value)
              : name(value),
      );
    });
    const parts = detail?.(row);
    if (!detail) return [el("tr", {}, cells)];
    if (!parts) return [el("tr", {}, cells, el("td.blank"))];
    const extra = el("tr.more", { hidden: true }, el("td", { colspan: columns.length + 1 }));
    const open = button(
      "Show",
      () => {
        extra.hidden = !extra.hidden;
        open.textContent = extra.hidden ? "Show" : "Hide";
        open.setAttribute("aria-expanded", String(!extra.hidden));
        main.classList.toggle("opened", !extra.hidden);
        if (!extra.hidden && !extra.firstChild.hasChildNodes()) {
          const made = parts();
          extra.firstChild.append(...made.filter(Boolean));
          made.forEach((each) => each?.drawn?.());
        }
      },
      {
        class: "expander",
        "aria-expanded": "false",
        "aria-label": `Show records of ${visible(columns[0].text?.(row) ?? columns[0].value(row) ?? "this row").slice(0, 80)}`,
      },
    );
    const main = el("tr", {}, cells, el("td.number", { "data-label": "Records" }, open));
    return [main, extra];
  }

  function render() {
    heads.forEach((head, at) => {
      if (order?.column === at)
        head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    found = rows.filter((row) => keep(row) && (!wanted || text(row).includes(wanted)));
    const ordered = order ? [...found].sort(compare) : found;
    head.replaceChildren(...(found.length ? [labels] : [])); // heads of nothing say nothing
    frame.hidden = !found.length && Boolean(caption.quiet);
    body.replaceChildren(...ordered.slice(0, shown).flatMap(line));
    const nothing = found.length === 0 && el("p.none", {}, rows.length ? "No row matches." : empty);
    const rest = ordered.length - shown;
    after.replaceChildren(
      ...[
        nothing,
        rest > 0 && el("span.muted", {}, `${number(shown)} of ${number(ordered.length)} shown`),
        rest > 0 &&
          button(`Show ${number(Math.min(rest, MORE_ROWS))} more`, () => {
            shown += MORE_ROWS;
            render();
          }),
        left > 0 &&
          el(
            "span.muted",
            {},
            `${number(left)} more are not in this report: a report of a shorter time (--since, --until) has them.`,
          ),
      ].filter(Boolean),
    );
  }

  const list = {
    section,
    filter: render,
    get matches() {
      return found.length;
    },
  };
  if (section) lists.push(list);
  render();
  return Object.assign(node, { render });
}
