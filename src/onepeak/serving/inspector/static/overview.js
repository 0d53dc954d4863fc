// The first page: a table that can be sorted, error against consistency, learning curves.
import {draw, faint, ink} from "./chart.js";
import {byId, element, fillTable, getJson, number, percent, problem, swatch} from "./page.js";

const SHARES = new Set(["soi_predicted", "unimodal", "accuracy"]), HIGHER = SHARES, METRICS = ["mae", "soi_predicted", "unimodal", "accuracy"];
const table = byId("methods");
const samplesOf = row => `/samples?method=${encodeURIComponent(row)}`;
let found, courses;

function figure(name, {mean, std, best}) {
  const text = SHARES.has(name) ? percent(mean) : number(mean);
  const spread = std === null ? "" : ` ± ${SHARES.has(name) ? (100 * std).toFixed(1) : number(std)}`;
  return element("td", {}, element(best ? "strong" : "span", {}, text), element("span", {class: "quiet"}, spread));
}

const value = (row, key) => key === "row" ? row.row : key === "num_runs" ? row.num_runs : row.figures[key].mean;

function showTable() {
  const address = new URLSearchParams(location.search), key = address.get("sort"), down = address.get("direction") === "down";
  const rows = [...found.rows];
  if (key) rows.sort((one, other) => {
    const [a, b] = [value(one, key), value(other, key)];
    if (a === null || b === null) return (a === null) - (b === null); // undefined values go last in both directions
    return (typeof a === "string" ? a.localeCompare(b) : a - b) * (down ? -1 : 1);
  });
  for (const head of table.tHead.rows[0].cells) {
    if (head.dataset.key === key) head.setAttribute("aria-sort", down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
  table.tBodies[0].replaceChildren(...rows.map(row => element("tr", {},
    element("th", {scope: "row"}, element("a", {href: samplesOf(row.row)}, swatch(row.look), row.row)),
    METRICS.map(name => figure(name, row.figures[name])),
    element("td", {}, String(row.num_runs)))));
}

const chanceSeen = () => found.upward && found.upward[0] <= found.chance && found.chance <= found.upward[1];

function tradeoff() {
  const drawn = found.rows.filter(row => row.points.length);
  const data = drawn.flatMap(row => [
    {type: "scatter", mode: "markers", x: row.points.map(point => point[0]), y: row.points.map(point => point[1]), showlegend: false, legendgroup: row.row,
      marker: {color: faint(row.look.colour, 0.4), size: 6, symbol: row.look.symbol}, hoverinfo: "skip", meta: row.row},
    {type: "scatter", mode: "markers", x: [row.figures.mae.mean], y: [row.figures.soi_predicted.mean], cliponaxis: false, meta: row.row, name: row.row, legendgroup: row.row,
      marker: {color: row.look.colour, size: 12, symbol: row.look.symbol, line: {width: 1, color: ink("ground")}},
      hovertemplate: `${row.row}: MAE %{x:.3f}, SOI %{y:.1%}<extra></extra>`},
  ]);
  const level = {type: "line", x0: 0, x1: 1, xref: "paper", y0: found.chance, y1: found.chance, line: {dash: "dash", width: 1, color: ink("soft")}};
  const word = {x: 0, xref: "paper", xanchor: "left", y: found.chance, yanchor: "bottom", text: "random guessing", showarrow: false, font: {color: ink("soft")}};
  return {data, layout: {height: 420, showlegend: true, margin: {l: 56, r: 12, t: 24, b: 44},
    shapes: chanceSeen() ? [level] : [], annotations: chanceSeen() ? [word] : [],
    xaxis: {title: {text: "mean absolute error", standoff: 8}}, yaxis: {title: {text: "side order index", standoff: 8}, tickformat: "~%", range: found.upward}}};
}

function curves(name) {
  const looks = Object.fromEntries(found.rows.map(row => [row.row, row.look]));
  const last = Math.max(...Object.values(courses[name]).map(course => course.epochs.at(-1))); // with few epochs, keep ticks whole
  const data = Object.entries(courses[name]).flatMap(([row, course]) => [
    {type: "scatter", mode: "lines", x: [...course.epochs, ...course.epochs.toReversed()], y: [...course.high, ...course.low.toReversed()], fill: "toself",
      fillcolor: faint(looks[row].colour, 0.12), line: {width: 0}, hoverinfo: "skip", showlegend: false, legendgroup: row},
    {type: "scatter", mode: course.epochs.length > 1 ? "lines" : "markers", x: course.epochs, y: course.mean, name: row, legendgroup: row,
      line: {color: looks[row].colour, dash: looks[row].dash, width: 2}, hovertemplate: `${row}, epoch %{x}: %{y:${SHARES.has(name) ? ".1%" : ".3f"}}<extra></extra>`},
  ]);
  return {data, layout: {height: 380, showlegend: true, margin: {l: 56, r: 12, t: 8, b: 44},
    xaxis: {title: {text: "epoch", standoff: 8}, ...(last <= 10 ? {dtick: 1} : {})}, yaxis: {title: {text: `validation ${name === "mae" ? "MAE" : "SOI"}`, standoff: 8}, tickformat: SHARES.has(name) ? ".0%" : ""}}};
}

function showCurves(name) {
  for (const button of document.querySelectorAll("[data-curve]")) button.setAttribute("aria-pressed", String(button.dataset.curve === name));
  const text = each => SHARES.has(name) ? percent(each) : number(each);
  fillTable(byId("curves-table"), ["Method", "First epoch", "Best", "Last epoch"],
    Object.entries(courses[name]).map(([row, {mean}]) => {
      const known = mean.filter(each => each !== null);
      return [row, text(mean[0]), known.length ? text(HIGHER.has(name) ? Math.max(...known) : Math.min(...known)) : "–", text(mean.at(-1))];
    }));
  return draw(byId("curves"), () => curves(name));
}

table.tHead.addEventListener("click", event => {
  const key = event.target.closest("th")?.dataset.key;
  if (!key || !event.target.closest("button")) return;
  const address = new URL(location.href), again = address.searchParams.get("sort") === key;
  const down = again ? address.searchParams.get("direction") !== "down" : HIGHER.has(key); // the best first
  address.searchParams.set("sort", key);
  address.searchParams.set("direction", down ? "down" : "up");
  history.pushState(null, "", address);
  showTable();
});
addEventListener("popstate", () => found && showTable());
let wanted = "mae"; // also set by clicks before the curves have loaded
for (const button of document.querySelectorAll("[data-curve]")) {
  button.addEventListener("click", () => {
    wanted = button.dataset.curve;
    if (courses) showCurves(wanted);
  });
}

try {
  found = await getJson("/v1/inspect/overview");
  byId("chance").textContent = `; random guessing reaches ${percent(found.chance, 0)}`;
  showTable();
  const open = event => { const row = event.points[0]?.data.meta; if (row) location.href = samplesOf(row); };
  if (byId("unseen") && found.upward && !chanceSeen()) byId("unseen").textContent = ` Random guessing, ${percent(found.chance)}, lies ${found.chance < found.upward[0] ? "below" : "above"} the range shown.`;
  const place = byId("tradeoff"), chart = place && draw(place, tradeoff, {onClick: open}); // absent for a single run
  courses = await getJson("/v1/inspect/curves");
  if (Object.keys(courses.mae).length) showCurves(wanted);
  else byId("curves").replaceWith(element("p", {class: "note"}, "These runs kept no history of their epochs."));
  // Last: the findings need statistics packages, which take longer to load than this page.
  await Promise.race([chart, new Promise(done => setTimeout(done, 3000))]);
  const findings = await getJson("/v1/inspect/findings").catch(() => []);
  byId("findings").replaceChildren(...findings.map(({text, details}) => element("li", {},
    details.length ? element("details", {}, element("summary", {}, text), details.map(each => element("p", {class: "quiet"}, each))) : text)));
} catch (error) {
  problem(error);
}
