/* Elements of the page. */

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
  node.append(
    ...children
      .flat()
      .filter((child) => !isNone(child) && child !== false)
      .map((child) => (child instanceof Node ? child : document.createTextNode(child))),
  );
  return node;
}

const button = (text, action, attributes = {}) =>
  el("button", { type: "button", onclick: action, ...attributes }, text);

let wanted = ""; // what is searched for, in lower case

/* A text of the data: visible, cut where it is very long, with what is searched for marked. */
function name(text, longest = LONGEST) {
  if (isNone(text)) return el("span.muted", {}, "–");
  let shown = visible(text);
  if (shown.length > longest) {
    shown = `${shown.slice(0, longest)}… (${number(shown.length - longest)} more characters)`;
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
  if (isNone(ms) || !timeline || ms < timeline.whole.from || ms > timeline.whole.to)
    return time(ms);
  return el(
    "button.plain",
    { type: "button", title: "Show in the timeline", onclick: () => timeline.show(ms) },
    time(ms),
  );
}

/* A command with a button that copies it; one with invisible characters is only shown. */
function command(text) {
  if (isNone(text)) return null;
  const shown = visible(text);
  const code = el(
    "code",
    {},
    shown.split(/( )/).map((word) => (word.length < 40 ? el("span.nowrap", {}, word) : word)),
  );
  if (shown !== text) {
    return el(
      "div.command",
      {},
      code,
      el("span.muted", {}, "not for copying: \\ stands for characters that cannot be seen"),
    );
  }
  const copy = button(
    "Copy",
    async () => {
      try {
        await navigator.clipboard.writeText(text);
        copy.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);
        copy.textContent = document.execCommand("copy") ? "Copied" : "Press Ctrl+C";
      }
      setTimeout(() => {
        copy.textContent = "Copy";
      }, 2000);
    },
    { "aria-label": "Copy the command" },
  );
  return el("div.command", {}, code, copy);
}

const SHAPES = {
  bad: "M3 0h6l3 3v6l-3 3h-6l-3-3v-6z",
  warning: "M6 0l6 12h-12z",
  note: "M6 1a5 5 0 1 1 0 10a5 5 0 1 1 0-10z",
};

const LOOKS = { loss: "bad", stops: "bad", risk: "warning", note: "note" };

function severity(word) {
  const look = Object.hasOwn(LOOKS, word) ? LOOKS[word] : "note";
  const space = "http://www.w3.org/2000/svg";
  const picture = document.createElementNS(space, "svg");
  picture.setAttribute("viewBox", "0 0 12 12");
  picture.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(space, "path");
  shape.setAttribute("d", SHAPES[look]);
  picture.append(shape);
  return el(`span.severity.${look}`, {}, picture, word);
}

const facts = (pairs) =>
  el(
    "dl.facts",
    {},
    pairs
      .filter(Boolean)
      .map(([term, value, small]) =>
        el("div", {}, el("dt", {}, term), el("dd", {}, value, small && el("small", {}, small))),
      ),
  );
