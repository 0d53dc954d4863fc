// Runs the server's model on an image or row that the user provides.
import {draw} from "./chart.js";
import {evidenceCanvas, showImage} from "./overlay.js";
import {byId, features, fillTable, getJson, probability, problem} from "./page.js";
import {badges, doubts, posteriorChart, verdict, violations} from "./posterior.js";

const waiting = byId("waiting"), result = byId("result");
const drop = byId("drop"), file = byId("file"), row = byId("row");
const card = getJson("/v1/model").catch(() => ({evidence: false, reading: {}}));
let seen;

/** The prediction under the names that the pages share. */
function answerOf(item, alpha, raw) {
  const logProbs = item.log_probs.map(value => value ?? -Infinity), half = item.probs.reduce(([sum, place], value, each) => sum >= 0.5 ? [sum, place] : [sum + value, each], [0, 0]);
  return {probs: item.probs, predicted: item.label, soi: item.soi, unimodal: item.unimodal, paradoxical: item.paradoxical, unlike: item.unlike, interval: item.interval, alpha, raw,
    mode: item.probs.indexOf(Math.max(...item.probs)), median: half[1], violations: violations(logProbs, item.label), projected: null};
}

const sentence = note => `${note[0].toUpperCase()}${note.slice(1)}.`;

async function ask(options, query) {
  waiting.textContent = "Running the model …";
  waiting.className = "";
  problem(null);
  try {
    const content = await getJson(`/v1/predict?${query}`, {method: "POST", ...options});
    const {reading} = await card;
    const item = content.predictions[0], said = answerOf(item, content.alpha, reading.raw), classes = content.classes;
    result.hidden = false;
    byId("result-title").replaceChildren(`${classes[said.predicted]} `, ...badges(said));
    byId("verdict").textContent = [verdict(said, classes), ...(item.action ? [`What would be done: ${item.action}.`] : []), ...content.notes.map(sentence)].join(" ");
    byId("doubts").replaceChildren(...doubts(said, classes));
    draw(byId("chosen"), width => posteriorChart(said, classes, {width}));
    fillTable(byId("numbers"), ["Class", "Probability"], classes.map((name, place) => [name, probability(said.probs[place])]));
    waiting.textContent = `Predicted ${classes[said.predicted]}.`; // for screen readers: the title shows it
    waiting.className = "unseen";
    byId("result-title").focus();
    return item;
  } catch (error) {
    waiting.textContent = "";
    result.hidden = true;
    problem(error);
    return null;
  }
}

async function askImage(image) {
  if (seen) URL.revokeObjectURL(seen);
  seen = URL.createObjectURL(image);
  const item = await ask({headers: {"Content-Type": "application/octet-stream"}, body: image}, new URLSearchParams((await card).evidence ? {evidence: true} : {}));
  if (!item) return;
  const {evidence_range: ends} = await card;
  byId("seen-note").textContent = "";
  showImage(seen, item.evidence ? evidenceCanvas(item.evidence, ends) : null, image.name ?? "dropped",
    {ends, noImage: () => { byId("seen-note").textContent = "Your browser cannot show this file, but the model has read it."; }});
}

card.then(({method, data}) => { if (method) byId("asked").textContent = `The model is ${method}${data ? `, trained on ${data}` : ""}.`; });
file?.addEventListener("change", () => { if (file.files[0]) askImage(file.files[0]); });
for (const name of ["dragenter", "dragover"]) drop?.addEventListener(name, event => { event.preventDefault(); drop.classList.add("over"); });
drop?.addEventListener("dragleave", () => drop.classList.remove("over"));
drop?.addEventListener("submit", event => event.preventDefault());
drop?.addEventListener("drop", event => {
  event.preventDefault();
  drop.classList.remove("over");
  const image = event.dataTransfer.files[0];
  if (image) askImage(image);
  else problem(new Error("What was dropped is not a file: drop an image from a folder."));
});

row?.addEventListener("submit", async event => {
  event.preventDefault();
  const fields = [...row.elements].filter(field => field.name); // not by name: a column may be called `length`
  const values = Object.fromEntries(fields.map(({name, value, type}) => [name, value === "" ? null : type === "number" ? Number(value) : value]));
  const item = await ask({headers: {"Content-Type": "application/json"}, body: JSON.stringify({rows: [values]})}, "");
  if (item) byId("seen").replaceChildren(features(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value ?? "missing"])), "row large"));
});
