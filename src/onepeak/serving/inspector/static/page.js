// Shared by all pages: fetching, formatting, and building elements.

export const byId = name => document.getElementById(name);

/** JSON from the server; an error carries the server's message. */
export async function getJson(address, options) {
  let answer;
  try {
    answer = await fetch(address, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not respond. Is onepeak inspect still running?");
  }
  const content = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(content.error?.message ?? `The server answered ${answer.status}.`);
  return content;
}

export const about = () => (known ??= getJson("/v1/inspect/about"));
let known;

/** Shows an error message, or removes it. */
export function problem(error) {
  const place = byId("problem");
  place.hidden = !error;
  place.textContent = error ? error.message : "";
  if (error) console.info(error);
}

/** An element with attributes and children; null and false are left out. Text is never parsed as HTML. */
export function element(name, attributes = {}, ...children) {
  const svg = ["svg", "rect", "path", "line"].includes(name);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter(child => child !== null && child !== false && child !== undefined));
  return made;
}

export const percent = (share, digits = 1) => share === null ? "–" : `${(100 * share).toFixed(digits)} %`;
export const number = value => value === null ? "–" : value.toFixed(value >= 10 ? 2 : 3);
export const probability = value => value >= 0.0995 ? value.toFixed(2) : value >= 0.0005 ? value.toFixed(3) : "<0.001";
export const counted = (count, noun) => `${count.toLocaleString("en")} ${count === 1 ? noun : noun + "s"}`;

const DASHES = {solid: null, dash: "5 3", dot: "2 2", dashdot: "6 2 2 2"};

/** A short line in the style that the charts use for a method. */
export function swatch(look) {
  return element("svg", {class: "swatch", viewBox: "0 0 22 8", width: 22, height: 8, "aria-hidden": "true"},
    element("line", {x1: 1, x2: 21, y1: 4, y2: 4, stroke: look.colour, "stroke-width": 3, "stroke-dasharray": DASHES[look.dash]}));
}

/** A row of a table, one line per column. */
export const features = (values, look) => element("dl", {class: look},
  Object.entries(values).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));

/** Fills a table: column names, then rows whose first cell is their name. */
export function fillTable(table, header, rows) {
  table.tHead.replaceChildren(element("tr", {}, header.map(each => element("th", {scope: "col"}, each))));
  table.tBodies[0].replaceChildren(...rows.map(([first, ...cells]) =>
    element("tr", {}, element("th", {scope: "row"}, first), cells.map(cell => element("td", {}, cell)))));
}

/** Whether a key press is meant for a field, not for the page. */
export const typing = event => event.target.matches?.("input:not([type=checkbox]):not([type=range]), select, textarea")
  || event.ctrlKey || event.metaKey || event.altKey;

/** The link that a click follows in this tab, to be handled by the page itself; null for other clicks. */
export function followed(event) {
  const link = event.target.closest("a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return null;
  event.preventDefault();
  return link;
}
