// Runs the server's model on an image or row that the user provides.
import {draw} from "./chart.js";
import {showEvidence, showImage} from "./overlay.js";
import {byId, element, features, fillTable, getJson, probability, problem} from "./page.js";
import {badges, doubts, headline, posteriorChart, understood, verdict} from "./posterior.js";
import {expectedClass, showWords} from "./words.js";

const waiting = byId("waiting"), result = byId("result");
const drop = byId("drop"), file = byId("file"), row = byId("row");
const card = getJson("/v1/model").catch(() => ({evidence: false, reading: {}}));
let seen;

/** The prediction under the names that the pages share. */
const answerOf = (item, alpha, raw) => understood({...item, predicted: item.label, alpha, raw, projected: null});

const sentence = note => `${note[0].toUpperCase()}${note.slice(1)}.`;

/** What the server predicts; null with a message where it refuses. */
async function ask(options, query) {
  waiting.textContent = "Running the model …";
  waiting.className = "";
  problem(null);
  try {
    return await getJson(`/v1/predict?${query}`, {method: "POST", ...options});
  } catch (error) {
    waiting.textContent = "";
    result.hidden = true;
    problem(error);
    return null;
  }
}

/** Shows one prediction of an answer of the server. */
async function show(item, content, name = "") {
  const {reading} = await card, said = answerOf(item, content.alpha, reading.raw), classes = content.classes;
  result.hidden = false;
  byId("result-title").replaceChildren(`${name}${headline(said, classes)} `, ...badges({...said, noted: content.notes.length > 0}));
  byId("verdict").textContent = [verdict(said, classes), ...(item.action ? [`What would be done: ${item.action}.`] : []), ...content.notes.map(sentence)].join(" ");
  byId("doubts").replaceChildren(...doubts(said, classes));
  draw(byId("chosen"), width => posteriorChart(said, classes, {width}));
  fillTable(byId("numbers"), ["Class", "Probability"], classes.map((each, place) => [each, probability(said.probs[place])]));
  waiting.textContent = `Predicted: ${headline(said, classes)}.`; // for screen readers: the title shows it
  waiting.className = "unseen";
  byId("result-title").focus();
}

async function askImages(images) {
  const several = byId("several");
  several.hidden = images.length < 2;
  several.replaceChildren();
  if (images.length < 2) return images.length ? askImage(images[0]) : null;
  const body = new FormData();
  for (const image of images) body.append("images", image);
  const {reading} = await card, decided = reading.decide || reading.project; // by the server's own options, which do not combine
  const content = await ask({body}, decided ? "" : "combine=mean");
  if (!content) return;
  several.replaceChildren(...images.map((image, place) => {
    const item = content.predictions[place], text = item.probs ? item.headline : "unreadable";
    const button = element("button", {type: "button"}, element("img", {src: URL.createObjectURL(image), alt: ""}), element("span", {}, text), element("span", {class: "quiet"}, image.name));
    button.addEventListener("click", () => askImage(image));
    return element("li", {}, button);
  }));
  byId("seen").replaceChildren();
  byId("overlay-control").hidden = true;
  const [patient] = content.groups ?? [], number = patient?.items.length;
  byId("seen-note").textContent = patient ? `The mean posterior of ${number} images; click an image for its own.` : "";
  if (patient) return show(patient, content, `All ${number} images: `);
  result.hidden = true;
  waiting.textContent = "Click an image for its posterior.";
}

async function askImage(image) {
  if (seen) URL.revokeObjectURL(seen);
  seen = URL.createObjectURL(image);
  const content = await ask({headers: {"Content-Type": "application/octet-stream"}, body: image}, new URLSearchParams((await card).evidence ? {evidence: true} : {}));
  if (!content) return;
  const [item] = content.predictions;
  await show(item, content);
  const {evidence_range: ends} = await card;
  byId("seen-note").textContent = "";
  showImage(seen, image.name ?? "dropped", () => { byId("seen-note").textContent = "Your browser cannot show this file, but the model has read it."; });
  if (item.evidence) showEvidence(item.evidence, ends);
}

const MOST_WORDS = 100;

/** The text with what each of its first words does to the expected class: one request with every word left out once. */
async function weighed(values, column, item) {
  const words = values[column].split(/\s+/).filter(Boolean), some = words.slice(0, MOST_WORDS);
  const rows = some.map((_, place) => ({...values, [column]: words.filter((_, other) => other !== place).join(" ")}));
  const content = words.length > 1 ? await getJson("/v1/predict", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({rows})}).catch(() => null) : null;
  const whole = expectedClass(item.probs);
  return showWords(words, content ? content.predictions.map(each => each.probs ? whole - expectedClass(each.probs) : 0) : []);
}

card.then(({method, data}) => { if (method) byId("asked").textContent = `The model is ${method}${data ? `, trained on ${data}` : ""}.`; });
file?.addEventListener("change", () => askImages([...file.files]));
for (const name of ["dragenter", "dragover"]) drop?.addEventListener(name, event => { event.preventDefault(); drop.classList.add("over"); });
drop?.addEventListener("dragleave", () => drop.classList.remove("over"));
drop?.addEventListener("submit", event => event.preventDefault());
drop?.addEventListener("drop", event => {
  event.preventDefault();
  drop.classList.remove("over");
  const images = [...event.dataTransfer.files];
  if (images.length) askImages(images);
  else problem(new Error("What was dropped is not a file: drop an image from a folder."));
});

row?.addEventListener("submit", async event => {
  event.preventDefault();
  const fields = [...row.elements].filter(field => field.name); // not by name: a column may be called `length`
  const values = Object.fromEntries(fields.map(({name, value, type}) => [name, value === "" ? null : type === "number" ? Number(value) : value]));
  const content = await ask({headers: {"Content-Type": "application/json"}, body: JSON.stringify({rows: [values]})}, "");
  if (!content) return;
  await show(content.predictions[0], content);
  const text = row.querySelector("textarea")?.name, shown = Object.entries(values).filter(([name]) => name !== text).map(([name, value]) => [name, value ?? "missing"]);
  byId("seen").replaceChildren(...(text && values[text] ? [await weighed(values, text, content.predictions[0])] : []), ...(shown.length ? [features(Object.fromEntries(shown), "row large")] : []));
});
