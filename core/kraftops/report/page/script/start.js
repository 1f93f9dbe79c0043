/* Search, theme, print, and the start. */

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
incidents();
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
