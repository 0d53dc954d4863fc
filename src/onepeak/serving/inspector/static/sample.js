// One sample: its image, one method large, and all methods side by side.
import {PAGE_SIZE, filtersOf, remember, sampleAddress} from "./address.js";
import {draw} from "./chart.js";
import {showEvidence, showImage} from "./overlay.js";
import {about, byId, counted, element, features, fillTable, followed, getJson, percent, probability, problem, swatch, typing} from "./page.js";
import {badges, doubts, headline, interval, judged, posteriorChart, understood, verdict, violationText} from "./posterior.js";
import {showWords} from "./words.js";

const {part, item} = byId("sample").dataset;
let known, found, asked = null, turn = 0; // `asked`: the class whose evidence is shown, if the user chose one

const chosenRow = () => found.answers.find(each => each.row === filtersOf(location.search).get("method")) ?? found.answers[0];

function showTrail(filters) {
  const {position, total, ...neighbours} = found.surroundings, list = new URLSearchParams(filters), page = Math.ceil((position ?? 1) / PAGE_SIZE);
  if (page > 1) list.set("page", page);
  byId("back").href = `/samples${list.size ? `?${list}` : ""}`;
  byId("position").textContent = position ? `${position.toLocaleString("en")} of ${counted(total, "sample")}` : "";
  for (const [name, neighbour] of Object.entries(neighbours)) {
    byId(name).hidden = !neighbour;
    if (neighbour) byId(name).href = sampleAddress(neighbour, filters);
  }
}

function showFacts() {
  const others = found.parts.filter(each => each !== part), filters = filtersOf(location.search);
  filters.delete("part");
  byId("name").textContent = found.name;
  document.title = `${found.name} · ${document.title.split(" · ").at(-1)}`;
  byId("facts").replaceChildren(
    element("span", {}, "True class ", element("strong", {}, known.classes[found.truth])),
    found.trained_on ? element("span", {class: "badge warn"}, "trained on") : element("span", {class: "quiet"}, Object.keys(known.parts).length > 1 ? `tested in ${known.parts[part]}` : "tested"),
    ...others.map(each => element("a", {href: sampleAddress({part: each, item}, filters)}, `also in ${known.parts[each]}`)));
}

function showSample(chosen) {
  const note = byId("seen-note"), {predicted} = chosen.answer, label = asked ?? predicted;
  if (found.kind === "pictures") {
    const query = new URLSearchParams({method: chosen.row, label});
    const told = place => `${known.classes[place]}${place === predicted ? ", predicted" : ""}${place === found.truth ? ", true" : ""}`;
    byId("asked-class").replaceChildren(...known.classes.map((_, place) => element("option", {value: place, selected: place === label}, told(place))));
    note.textContent = chosen.no_evidence ? `No evidence map. ${chosen.no_evidence}` : "Computing the evidence map …";
    if (!byId("seen").firstElementChild) showImage(`/image/${part}/${item}`, found.name);
    if (chosen.no_evidence) showEvidence(null);
    else later(getJson(`/v1/inspect/evidence/${part}/${item}?${query}`), rows => { showEvidence(rows, chosen.evidence_range); note.textContent = ""; }, () => showEvidence(null), "The evidence map could not be loaded: reload the page to try again.");
  } else if (found.kind === "rows") {
    const {[found.text]: text, ...others} = found.features, table = Object.keys(others).length ? [features(others, "row large")] : [];
    const show = (words, weights) => byId("seen").replaceChildren(...(found.text ? [showWords(words, weights)] : []), ...table);
    show((text ?? "").split(/\s+/), []);
    if (found.text) note.textContent = "Trying the words …";
    if (found.text) later(getJson(`/v1/inspect/words/${part}/${item}?method=${encodeURIComponent(chosen.row)}`), ({words, weights}) => { show(words, weights); note.textContent = ""; }, () => {}, "No words are marked: this run kept no model.");
  } else note.textContent = found.reason;
}

/** How much each column matters to the chosen method; measured when first asked for. */
async function showColumns() {
  const box = byId("rests-on"), row = chosenRow().row;
  box.hidden = found.kind !== "rows";
  if (!box.open || box.dataset.row === row) return;
  box.dataset.row = row;
  const moved = ({cut, values, above}) => cut === null ? "" : `chance of a class above ${known.classes[cut]}: ${percent(above[0][cut], 0)} at ${values[0]}, ${percent(above.at(-1)[cut], 0)} at ${values.at(-1)}`;
  try {
    const columns = await getJson(`/v1/inspect/columns/${part}?method=${encodeURIComponent(row)}`);
    fillTable(byId("columns"), ["Column", "Rise of the MAE", "Effect"], columns.map(each => [each.column, `${each.rise.toFixed(3)} ± ${each.deviation.toFixed(3)}`, moved(each)]));
  } catch (error) {
    box.replaceChildren(element("summary", {}, "What the predictions rest on"), element("p", {class: "quiet"}, error.message));
  }
}

/** Shows what takes the server a while, unless another method or class was chosen meanwhile. */
async function later(answer, show, withdraw, missing) {
  const own = ++turn;
  try {
    const content = await answer;
    if (own === turn) show(content);
  } catch {
    if (own !== turn) return;
    withdraw();
    byId("seen-note").textContent = missing;
  }
}

function askFor(place) {
  if (!Number.isInteger(place)) return; // an end of the interval was clicked, not a bar
  asked = place;
  showSample(chosenRow());
}

function actionsOf(said) {
  return said.ranking.map(place => element("li", {}, element("strong", {}, known.classes[place]), ` ${known.actions[place]} `, element("span", {class: "quiet"}, probability(said.probs[place]))));
}

function showChosen(chosen) {
  const said = chosen.answer;
  byId("chosen-title").replaceChildren(swatch(known.looks[chosen.row]), ` ${chosen.row} `, ...badges(said));
  byId("verdict").textContent = [verdict(said, known.classes, found.truth), ...(said.action ? [`What would be done: ${said.action}.`] : [])].join(" ");
  draw(byId("chosen"), width => posteriorChart(said, known.classes, {truth: found.truth, trueProbs: found.true_probs, beside: besideOf(chosen), width}),
    {onClick: ({points}) => askFor(points[0].x)});
  byId("doubts").replaceChildren(...doubts(said, known.classes));
  byId("violations").replaceChildren(...violationText(said, known.classes));
  document.querySelector("#actions ol")?.replaceChildren(...actionsOf(said));
}

/** The method whose posterior is laid over the chosen one. */
function besideOf(chosen) {
  const other = found.answers.find(each => each.row === filtersOf(location.search).get("other"));
  return other && other !== chosen ? {...other, colour: known.looks[other.row].colour} : null;
}

function showBeside(chosen) {
  const rows = found.answers.map(each => each.row).filter(row => row !== chosen.row), select = byId("beside");
  select.parentElement.hidden = !rows.length;
  select.replaceChildren(element("option", {value: ""}, "no other method"), ...rows.map(row => element("option", {selected: row === besideOf(chosen)?.row}, row)));
}

function showMethods(chosen) {
  const filters = filtersOf(location.search);
  byId("methods").replaceChildren(...found.answers.map(({row, answer: said}) => {
    filters.set("method", row);
    const chart = element("div", {class: "chart small", role: "img", "aria-label": `Posterior of ${row}: ${verdict(said, known.classes, found.truth)}`});
    draw(chart, () => posteriorChart(said, known.classes, {truth: found.truth, extra: false}));
    return element("li", {class: row === chosen.row ? "method chosen" : "method"},
      element("h3", {}, swatch(known.looks[row]), element("a", {href: sampleAddress({part, item}, filters), "aria-current": row === chosen.row ? "true" : null}, row)),
      element("p", {class: "says"}, element("span", {class: "label"}, headline(said, known.classes)), element("span", {class: "quiet"}, judged(said, found.truth, known.classes)), ...badges(said)),
      chart,
      element("p", {class: "quiet"}, `SOI ${percent(said.soi, 0)}`, said.interval ? `, interval ${interval(said.interval, known.classes)}` : ""),
      known.actions.length ? element("ol", {class: "brief"}, said.ranking.map(place => element("li", {}, known.actions[place]))) : "");
  }));
}

function showNumbers() {
  const truth = found.true_probs ? [found.true_probs] : [];
  fillTable(byId("numbers"), ["Class", ...(truth.length ? ["true posterior"] : []), ...found.answers.flatMap(each => {const own = each.answer.raw ? `${each.row}, raw` : each.row; return each.answer.unimodal ? [own] : [own, `${each.row}, nearest one-peaked`];})],
    known.classes.map((name, place) => [place === found.truth ? `${name} (true)` : name, ...truth.map(each => probability(each[place])),
      ...found.answers.flatMap(({answer: said}) => [probability(said.probs[place]), ...(said.unimodal ? [] : [probability(said.projected[place])])])]));
}

function show() {
  const chosen = chosenRow();
  showTrail(filtersOf(location.search));
  showFacts();
  showSample(chosen);
  showChosen(chosen);
  showBeside(chosen);
  showMethods(chosen);
  showColumns();
  byId("flag").checked = found.flag;
  if (document.activeElement !== byId("note")) byId("note").value = found.note;
}

/** Fetches the sample again, because the chosen method changes the list that it is in. */
async function ask() {
  try {
    found = await getJson(`/v1/inspect/sample/${part}/${item}?${filtersOf(location.search)}`);
    found.answers = found.answers.map(each => ({...each, answer: understood(each.answer)}));
    problem(null);
    remember(part, item);
    show();
  } catch (error) {
    byId("sample").hidden = !found; // nothing of a sample that is not there
    problem(error);
  }
}

let saving = Promise.resolve(), waiting = 0;

/** Keeps the flag and the note beside the runs, one change after the other, and also if the page is left meanwhile. */
function keep() {
  const body = JSON.stringify({flag: byId("flag").checked, note: byId("note").value}), options = {method: "POST", headers: {"Content-Type": "application/json"}, body, keepalive: true};
  waiting += 1;
  byId("saved").textContent = "Saving …";
  saving = saving.then(() => getJson(`/v1/inspect/sample/${part}/${item}`, options)).then(
    saved => { Object.assign(found, saved); waiting -= 1; if (!waiting) byId("saved").textContent = "Saved."; problem(null); },
    error => { waiting -= 1; byId("saved").textContent = ""; problem(error); });
}

byId("rests-on").addEventListener("toggle", showColumns);
byId("flag").addEventListener("change", keep);
byId("note").addEventListener("change", keep);
byId("notes").addEventListener("submit", event => { event.preventDefault(); keep(); });
byId("beside").addEventListener("change", event => {
  const address = new URL(location.href);
  if (event.target.value) address.searchParams.set("other", event.target.value); else address.searchParams.delete("other");
  history.replaceState(null, "", address);
  show();
});
byId("methods").addEventListener("click", event => {
  const link = followed(event);
  if (!link) return;
  history.pushState(null, "", link.href);
  ask().then(() => byId("methods").querySelector("[aria-current]")?.focus({preventScroll: true}));
});
byId("asked-class").addEventListener("change", event => askFor(Number(event.target.value)));
addEventListener("popstate", ask);
addEventListener("keydown", event => {
  if (typing(event) || event.target.matches("input")) return;
  if (event.key === "ArrowLeft" && !byId("previous").hidden) byId("previous").click();
  else if (event.key === "ArrowRight" && !byId("next").hidden) byId("next").click();
  else if (event.key === "Escape") byId("back").click();
  else if (event.key === "f") byId("flag").click();
});

try {
  known = await about();
  await ask();
  if (found) showNumbers();
} catch (error) {
  problem(error);
}
