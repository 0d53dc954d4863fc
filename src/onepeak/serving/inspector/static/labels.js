// All posteriors with one predicted label, by method; the slider moves through the labels, by hand or automatically.
import {classAxis, draw, faint, ink} from "./chart.js";
import {about, byId, counted, element, fillTable, getJson, percent, probability, problem, swatch} from "./page.js";

const slider = byId("label"), shown = byId("shown"), play = byId("play");
const part = byId("part"), rows = byId("rows");
const kept = new Map(), MOST_KEPT = 100, PACE = 900;
const still = matchMedia("(prefers-reduced-motion: reduce)");
let known, timer, turn = 0;

function view(label) {
  const address = new URLSearchParams({label, ...(part?.value ? {part: part.value} : {})}).toString();
  if (!kept.has(address)) {
    if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value);
    kept.set(address, getJson(`/v1/inspect/labels?${address}`).catch(error => { kept.delete(address); throw error; }));
  }
  return kept.get(address);
}

function overlay(row, label, highest) {
  const {colour} = known.looks[row.row], x = [], y = [];
  for (const posterior of row.shown) { // one line with gaps: one trace per posterior would be too many
    posterior.forEach((value, place) => { x.push(place); y.push(value); });
    x.push(null); y.push(null);
  }
  const lines = {type: "scatter", mode: "lines", x, y, line: {color: faint(colour, row.shown.length > 60 ? 0.16 : 0.32), width: 1}, hoverinfo: "skip", connectgaps: false};
  const mean = {type: "scatter", mode: "lines", x: row.mean.map((_, place) => place), y: row.mean, line: {color: colour, width: 3}, customdata: known.classes, hovertemplate: "%{customdata}: mean %{y:.3f}<extra></extra>"};
  return {data: row.count ? [lines, mean] : [], layout: {height: 220, margin: {l: 40, r: 8, t: 6, b: 28}, xaxis: classAxis(known.classes), yaxis: {range: [0, 1.05 * highest], nticks: 4},
    shapes: [{type: "line", x0: label, x1: label, y0: 0, y1: 1, yref: "paper", line: {color: ink("soft"), width: 1.5, dash: "dot"}}]}};
}

function panel(row) {
  const chart = element("div", {class: "chart", role: "img"});
  const made = element("figure", {class: "panel"}, element("figcaption", {}, element("h2", {}, swatch(known.looks[row]), ` ${row}`), element("p", {class: "quiet"})), chart);
  rows.append(made);
  return made;
}

async function show() {
  const label = Number(slider.value), own = ++turn;
  shown.textContent = known.classes[label];
  slider.setAttribute("aria-valuetext", known.classes[label]);
  const address = new URL(location.href);
  address.searchParams.set("label", label);
  if (part?.value) address.searchParams.set("part", part.value); else address.searchParams.delete("part");
  history.replaceState(null, "", address);
  try {
    const found = await view(label);
    if (own !== turn) return; // the slider has moved on
    problem(null);
    found.rows.forEach((row, place) => {
      const made = rows.children[place] ?? panel(row.row), chart = made.querySelector(".chart");
      const text = row.count ? `${counted(row.count, "posterior")}, ${percent(row.unimodal, 0)} with one peak${row.shown.length < row.count ? `; ${row.shown.length} drawn` : ""}` : "Never predicted";
      made.querySelector("figcaption p").textContent = text;
      chart.setAttribute("aria-label", `${row.row}, predicted ${known.classes[label]}: ${text}`);
      draw(chart, () => overlay(row, label, found.highest));
    });
    if (!timer) byId("said").textContent = `Predicted ${known.classes[label]}: ${found.rows.map(row => `${row.row} ${row.count}`).join(", ")}`;
    fillTable(byId("numbers"), ["Class", ...found.rows.map(row => row.row)],
      known.classes.map((name, place) => [name, ...found.rows.map(row => row.count ? probability(row.mean[place]) : "–")]));
    view((label + 1) % known.classes.length).catch(() => {});
  } catch (error) {
    problem(error);
  }
}

function stop() {
  clearInterval(timer);
  timer = undefined;
  play.setAttribute("aria-pressed", "false");
  play.textContent = "▶ Play";
}

play.addEventListener("click", () => {
  if (timer) return stop();
  play.setAttribute("aria-pressed", "true");
  play.textContent = "❚❚ Pause";
  timer = setInterval(() => {
    slider.value = (Number(slider.value) + 1) % known.classes.length;
    show();
  }, still.matches ? 2 * PACE : PACE);
});
slider.addEventListener("input", () => { stop(); show(); });
part?.addEventListener("change", show);
byId("choice").addEventListener("submit", event => event.preventDefault());
function readAddress() {
  const given = new URLSearchParams(location.search);
  slider.value = given.get("label") ?? Math.floor(known.classes.length / 2);
  if (part) part.value = given.get("part") ?? "";
}

try {
  known = await about();
  readAddress();
  await show();
} catch (error) {
  problem(error);
}
