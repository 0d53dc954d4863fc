// Samples where the network sees them; labels in doubt and near-duplicates are marked, and a click opens a sample.
import {filtersOf, sampleAddress} from "./address.js";
import {draw, ink} from "./chart.js";
import {about, byId, counted, element, getJson, problem} from "./page.js";

const form = byId("choice"), chart = byId("points"), summary = byId("summary");
let known, found, turn = 0;

/** The marks, with the shape, the filter of the list, and the words for it. */
const MARKS = [["doubtful", "diamond-open", "label in doubt"], ["twin", "circle-open", "near-duplicate"]];

const value = {truth: (columns, place) => columns.truth[place], predicted: (columns, place) => columns.predicted[place],
  error: (columns, place) => Math.abs(columns.truth[place] - columns.predicted[place]), distance: (columns, place) => columns.distance[place]};

function points() {
  const {columns} = found, colour = form.elements.colour.value, ofClass = colour === "truth" || colour === "predicted", places = columns.item.map((_, place) => place);
  const told = place => `${known.classes[columns.truth[place]]}, predicted ${known.classes[columns.predicted[place]]}, distance ${columns.distance[place]}`;
  const trace = (own, name, marker) => ({type: "scatter", mode: "markers", name, x: own.map(place => columns.x[place]), y: own.map(place => columns.y[place]), customdata: own,
    text: own.map(told), hovertemplate: "true %{text}<extra></extra>", marker});
  const values = places.map(place => value[colour](columns, place)), ends = ofClass ? [0, known.classes.length - 1] : [0, Math.max(...values, 1)];
  byId("scale").replaceChildren(String(ofClass ? known.classes[0] : 0), element("span", {class: "ramp", "aria-hidden": "true"}, element("i")), String(ofClass ? known.classes.at(-1) : ends[1]));
  const data = [trace(places, "sample", {size: 7, color: values, colorscale: "Viridis", cmin: ends[0], cmax: ends[1], showscale: false, line: {width: 0.5, color: ink("soft")}})];
  for (const [column, symbol, words] of MARKS) {
    const own = places.filter(place => columns[column][place]);
    if (own.length) data.push(trace(own, words, {size: 13, symbol, color: ink(column === "twin" ? "truth" : "warn"), line: {width: 2}}));
  }
  const axis = {showticklabels: false, showgrid: false};
  return {data, layout: {height: 560, showlegend: data.length > 1, margin: {l: 12, r: 8, t: 8, b: 12}, xaxis: axis, yaxis: {...axis, scaleanchor: "x"}}};
}

async function show() {
  const own = ++turn, filters = filtersOf(new URLSearchParams(new FormData(form)));
  try {
    const [content, all] = await Promise.all([getJson(`/v1/inspect/map?${filters}`), about()]);
    if (own !== turn) return;
    [found, known] = [content, all];
    problem(null);
    filters.set("part", found.part);
    chart.closest("figure").hidden = !found.columns.item;
    if (!found.columns.item) {
      summary.textContent = "These runs recorded no coordinates: they need a network, at least 30 training samples, and this version of onepeak.";
      return;
    }
    const shown = found.columns.item.length;
    summary.replaceChildren(`${counted(found.total, "sample")}${shown < found.total ? `, ${shown.toLocaleString("en")} of them drawn` : ""}`,
      ...[["doubtful", "doubtful", "with a label in doubt"], ["twin", "twins", "that nearly coincide with another"]].flatMap(([column, filter, words]) => {
        const number = found.columns[column].filter(Boolean).length, address = new URLSearchParams(filters);
        address.set(filter, "true");
        return [", ", number ? element("a", {href: `/samples?${address}`}, `${number} ${words}`) : `none ${words}`];
      }), ".");
    draw(chart, points, {onClick: ({points: [point]}) => { location.href = sampleAddress({part: found.part, item: found.columns.item[point.customdata]}, filters); }});
  } catch (error) {
    problem(error);
  }
}

function readAddress() {
  const given = new URLSearchParams(location.search);
  for (const field of form.elements) field.value = given.get(field.name) ?? field.options[0].value;
}

form.addEventListener("input", () => {
  history.pushState(null, "", `?${new URLSearchParams(new FormData(form))}`);
  show();
});
form.addEventListener("submit", event => event.preventDefault());
addEventListener("popstate", () => { readAddress(); show(); });
readAddress();
show();
