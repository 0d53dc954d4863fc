// Draws and describes one posterior, on the sample page and on the page to try a model.
import {classAxis, faint, ink} from "./chart.js";
import {element, percent, probability} from "./page.js";

/** The pairs out of order, for predictions that come without them; from logarithms, which do not round to ties. */
function violations(logProbs, predicted) {
  const found = [];
  for (let place = 0; place + 1 < logProbs.length; place++) {
    const [inner, outer] = place < predicted ? [place + 1, place] : [place, place + 1];
    if (!(logProbs[outer] < logProbs[inner])) found.push({inner, outer, tie: logProbs[outer] === logProbs[inner]});
  }
  return found;
}

/** A prediction as it comes from the server, with what follows from its posterior. */
export function understood(item) {
  const logProbs = item.log_probs.map(value => value ?? -Infinity), probs = logProbs.map(Math.exp), {predicted} = item;
  let sum = 0;
  const median = probs.findIndex(value => (sum += value) >= 0.5), places = probs.map((_, place) => place);
  return {...item, probs, violations: violations(logProbs, predicted), mode: probs.indexOf(Math.max(...probs)), median: median < 0 ? probs.length - 1 : median,
    ranking: places.sort((one, other) => probs[other] - probs[one] || Math.abs(one - predicted) - Math.abs(other - predicted)).slice(0, 3)};
}

/** A small posterior as SVG: bars, with the prediction dark, classes out of order in the warning colour, and the truth below. */
export function spark(entry) {
  const {probs, predicted, truth, violations: pairs, other_probs: others = null} = understood(entry);
  const count = probs.length, high = Math.max(...probs, ...(others ?? []), 1e-9), width = 120, tall = 36, step = width / count;
  const bad = new Set(pairs.map(pair => pair.outer));
  const gap = count > 30 ? 0 : 0.18 * step;
  const bars = probs.map((value, place) => {
    const length = Math.max(tall * value / high, 0.6);
    return element("rect", {x: (place * step + gap / 2).toFixed(2), y: (tall - length).toFixed(2), width: (step - gap).toFixed(2),
      height: length.toFixed(2), class: place === predicted ? "predicted" : bad.has(place) ? "out" : "bar"});
  });
  const middle = (truth + 0.5) * step;
  return element("svg", {class: "spark", viewBox: `0 0 ${width} ${tall + 8}`, preserveAspectRatio: "none", "aria-hidden": "true"},
    bars, others && element("path", {class: "other", d: others.map((value, place) => `${place ? "L" : "M"}${((place + 0.5) * step).toFixed(2)} ${(tall - tall * value / high).toFixed(2)}`).join("")}),
    element("path", {class: "truth", d: `M${middle - 4} ${tall + 7}L${middle} ${tall + 1.5}L${middle + 4} ${tall + 7}Z`}));
}

/** The chart of one posterior. `extra`: whether to draw all marks, as in the large chart. */
export function posteriorChart(said, classes, {truth = null, trueProbs = null, beside = null, extra = true, width = 800} = {}) {
  const narrow = extra && width < 560, bad = new Set(said.violations.map(pair => pair.outer)), places = said.probs.map((_, place) => place);
  const top = Math.max(...said.probs, ...(extra && said.projected ? said.projected : []), ...(extra && trueProbs ? trueProbs : []), ...(beside ? beside.answer.probs : []), 0.02);
  const names = places.map(place => classes[place]);
  const hover = "%{customdata}: %{y:.3f}<extra></extra>";
  const bars = (chosen, name, marker) => ({type: "bar", name, x: chosen, y: chosen.map(place => said.probs[place]),
    customdata: chosen.map(place => names[place]), hovertemplate: hover, width: classes.length > 30 ? 0.95 : 0.8, marker: {line: {width: 0}, ...marker}, showlegend: extra});
  const data = [bars(places.filter(place => !bad.has(place)), said.raw ? "raw posterior" : "posterior", {color: ink("bar")})];
  if (bad.size) data.push(bars(places.filter(place => bad.has(place)), "out of order",
    {color: ink("warn"), pattern: {shape: classes.length > 30 ? "" : "/", fillmode: "overlay", fgcolor: ink("raised"), fgopacity: 0.75, size: 7, solidity: 0.22}}));
  if (beside) data.push({type: "scatter", mode: "lines+markers", name: beside.row, x: places, y: beside.answer.probs, customdata: names, hovertemplate: `${beside.row}, ${hover}`,
    line: {color: beside.colour, width: 2.5}, marker: {size: classes.length > 30 ? 3 : 6}});
  if (extra && trueProbs) data.push({type: "scatter", mode: "lines", name: "true posterior", x: places, y: trueProbs,
    line: {color: ink("soft"), width: 1.5, dash: "dot"}, customdata: names, hovertemplate: hover});
  if (extra && said.projected && !said.unimodal) data.push({type: "scatter", mode: "lines+markers", name: "nearest one-peaked", x: places,
    y: said.projected, customdata: names, hovertemplate: hover, line: {color: ink("projected"), width: 2}, marker: {size: classes.length > 30 ? 3 : 5}});
  const low = -0.07 * top, mark = (name, place, symbol, colour, y) => ({type: "scatter", mode: "markers", name: `${name} ${classes[place]}`, x: [place],
    y: [y], marker: {symbol, size: 11, color: colour, line: {color: ink("ground"), width: 1}}, hovertemplate: `${name} ${classes[place]}<extra></extra>`, showlegend: extra});
  if (said.interval) data.push({type: "scatter", mode: "lines", name: extra ? intervalName(said) : "", x: [said.interval[0] - 0.4, said.interval[1] + 0.4], y: [low, low],
    line: {color: ink("accent"), width: extra ? 6 : 4}, hovertemplate: `interval ${classes[said.interval[0]]} to ${classes[said.interval[1]]}<extra></extra>`, showlegend: extra});
  if (extra) {
    data.push(mark("mode", said.mode, "circle", ink("ink"), 1.07 * top));
    data.push(mark("median", said.median, "diamond", ink("projected"), 1.07 * top + (said.median === said.mode ? 0.07 * top : 0)));
  }
  if (truth !== null) data.push(mark("truth", truth, "triangle-up", ink("truth"), 2 * low));
  return {data, layout: {
    height: extra ? (narrow ? 470 : 400) : 150, barmode: "overlay", showlegend: extra,
    ...(narrow ? {legend: {font: {size: 11}, entrywidth: 0.49, entrywidthmode: "fraction"}} : {}),
    margin: {l: extra ? 48 : 34, r: 8, t: extra ? 8 : 4, b: 28},
    xaxis: classAxis(classes, extra ? {} : {tickfont: {size: 10}}),
    yaxis: {range: [2.9 * low, (extra ? 1.22 : 1.08) * top], title: extra ? {text: "probability", standoff: 6} : undefined,
      nticks: extra ? 6 : 3, tickfont: {size: extra ? 12 : 10}},
    shapes: said.interval && extra ? [{type: "rect", x0: said.interval[0] - 0.5, x1: said.interval[1] + 0.5, y0: 0, y1: 1, yref: "paper",
      fillcolor: faint(ink("accent"), 0.07), line: {width: 0}, layer: "below"}] : [],
  }};
}

/** Whether the interval holds several classes. */
const isUnsure = ({interval: ends}) => ends != null && ends[0] !== ends[1];

/** What may be acted on: the class where the interval is that class, otherwise between which it lies. */
export const headline = (said, classes) => isUnsure(said) ? `between ${classes[said.interval[0]]} and ${classes[said.interval[1]]}` : classes[said.predicted];

/** How far off the most probable class is, which is named where the headline does not. */
export function judged(said, truth, classes) {
  const off = Math.abs(truth - said.predicted), name = isUnsure(said) ? `most likely ${classes[said.predicted]}, ` : "";
  return `${name}${off ? `true ${classes[truth]}, ${off} off` : "correct"}`;
}

/** Describes the posterior in a sentence. */
export function verdict(said, classes, truth = null) {
  const parts = [isUnsure(said) ? `Unsure: ${headline(said, classes)}, most likely ${classes[said.predicted]}` : `Predicts ${classes[said.predicted]}`];
  if (truth !== null) {
    const off = Math.abs(truth - said.predicted);
    parts[0] += off ? `, the true class is ${classes[truth]} (${off} off)` : ", which is correct";
  }
  parts.push(`${percent(said.soi, 0)} of adjacent classes are in order`);
  if (said.interval) parts.push(`the ${intervalName(said)} is ${interval(said.interval, classes)}`);
  return `${parts.join("; ")}.`;
}

/** The interval's name with its coverage, by default the usual one. */
const intervalName = ({alpha = 0.1}) => `${Number((100 * (1 - alpha)).toPrecision(6))}\u00a0% interval`;

export const interval = ([low, high], classes) => low === high ? classes[low] : `${classes[low]} to ${classes[high]}`;

/** Whether the interval holds all classes; one peak then means nothing. */
const holdsAll = ({interval: ends, probs}) => ends != null && ends[0] === 0 && ends[1] === probs.length - 1;

/** Badges for what is wrong with a posterior. */
export function badges(said) {
  const label = (look, text) => element("span", {class: `badge ${look}`}, text), all = holdsAll(said), odd = said.unlike?.length > 0;
  const doubtful = isUnsure(said) || odd || said.refer || said.noted;
  const elsewhere = said.unimodal && said.mode !== said.predicted; // decided by the mean or the median
  return [
    ...(isUnsure(said) ? [label("warn", all ? "cannot tell" : "unsure")] : []),
    said.unimodal ? label(doubtful || elsewhere ? "neutral" : "good", elsewhere ? "one peak, not at the prediction" : "one peak") : label("warn", "several peaks"),
    ...(said.paradoxical ? [label("warn", "paradoxical")] : []),
    ...(odd ? [label("warn", "unlike the training")] : []),
    ...(said.refer && !odd ? [label("warn", "ask a person")] : []),
  ];
}

/** Warnings before the prediction is used: paragraphs, or none. */
export function doubts(said, classes) {
  return [
    ...(said.unlike?.length ? [element("p", {class: "problem", role: "alert"}, `Warning: differs from the training data (${said.unlike.join(", ")}); do not rely on this prediction.`)] : []),
    ...(said.refer && !said.unlike?.length ? [element("p", {class: "problem", role: "alert"}, `Ask a person: ${said.refer}.`)] : []),
    ...(holdsAll(said) ? [element("p", {class: "warn-text"}, "The interval holds all classes: the model cannot tell them apart.")] : []),
    ...(said.unimodal && said.mode !== said.predicted ? [element("p", {class: "quiet"}, `The method decides by the middle of the posterior, ${classes[said.predicted]}, not by its peak, ${classes[said.mode]}: so pairs near the peak count as out of order.`)] : []),
  ];
}

const MOST_PAIRS = 8;

/** The pairs out of order in words, worst first. */
export function violationText(said, classes) {
  if (!said.violations.length) return [element("p", {class: isUnsure(said) ? "quiet" : "good-text"}, "The posterior falls away from its prediction on both sides: no pair is out of order.")];
  const line = ({inner, outer, tie}) => {
    const [near, far] = [inner, outer].map(place => probability(said.probs[place]));
    const above = near === far ? `is above ${classes[inner]} (both ${near})` : `(${far}) is above ${classes[inner]} (${near})`;
    return element("li", {}, `${classes[outer]} ${tie ? `is as probable as ${classes[inner]} (${far})` : above}, though farther from ${classes[said.predicted]}`);
  };
  const rise = pair => said.probs[pair.outer] - said.probs[pair.inner];
  const lines = said.violations.toSorted((one, other) => rise(other) - rise(one)).map(line), rest = lines.slice(MOST_PAIRS);
  return [
    element("h3", {}, `${said.violations.length} of ${classes.length - 1} pairs out of order`),
    element("ul", {class: "pairs"}, lines.slice(0, MOST_PAIRS)),
    rest.length ? element("details", {}, element("summary", {}, `${rest.length} more`), element("ul", {class: "pairs"}, rest)) : "",
  ];
}
